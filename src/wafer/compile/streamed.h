#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wafer/ir/graph.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"

namespace wafer::compile {

/// Of an element of a gradient that leaves the wafer: f32, since 16 bit fits the measurements
/// worse.
inline constexpr double GradientBytes = 4;

/// What a plan for a weight-streaming wafer is asked for.
struct StreamedRequest {
  int64_t systems = 1;
  int64_t batch = 1;                                ///< samples of a step over all systems
  std::optional<int64_t> micro_batch;               ///< of one system; chosen when absent
  std::optional<plan::Recompute> recompute;         ///< chosen when absent
  plan::Sparsity sparsity{};                        ///< of the weights of layers
  std::vector<plan::WeightSparsity> sparsity_of{};  ///< of some weights, the last that matches
};

/// Compiles one network for weight streaming. The analysis of the graph is done once, plans for
/// many requests and machines are then cheap.
class StreamedCompiler {
 public:
  /// `step` is a training step (autodiff::training_step) or, for inference, a forward graph; all
  /// symbols but `batch` are bound. `tokens_per_sample` labels rates. Throws InputError when the
  /// graph has nothing to stream.
  StreamedCompiler(ir::Graph step, int64_t tokens_per_sample, DType precision);
  ~StreamedCompiler();

  /// Chooses micro-batch, recompute and the home of activations (docs/decisions/ has the rule),
  /// and writes the plan. Throws CapacityError when one sample does not fit the wafer, the model
  /// not the store; InputError when the request contradicts itself.
  plan::Plan plan(const machine::Wafer& machine, const StreamedRequest& request) const;

  /// The same plan without its graph and kernels' places in it: enough for an estimate.
  plan::Plan skeleton(const machine::Wafer& machine, const StreamedRequest& request) const;

  /// What the passes "layers" and "kernels" (compile/passes.h) found, for people.
  std::string layers_text() const;
  std::string kernels_text() const;

 private:
  struct Analysis;
  std::unique_ptr<const Analysis> analysis_;
};

}  // namespace wafer::compile
