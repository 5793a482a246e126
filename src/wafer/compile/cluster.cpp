#include "wafer/compile/cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "wafer/base/error.h"
#include "wafer/compile/cluster_bound.h"
#include "wafer/compile/cluster_plan.h"
#include "wafer/compile/cluster_search.h"
#include "wafer/estimate/cluster.h"

namespace wafer::compile {
namespace {

double gigabytes(Bytes b) { return b.value / 1e9; }

Bytes used(const plan::Plan& plan) {
  Bytes sum;
  for (const plan::Buffer& b : plan.buffers) sum += b.bytes();
  return sum;
}

std::string describe(const ClusterChoice& c) {
  return fmt::format("tensor {} x pipeline {} x data {}, micro-batch {}, recompute {}, sharding {}",
                     c.parallel.tensor, c.parallel.pipeline, c.parallel.data, c.micro_batch,
                     plan::name_of(c.recompute), plan::name_of(c.parallel.sharding));
}

/// Finds the fastest candidate that fits.
class Search {
 public:
  Search(const machine::GpuCluster& machine, const Profile& profile, const ClusterRequest& request,
         DType precision, bool training, StepBounds& bounds)
      : machine_(machine),
        profile_(profile),
        request_(request),
        precision_(precision),
        training_(training),
        bounds_(bounds),
        node_(machine.node.gpus.value) {
    check(request, profile, node_);
  }

  plan::Plan best() {
    const std::vector<ClusterChoice> all = training_
                                               ? candidates(request_, profile_, node_)
                                               : serving_candidates(request_, profile_, node_);
    if (all.empty()) refuse_all();
    // A pinned micro-batch was run by those who say so: its memory is not doubted.
    const bool sure = request_.micro_batch.has_value();
    for (const auto& [bound, i] : in_order(all)) {
      if (best_ && bound > fastest_) break;
      const ClusterChoice& choice = all[i];
      const Bytes needed = memory(choice);
      if (!least_ || needed < least_bytes_) least_ = choice, least_bytes_ = needed;
      if (!sure && needed > capacity()) continue;
      plan::Plan plan = assemble(choice);
      const Seconds step = estimate::cluster_step(plan, machine_);
      // Of equally fast ones the first.
      if (best_ && (step > fastest_ || (step == fastest_ && i > place_))) continue;
      fastest_ = step;
      place_ = i;
      best_ = std::move(plan);
    }
    if (!best_) refuse_memory();
    best_->micro_batch_reason = all.size() == 1
                                    ? "asked for"
                                    : fmt::format("fastest that fits of {} candidates", all.size());
    note_empty_places(*best_);
    best_->activation_reason =
        fmt::format("{:.3g} GB of a GPU's {:.3g} GB are in use", gigabytes(used(*best_)),
                    gigabytes(machine_.gpu.memory.value));
    return std::move(*best_);
  }

 private:
  Bytes capacity() const { return machine_.gpu.memory.value * UsableMemory; }

  ClusterCase case_of(const ClusterChoice& choice) const {
    return {profile_, request_, choice, precision_, node_};
  }

  /// Places of candidates with a bound of their time, the least first; of a forward pass as they
  /// stand, since there are few.
  std::vector<std::pair<Seconds, size_t>> in_order(const std::vector<ClusterChoice>& all) const {
    std::vector<std::pair<Seconds, size_t>> order;
    StepBounds::OfMachine* const bounds = training_ ? &bounds_.on(machine_) : nullptr;
    for (size_t i = 0; i < all.size(); ++i) {
      order.emplace_back(training_ ? bounds->of(machine_, case_of(all[i])) : Seconds(0), i);
    }
    std::sort(order.begin(), order.end());
    return order;
  }

  Bytes memory(const ClusterChoice& choice) const {
    return training_ ? memory_of(case_of(choice)).total() : used(assemble(choice));
  }

  plan::Plan assemble(const ClusterChoice& choice) const {
    const ClusterCase c = case_of(choice);
    return training_ ? assemble_training(c) : assemble_serving(c, std::nullopt);
  }

  /// Where replicas do not divide the batch, or micro-batches a replica's samples.
  static void note_empty_places(plan::Plan& plan) {
    const auto places =
        static_cast<int64_t>(plan.micro_batches) * plan.micro_batch * plan.parallel.data;
    if (places == plan.batch) return;
    plan.micro_batch_reason +=
        fmt::format("; {} of {} places for samples stay empty", places - plan.batch, places);
  }

  [[noreturn]] void refuse_all() const {
    throw InputError(fmt::format(
        "no way to spread a batch of {} over {} GPUs meets the request: each replica needs a "
        "sample, and --micro-batch no more than its samples; tensor ranks divide the attention "
        "heads and stay in a node, stages divide the layers, and with interleaving the "
        "micro-batches; sharded gradients or weights go with --tp 1 --pp 1. Change --batch or "
        "--systems, or pin less",
        request_.batch, request_.systems));
  }

  [[noreturn]] void refuse_memory() const {
    throw CapacityError(fmt::format(
        "the model does not fit {} GPU{} of {}: with {}, the least of all candidates, a GPU needs "
        "{:.4g} GB of {:.4g} GB that are usable. {}, or pin less",
        request_.systems, request_.systems == 1 ? "" : "s", machine_.name, describe(*least_),
        gigabytes(least_bytes_), gigabytes(capacity()),
        training_ ? least_->recompute == plan::Recompute::Full ? "Use more GPUs (--systems)"
                                                               : "Use more GPUs, --recompute full"
                  : "Use more GPUs (--systems), a smaller --batch"));
  }

  const machine::GpuCluster& machine_;
  const Profile& profile_;
  const ClusterRequest& request_;
  const DType precision_;
  const bool training_;
  StepBounds& bounds_;
  const int64_t node_;
  std::optional<ClusterChoice> least_;
  Bytes least_bytes_;
  std::optional<plan::Plan> best_;
  Seconds fastest_;
  size_t place_ = 0;  ///< of the best among the candidates
};

}  // namespace

ClusterCompiler::ClusterCompiler(const ir::Graph& forward, int64_t tokens_per_sample,
                                 DType precision, bool training)
    : model_(forward.name),
      profile_(compile::profile(forward, tokens_per_sample)),
      precision_(precision),
      training_(training),
      bounds_(std::make_unique<StepBounds>()) {}

ClusterCompiler::~ClusterCompiler() = default;
ClusterCompiler::ClusterCompiler(ClusterCompiler&&) noexcept = default;

plan::Plan ClusterCompiler::plan(const machine::GpuCluster& machine,
                                 const ClusterRequest& request) const {
  plan::Plan plan = Search(machine, profile_, request, precision_, training_, *bounds_).best();
  plan.model = model_;
  plan.machine = machine.name;
  const std::vector<std::string> problems = plan::problems_of(plan);
  WAFER_CHECK(problems.empty(), problems.front());
  return plan;
}

plan::Plan ClusterCompiler::serving(const machine::GpuCluster& machine,
                                    const ClusterRequest& request,
                                    const plan::Parallelism& parallel, Serving part) const {
  const ClusterChoice choice{.parallel = parallel,
                             .micro_batch = replica_samples(request.batch, parallel.data)};
  const ClusterCase c{profile_, request, choice, precision_, machine.node.gpus.value};
  plan::Plan plan = assemble_serving(c, part);
  plan.model = model_;
  plan.machine = machine.name;
  return plan;
}

}  // namespace wafer::compile
