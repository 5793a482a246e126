#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wafer/compile/profile.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"

namespace wafer::compile {

/// What a layer-pipelined plan is asked for.
struct PipelinedRequest {
  int64_t batch = 1;                ///< samples of a step
  std::optional<int64_t> region{};  ///< PEs that kernels may take; the whole wafer where absent
};

/// Compiles the training of one network for one wafer with all layers on it at once: kernels are
/// sized for one period and placed. The graph is looked at once.
class PipelinedCompiler {
 public:
  /// `forward` is a forward graph with the loss; all symbols but `batch` are bound. Throws
  /// InputError for others, for a graph without parameters, and for ops without such a kernel
  /// (convolutions, batched weights, products of two activations outside attention): all at once.
  PipelinedCompiler(const ir::Graph& forward, int64_t tokens_per_sample, DType precision);

  /// Throws InputError for a region larger than the wafer, CapacityError where the network does not
  /// fit: how many PEs it needs, and what remains to be done.
  plan::Plan plan(const machine::Wafer& machine, const PipelinedRequest& request) const;

  const Profile& profile() const { return profile_; }

 private:
  std::string model_;
  Profile profile_;
  DType precision_;
  std::vector<plan::PipelineKernel> kernels_;
};

/// The kernels of a network in the order of the pipeline, with a FIFO behind the middle of each
/// layer; not sized yet. P1-P7 of docs/spec/pipelined-cost.md. Throws as PipelinedCompiler.
std::vector<plan::PipelineKernel> pipeline_kernels(const Profile& profile);

}  // namespace wafer::compile
