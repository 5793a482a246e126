#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "wafer/study/coverage.h"
#include "wafer/study/half.h"
#include "wafer/study/measurement.h"
#include "wafer/study/workbench.h"

namespace wafer::study {

/// A measurement, and what is predicted for it.
struct Comparison {
  Measurement measurement;
  std::optional<double> predicted;
  std::optional<double> error;  ///< predicted / measured - 1
  std::string reason;           ///< why nothing is predicted, or empty
  Situation situation;          ///< where predicted
  std::vector<std::string> extrapolated;
};

/// Errors of scored rows of one kind; a row that is not predicted counts as an error of 100 %.
struct GroupError {
  std::string machine, mode, phase;
  std::optional<Half> half{};  ///< of the kind's rows that were fitted or held out; absent: all
  int rows = 0;
  int predicted = 0;
  double mean = 0;  ///< of absolute errors
  double p90 = 0;   ///< nine rows in ten are at most this far off
  double worst = 0;
  std::string worst_id;
  double within_15 = 0;         ///< share of rows
  double by_model = 0;          ///< mean over models of each model's mean
  int configurations = 0;       ///< rows that repeat a configuration count as one
  double by_configuration = 0;  ///< mean over configurations, measured values averaged first
};

struct Validation {
  std::string file;
  std::vector<Comparison> rows;  ///< all, in the order of the file
  std::vector<GroupError> groups;
  std::vector<GroupError> halves;  ///< of kinds that are fitted by half, the halves apart
};

/// Told after each row: rows done, and of how many.
using Progress = std::function<void(size_t, size_t)>;

/// Predicts every row that can be predicted, and says of each other why not.
Validation validate(const std::vector<Measurement>& all, const std::string& file, Workbench& bench,
                    const Progress& progress = {});

/// Errors of the scored rows, in order of machine, mode and phase.
std::vector<GroupError> group_errors(const std::vector<Comparison>& rows);
/// The same of the rows whose kind is fitted by half (FitKind::halved), each half for itself.
std::vector<GroupError> half_errors(const std::vector<Comparison>& rows);

}  // namespace wafer::study
