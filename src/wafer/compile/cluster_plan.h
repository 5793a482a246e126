#pragma once

#include "wafer/compile/cluster.h"

namespace wafer::compile {

/// Share of a GPU's memory that a plan may fill; the rest is the framework's, and fragments.
inline constexpr double UsableMemory = 0.92;

/// What the parts of a cluster plan are written from.
struct ClusterCase {
  const Profile& profile;
  const ClusterRequest& request;
  const ClusterChoice& choice;
  DType precision;
  int64_t node;  ///< GPUs of one
};

/// n / d, rounded up.
constexpr int64_t divided_up(int64_t n, int64_t d) { return (n + d - 1) / d; }
/// Samples of the replica that has most of a batch: where replicas do not divide it, the others
/// wait for that one.
constexpr int64_t replica_samples(int64_t batch, int64_t replicas) {
  return divided_up(batch, replicas);
}

/// Writes the tree and buffers of a training step.
plan::Plan assemble_training(const ClusterCase& c);
/// Writes those of a forward pass: of all samples, or of a part of serving.
plan::Plan assemble_serving(const ClusterCase& c, std::optional<Serving> part);

/// Bytes on one GPU (of the stage that holds most) in training.
struct ClusterMemory {
  Bytes weights, gradients, optimizer, activations, workspace;
  Bytes total() const { return weights + gradients + optimizer + activations + workspace; }
};
ClusterMemory memory_of(const ClusterCase& c);

}  // namespace wafer::compile
