#include "wafer/estimate/cluster.h"
#include "wafer/study/benches.h"

namespace wafer::study {
namespace {

// What a request of its own sees: its prompt read, and each further token.
void set_serving(const Question& q, const ClusterBench& bench, const plan::Plan& plan,
                 const machine::GpuCluster& cluster, estimate::Answer& answer) {
  const auto step = [&](compile::Serving part) {
    const plan::Plan serving =
        bench.compiler.serving(cluster, cluster_request(q), plan.parallel, part);
    return estimate::cluster_step(serving, cluster).value;
  };
  const auto tokens = static_cast<double>(bench.network.tokens_per_sample);
  const auto requests = static_cast<double>(q.batch) / static_cast<double>(plan.parallel.data);
  answer.prefill_tokens_per_second = tokens * requests / step(compile::Serving::Prefill);
  answer.decode_tokens_per_second = requests / step(compile::Serving::Decode);
}

}  // namespace

Result answer_cluster(const Question& question, const ClusterBench& bench,
                      const machine::GpuCluster& cluster) {
  const plan::Plan plan = bench.compiler.plan(cluster, cluster_request(question));
  Result result = result_of(question, bench.network, bench.stack, plan);
  result.answer = estimate::cluster(plan, cluster);
  if (question.phase == Phase::Infer && bench.compiler.profile().generates) {
    set_serving(question, bench, plan, cluster, result.answer);
  }
  set_durations(result);
  if (!cluster.calibrated) {
    result.extrapolated.push_back("no scored measurement of " + cluster.name);
  }
  return result;
}

}  // namespace wafer::study
