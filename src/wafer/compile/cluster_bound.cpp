#include "wafer/compile/cluster_bound.h"

#include <algorithm>

#include "wafer/machine/numbers.h"

namespace wafer::compile {
namespace {

// A sweep over numbers of a machine comes back to each after some points; each takes some
// kilobytes.
constexpr size_t MostMachines = 64;
constexpr size_t MostMicroBatches = 10'000;  // of a machine: a megabyte
// Sums in another order differ by less.
constexpr double Rounding = 1e-9;

std::vector<double> numbers_of(const machine::GpuCluster& machine) {
  std::vector<double> all;
  for (const machine::Number& number : machine::numbers(machine)) {
    all.insert(all.end(), number.value.begin(), number.value.end());
  }
  return all;
}

// All layers on one GPU of each tensor rank, one micro-batch.
estimate::StageSeconds price(const machine::GpuCluster& machine, const ClusterCase& c) {
  ClusterChoice choice = c.choice;
  choice.parallel.pipeline = choice.parallel.data = choice.parallel.interleaving = 1;
  choice.parallel.sharding = plan::Sharding::None;
  const ClusterCase whole{c.profile, c.request, choice, c.precision, c.node};
  return estimate::cluster_stages(assemble_training(whole), machine);
}

}  // namespace

Seconds StepBounds::OfMachine::of(const machine::GpuCluster& machine, const ClusterCase& c) {
  const plan::Parallelism& p = c.choice.parallel;
  const Key key{p.tensor, c.choice.micro_batch, p.sequence, c.choice.recompute,
                p.fused,  c.request.tf32};
  auto found = kept_.find(key);
  if (found == kept_.end()) {
    if (kept_.size() == MostMicroBatches) kept_.clear();
    found = kept_.emplace(key, price(machine, c)).first;
  }
  const estimate::StageSeconds& all = found->second;
  const auto stages = static_cast<double>(p.pipeline);
  const Seconds every = all.every / stages;
  const Seconds ends = p.pipeline > 1 ? std::max(all.first, all.last) : all.first + all.last;
  const auto turns = static_cast<double>(
      divided_up(replica_samples(c.request.batch, p.data), c.choice.micro_batch));
  const Seconds bubble = every * ((stages - 1) / static_cast<double>(p.interleaving));
  return ((every + ends) * turns + bubble) * (1 - Rounding);
}

StepBounds::OfMachine& StepBounds::on(const machine::GpuCluster& machine) {
  std::vector<double> numbers = numbers_of(machine);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const auto& kept) { return kept.first == numbers; });
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().second;
  }
  if (kept_.size() == MostMachines) kept_.erase(kept_.begin());
  return kept_.emplace_back(std::move(numbers), OfMachine()).second;
}

}  // namespace wafer::compile
