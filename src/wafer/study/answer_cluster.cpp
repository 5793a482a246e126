#include <fmt/format.h>

#include "wafer/estimate/cluster.h"
#include "wafer/study/benches.h"

namespace wafer::study {
namespace {

/// Everything that an answer on a cluster is priced from.
struct ClusterPlans {
  plan::Plan plan;
  /// What a request of its own sees, where the network generates: its prompt read, and each further
  /// token.
  std::optional<plan::Plan> prefill{}, decode{};
};

ClusterPlans plans_of(const Question& q, const ClusterBench& bench,
                      const machine::GpuCluster& cluster) {
  const compile::ClusterRequest request = cluster_request(q);
  ClusterPlans plans{.plan = bench.compiler.plan(cluster, request)};
  if (q.phase == Phase::Train || !bench.compiler.profile().generates) return plans;
  const plan::Parallelism& p = plans.plan.parallel;
  plans.prefill = bench.compiler.serving(cluster, request, p, compile::Serving::Prefill);
  plans.decode = bench.compiler.serving(cluster, request, p, compile::Serving::Decode);
  return plans;
}

estimate::Answer price(const ClusterPlans& plans, const machine::GpuCluster& cluster) {
  estimate::Answer answer = estimate::cluster(plans.plan, cluster);
  if (!plans.prefill) return answer;
  const auto requests = static_cast<double>(plans.plan.batch);  // of all replicas
  const auto tokens = static_cast<double>(plans.plan.tokens_per_sample);
  answer.prefill_tokens_per_second =
      tokens * requests / estimate::cluster_step(*plans.prefill, cluster).value;
  answer.decode_tokens_per_second = requests / estimate::cluster_step(*plans.decode, cluster).value;
  return answer;
}

}  // namespace

Result answer_cluster(const Question& question, const ClusterBench& bench,
                      const machine::GpuCluster& cluster) {
  const ClusterPlans plans = plans_of(question, bench, cluster);
  Result result = result_of(question, bench.network, bench.stack, plans.plan);
  result.answer = price(plans, cluster);
  set_durations(result);
  return result;
}

Planned planned_cluster(const Question& question, const ClusterBench& bench,
                        const machine::GpuCluster& cluster) {
  ClusterPlans plans = plans_of(question, bench, cluster);
  const plan::Plan& plan = plans.plan;
  const plan::Parallelism& p = plan.parallel;
  Planned planned;
  planned.choices = fmt::format("{} {} {} {} {} {} {} {}", p.tensor, p.pipeline, p.data,
                                p.interleaving, p.sequence, plan::name_of(p.sharding),
                                plan.micro_batch, plan::name_of(plan.recompute));
  planned.tokens_per_micro_batch = static_cast<double>(plan.micro_batch * plan.tokens_per_sample);
  planned.price = [plans = std::move(plans)](const machine::Machine& m) {
    return price(plans, std::get<machine::GpuCluster>(m));
  };
  return planned;
}

}  // namespace wafer::study
