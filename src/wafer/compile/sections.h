#pragma once

#include <string>
#include <vector>

#include "wafer/ir/graph.h"

namespace wafer::compile {

/// A stretch of main that occupies the wafer as one layer, once or many times in a row.
struct Section {
  std::string name;  ///< label of its layers, e.g. "layer", or "embedding", "head"
  ir::Phase phase = ir::Phase::Forward;
  bool repeated = false;      ///< `ops` are calls of one function, one a layer
  std::vector<uint32_t> ops;  ///< indices into main.ops, ascending
  double layers() const { return repeated ? static_cast<double>(ops.size()) : 1; }
};

/// The forward and backward ops of main in order, cut where runs of calls of one function begin and
/// end and where the phase changes. Ops that do no work on their own (constants) go with the
/// section that reads them first; optimizer ops belong to no section.
std::vector<Section> find_sections(const ir::Graph& graph);

/// One parameter of a section that runs once, or the like parameters of the layers of a repeated
/// one (one an iteration; all equal where layers share it).
struct Stream {
  std::vector<size_t> inputs;  ///< indices into main.inputs
  size_t group = 0;            ///< in StepAnalysis::groups
};

/// Like values of main, one an iteration of a repeated section.
using Values = std::vector<ir::ValueId>;

/// What crosses between sections and the world outside, found from the values of main.
struct SectionTraffic {
  std::vector<Stream> weights;    ///< parameters that it reads
  std::vector<Stream> gradients;  ///< parameters whose gradient, or a part of it, it makes
  std::vector<size_t> data;       ///< data inputs that it reads
  std::vector<Values> saved;      ///< made in the forward pass, read in the backward pass
  std::vector<Values> entering;   ///< activations that it reads and other layers made
};
std::vector<SectionTraffic> traffic_of(const ir::Graph& graph,
                                       const std::vector<Section>& sections);

}  // namespace wafer::compile
