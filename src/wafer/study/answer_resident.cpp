#include <fmt/format.h>

#include "wafer/estimate/resident.h"
#include "wafer/study/benches.h"

namespace wafer::study {
namespace {

// Measured rates of networks of several wafers are those of the layers that fit one, times all.
void set_extrapolated(Result& result, const plan::Plan& plan) {
  const plan::ResidentPlacement& at = result.answer.resident->placed;
  if (at.wafers == 1) return;
  const int64_t asked = result.question.systems;
  result.extrapolated.push_back(fmt::format(
      "{} wafers in a row{}: the time of a layer x {} layers; no such row is measured", at.wafers,
      plan.systems > asked ? fmt::format(" are needed, {} asked for", asked) : "", at.layers));
}

}  // namespace

Result answer_resident(const Question& question, const ResidentBench& bench,
                       const machine::Wafer& machine) {
  const plan::Plan plan = bench.compiler.plan(machine, resident_question(question));
  Result result = result_of(question, bench.network, bench.stack, plan);
  result.answer = estimate::resident(plan, machine);
  set_durations(result);
  set_extrapolated(result, plan);
  result.question.systems = plan.systems;
  return result;
}

Planned planned_resident(const Question& question, const ResidentBench& bench,
                         const machine::Wafer& machine) {
  plan::Plan plan = bench.compiler.plan(machine, resident_question(question));
  Planned planned;
  const plan::Resident& r = *plan.resident;
  planned.choices = fmt::format("{} {} {}", r.placed.mesh, r.placed.wafers, r.replicas);
  planned.tokens_per_micro_batch = static_cast<double>(plan.tokens_per_sample);
  planned.price = [plan = std::move(plan)](const machine::Machine& m) {
    return estimate::resident(plan, std::get<machine::Wafer>(m));
  };
  return planned;
}

}  // namespace wafer::study
