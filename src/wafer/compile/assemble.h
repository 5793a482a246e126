#pragma once

#include "wafer/compile/analysis.h"
#include "wafer/compile/streamed.h"

namespace wafer::compile {

/// What was chosen for a streamed plan.
struct Choice {
  int64_t micro_batch = 1;
  int64_t micro_batches = 1;
  plan::Recompute recompute = plan::Recompute::None;
  bool spill = false;  ///< kept activations go out to the activation servers and come back
  std::string micro_batch_reason = {};
  std::string activation_reason = {};
};

/// Writes the tree and buffers of a streamed plan. `analysis` may be of another batch: work and
/// activations of the plan are `scale` times its. Buffers that repeat per layer carry instances.
plan::Plan assemble_streamed(const ir::Graph& graph, const StepAnalysis& analysis, double scale,
                             const StreamedRequest& request, const Choice& choice, DType precision);

/// Bytes of what one micro-batch keeps from forward to backward under a recompute policy.
Bytes kept_bytes(const StepAnalysis& analysis, plan::Recompute recompute);

}  // namespace wafer::compile
