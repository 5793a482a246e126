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
