#include "wafer/estimate/streamed.h"
#include "wafer/study/benches.h"

namespace wafer::study {

Result answer_streamed(const Question& question, const StreamedBench& bench,
                       const machine::Wafer& machine) {
  const plan::Plan plan = bench.compiler.skeleton(machine, streamed_request(question));
  Result result = result_of(question, bench.network, bench.stack, plan);
  result.answer = estimate::streamed(plan, machine);
  set_durations(result);
  return result;
}

}  // namespace wafer::study
