#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"
#include "wafer/study/compare.h"
#include "wafer/study/validate.h"

namespace wafer::study {

/// How answers go with the batch on one machine.
struct BatchCurve {
  std::string name;             ///< of the machine, as written
  std::vector<Attempt> points;  ///< by batch, ascending
};

/// All that is to be told about one question: its answer, what lies around it, and what it rests
/// on.
struct Dossier {
  Result result;
  machine::Machine machine;
  std::vector<CompareRow> rows;    ///< of its machine and of the others; the first is its own
  std::vector<BatchCurve> curves;  ///< of each row that has an answer
  /// Scored measurements of the machine, mode and phase of each answer, with what is predicted for
  /// them; empty where the program is without validation/system.csv.
  Validation evidence;
  /// Where the kernels lie, of an answer in mode pipelined.
  std::optional<plan::Plan> pipeline;
};

/// Batches that a curve around one goes through: halves and doubles of it, multiples of `systems`.
std::vector<int64_t> batches_around(int64_t batch, int64_t systems);

/// Throws what Workbench::answer() throws for the question itself, and InputError for another
/// machine that is not there. Another that cannot do it has a row that says why.
Dossier dossier(const Question& question, const std::vector<Contender>& others, Workbench& bench);

}  // namespace wafer::study
