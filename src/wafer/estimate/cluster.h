#pragma once

#include "wafer/estimate/answer.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"

namespace wafer::estimate {

/// Prices what a cluster plan is made of, by the numbered rules of docs/spec/cluster-cost.md.
class ClusterPrices {
 public:
  ClusterPrices(const machine::GpuCluster& machine, const plan::Plan& plan);

  /// G1. Rate of products at the sustained clock.
  FlopsPerSecond rate() const { return rate_; }
  /// G2. One launch of products.
  Seconds of(const plan::Product& product) const;
  /// G3-G5. Products, attention and passes over memory of a kernel.
  struct KernelTime {
    Seconds products, attention, passes;
    Seconds total() const { return products + attention + passes; }
  };
  KernelTime of(const plan::Kernel& kernel) const;
  /// What it reads and writes in the memory of a GPU.
  Bytes traffic(const plan::Kernel& kernel) const;
  /// G6-G8. One collective, `times` and what hides it not counted.
  Seconds of(const plan::Collective& collective) const;

 private:
  Bytes operands(const plan::Product& product) const;
  Bytes result(const plan::Product& product) const;
  Seconds pass(Bytes bytes, double launches) const;
  Seconds serving(const plan::Collective& collective) const;

  const machine::GpuCluster& m_;
  const bool training_;
  const double element_bytes_;
  FlopsPerSecond rate_;
  BytesPerSecond memory_;
  BytesPerSecond link_;
  BytesPerSecond nic_;
};

/// G9. Time of a step, or of a forward pass: throughput, memory, what limits it, energy.
Answer cluster(const plan::Plan& plan, const machine::GpuCluster& machine);

/// The step time alone.
Seconds cluster_step(const plan::Plan& plan, const machine::GpuCluster& machine);

/// What a micro-batch takes on a GPU, by what the stages of a pipeline hold: all of them, the first
/// and the last besides. What passes between stages and replicas is not in it.
struct StageSeconds {
  Seconds every, first, last;
};
StageSeconds cluster_stages(const plan::Plan& plan, const machine::GpuCluster& machine);

/// Dense peak of a GPU in the precision of a plan.
FlopsPerSecond peak(const machine::GpuCluster& machine, const plan::Plan& plan);

/// Mean of the largest of n independent normal values, in deviations, as Blom estimates it:
/// inverse normal of (n - 3/8) / (n + 1/4). 0 for n = 1.
double expected_largest(double n);

}  // namespace wafer::estimate
