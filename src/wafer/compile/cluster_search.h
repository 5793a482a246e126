#pragma once

#include <vector>

#include "wafer/compile/cluster_plan.h"

namespace wafer::compile {

/// Throws InputError with all that is wrong with a request as such, and for this network.
void check(const ClusterRequest& request, const Profile& profile, int64_t node);

/// Every candidate that the request leaves open, for training. The rules are in
/// docs/spec/cluster-cost.md (candidates of the search).
std::vector<ClusterChoice> candidates(const ClusterRequest& request, const Profile& profile,
                                      int64_t node);
/// The same for a forward pass: tensor and data parallel.
std::vector<ClusterChoice> serving_candidates(const ClusterRequest& request, const Profile& profile,
                                              int64_t node);

}  // namespace wafer::compile
