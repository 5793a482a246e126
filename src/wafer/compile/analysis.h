#pragma once

#include <map>
#include <string>
#include <vector>

#include "wafer/compile/sections.h"
#include "wafer/compile/updates.h"
#include "wafer/ir/graph.h"
#include "wafer/plan/plan.h"

namespace wafer::compile {

/// Values kept from the forward to the backward pass, one an iteration of their section.
struct Kept {
  std::string name;
  TensorType type;
  double instances = 1;
  bool of_product = false;  ///< made by a weight product: selective recompute keeps it
};

/// A section with its work.
struct SectionWork {
  Section section;
  SectionTraffic traffic;
  std::vector<plan::Kernel> kernels;  ///< of one layer
  std::vector<Kept> saved;            ///< what the backward pass reads
  std::vector<Kept> entering;         ///< what is enough to compute the layer again
  int passes = 0;                     ///< see plan::Layer
  size_t forward = SIZE_MAX;          ///< of a backward section: the forward section it belongs to
};

/// Like parameters of the layers of a section: one buffer of a plan. The backward pass reads layers
/// in the other order, and is of the same group.
struct ParameterGroup {
  std::vector<size_t> inputs;  ///< indices into main.inputs, ascending, each once
  plan::Work update;           ///< of the optimizer, all of them together
  std::string kernel = {};     ///< that multiplies by them, as plan::Kernel names it; empty: none
  std::string section = {};    ///< whose label it is in
};

/// All that planning needs to know of a step at one batch.
struct StepAnalysis {
  std::vector<SectionWork> sections;
  std::map<size_t, ParameterUpdate> updates;  ///< by index into main.inputs
  std::vector<ParameterGroup> groups;
  std::vector<bool> waiting;  ///< of each section: its activations wait for the backward pass
  Bytes widest_kernel;        ///< what the widest op of a layer reads and writes of activations
};

/// `bound` is `symbolic` with a number for its batch.
StepAnalysis analyse(const ir::Graph& symbolic, const ir::Graph& bound);

}  // namespace wafer::compile
