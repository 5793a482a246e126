#include <fmt/format.h>

#include "wafer/base/error.h"
#include "wafer/estimate/pipelined.h"
#include "wafer/study/benches.h"

namespace wafer::study {

compile::PipelinedRequest pipelined_request(const Question& q) {
  return {.batch = q.batch, .region = q.region};
}

void check_pipelined_question(const Question& q) {
  Problems problems;
  if (q.phase != Phase::Train) {
    problems.add("--phase infer: only training is pipelined; use --mode streamed or resident");
  }
  if (q.systems != 1) {
    problems.add(
        fmt::format("--systems {}: all layers lie on one wafer; use --mode streamed", q.systems));
  }
  if (is_sparse(q)) {
    problems.add(
        "--sparsity, --sparsity-of: weights that lie on the wafer are dense; use --mode streamed");
  }
  if (q.micro_batch && *q.micro_batch != 1) {
    problems.add(
        fmt::format("--micro-batch {}: samples pass one by one; leave it out", *q.micro_batch));
  }
  if (q.recompute && *q.recompute != plan::Recompute::None) {
    problems.add("--recompute: activations wait in FIFOs on the wafer; leave it out");
  }
  problems.throw_if_any("the question does not suit mode pipelined:");
}

Result answer_pipelined(const Question& question, const PipelinedBench& bench,
                        const machine::Wafer& machine) {
  const plan::Plan plan = bench.compiler.plan(machine, pipelined_request(question));
  Result result = result_of(question, bench.network, bench.stack, plan);
  result.answer = estimate::pipelined(plan, machine);
  set_durations(result);
  return result;
}

Planned planned_pipelined(const Question& question, const PipelinedBench& bench,
                          const machine::Wafer& machine) {
  Planned planned;
  const plan::Plan plan = bench.compiler.plan(machine, pipelined_request(question));
  planned.choices = fmt::format("{}", plan.pipeline->period.value);
  planned.tokens_per_micro_batch = static_cast<double>(plan.tokens_per_sample);
  // The constants of the cost model decide how large kernels are: each price is of a plan anew.
  planned.price = [&bench, request = pipelined_request(question)](const machine::Machine& m) {
    const auto& wafer = std::get<machine::Wafer>(m);
    return estimate::pipelined(bench.compiler.plan(wafer, request), wafer);
  };
  return planned;
}

}  // namespace wafer::study
