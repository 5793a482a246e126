#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "wafer/compile/cluster_plan.h"
#include "wafer/estimate/cluster.h"

namespace wafer::compile {

/// Lower bounds of the step times of training candidates: what the GPUs of the busiest stage do and
/// how long the pipeline fills, without what passes between stages and replicas. What a micro-batch
/// takes is the same in most candidates, for any batch and number of GPUs: it is priced once for a
/// machine and kept, for the machines used last. Not for use by several threads at once.
class StepBounds {
 public:
  /// Bounds for one machine.
  class OfMachine {
   public:
    Seconds of(const machine::GpuCluster& machine, const ClusterCase& c);
    uint64_t priced() const { return kept_.size(); }  ///< micro-batches

   private:
    /// What the time of a micro-batch depends on: tensor ranks, micro-batch, sequence parallelism,
    /// recompute, fused attention, tf32.
    using Key = std::tuple<int64_t, int64_t, bool, plan::Recompute, bool, bool>;
    std::map<Key, estimate::StageSeconds> kept_;
  };

  OfMachine& on(const machine::GpuCluster& machine);

 private:
  std::vector<std::pair<std::vector<double>, OfMachine>> kept_;  ///< the last used at the end
};

}  // namespace wafer::compile
