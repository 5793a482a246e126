#include <fmt/format.h>

#include <algorithm>

#include "wafer/estimate/streamed.h"
#include "wafer/study/benches.h"
#include "wafer/study/sparse_gain.h"

namespace wafer::study {

Result answer_streamed(const Question& question, const StreamedBench& bench,
                       const machine::Wafer& machine) {
  const plan::Plan plan = bench.compiler.skeleton(machine, streamed_request(question));
  Result result = result_of(question, bench.network, bench.stack, plan);
  result.answer = estimate::streamed(plan, machine);
  if (is_sparse(question)) {
    const std::vector<plan::WeightSparsity>& some = question.sparsity_of;
    const bool patterned = question.sparsity.structured() ||
                           std::any_of(some.begin(), some.end(),
                                       [](const auto& w) { return w.sparsity.structured(); });
    if (patterned) result.extrapolated.emplace_back("N:M sparsity: no measurement has it");
    result.sparse = sparse_gain(question, bench.compiler, machine, result.answer);
  }
  set_durations(result);
  return result;
}

Planned planned_streamed(const Question& question, const StreamedBench& bench,
                         const machine::Wafer& machine) {
  plan::Plan plan = bench.compiler.skeleton(machine, streamed_request(question));
  Planned planned;
  planned.choices =
      fmt::format("{} {} {}", plan.micro_batch, plan::name_of(plan.recompute), plan.spilled);
  planned.tokens_per_micro_batch = static_cast<double>(plan.micro_batch * plan.tokens_per_sample);
  planned.price = [plan = std::move(plan)](const machine::Machine& m) {
    return estimate::streamed(plan, std::get<machine::Wafer>(m));
  };
  return planned;
}

}  // namespace wafer::study
