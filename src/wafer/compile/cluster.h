#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "wafer/compile/profile.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"

namespace wafer::compile {

/// What a plan for a cluster of GPUs is asked for. What is absent is chosen.
struct ClusterRequest {
  int64_t systems = 1;  ///< GPUs
  int64_t batch = 1;    ///< samples of a step over all GPUs
  std::optional<int64_t> tensor{}, pipeline{}, data{}, interleaving{};
  std::optional<int64_t> micro_batch{};  ///< samples that a replica works on at a time
  std::optional<bool> sequence{};        ///< sequence parallelism
  std::optional<plan::Recompute> recompute{};
  std::optional<plan::Sharding> sharding{};
  bool fused = true;            ///< see plan::Parallelism
  bool tf32 = false;            ///< products of f32 in tf32
  double length_variation = 0;  ///< see plan::Plan
};

/// A candidate: all that the search decides.
struct ClusterChoice {
  plan::Parallelism parallel;
  int64_t micro_batch = 1;
  plan::Recompute recompute = plan::Recompute::None;
};

/// Which part of serving a plan is of: a prompt read at once, or one more token.
enum class Serving : uint8_t { Prefill, Decode };

class StepBounds;

/// Compiles one network for clusters of GPUs. The graph is looked at once; each candidate of
/// parallelism is a plan of its own, which estimate prices, but those that a bound of their time
/// shows to be slower. Bounds are kept for further requests: not for use by several threads at
/// once.
class ClusterCompiler {
 public:
  /// `forward` is a forward graph, with the loss where `training`; all symbols but `batch` are
  /// bound. Throws InputError for others, and for a graph without parameters.
  ClusterCompiler(const ir::Graph& forward, int64_t tokens_per_sample, DType precision,
                  bool training);
  ~ClusterCompiler();
  ClusterCompiler(ClusterCompiler&&) noexcept;

  /// The fastest plan that fits memory among those that the request leaves open. Throws InputError
  /// where the request contradicts itself or the network, CapacityError where nothing fits.
  plan::Plan plan(const machine::GpuCluster& machine, const ClusterRequest& request) const;

  /// The plan of serving `batch` requests at once, weights spread over tensor ranks: as many GPUs
  /// as `plan` chose.
  plan::Plan serving(const machine::GpuCluster& machine, const ClusterRequest& request,
                     const plan::Parallelism& parallel, Serving part) const;

  const Profile& profile() const { return profile_; }
  bool training() const { return training_; }

 private:
  std::string model_;
  Profile profile_;
  DType precision_;
  bool training_;
  std::unique_ptr<StepBounds> bounds_;
};

}  // namespace wafer::compile
