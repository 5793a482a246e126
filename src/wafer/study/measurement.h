#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wafer/study/csv.h"
#include "wafer/study/question.h"

namespace wafer::study {

/// One row of a file of published measurements (validation/README.md has the columns).
struct Measurement {
  std::string id;
  std::string source;
  size_t line = 0;                          ///< in its file
  std::string machine, mode, model, phase;  ///< as written
  std::string predict;  ///< the quantity, with a number after a colon; empty: the row is context
  std::optional<double> expect;  ///< its measured value, SI units
  bool scored = false;
  Question question;    ///< of the row, where `problem` is empty
  std::string problem;  ///< why the row cannot be asked, or empty
};

/// All rows, in the order of the file. Throws InputError for columns that are missing (all of them
/// at once) and for an id that stands twice. A cell that cannot be read is the row's `problem`.
std::vector<Measurement> measurements(const Csv& csv);

/// Rows of one measured thing are equal in this: model, machine, mode, phase, batch, sequence,
/// precision, systems, spread over GPUs, recompute, and what is predicted.
std::string configuration_of(const Measurement& m);

/// Why `predict` can be no quantity of an answer; empty when it is one.
std::string refuse_quantity(const std::string& predict);
/// The value of `m.predict`, one that is not refused, in an answer; SI units.
double predicted(const Measurement& m, const estimate::Answer& answer);

}  // namespace wafer::study
