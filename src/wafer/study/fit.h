#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wafer/machine/machine.h"
#include "wafer/study/measurement.h"
#include "wafer/study/validate.h"
#include "wafer/study/workbench.h"

namespace wafer::study {

/// A fitted constant of a machine.
struct FittedConstant {
  std::string key;  ///< in its TOML: "fitted.pass_seconds"
  double before = 0;
  double value = 0;
};

struct Fit {
  std::vector<FittedConstant> constants;
  double objective = 0;    ///< mean over groups of the mean |log(predicted / measured)|
  int measurements = 0;    ///< after rows of one configuration were averaged
  int groups = 0;          ///< of one model and number of tokens per micro-batch
  machine::Wafer machine;  ///< with the constants
};

/// What a fit without some rows predicts for them.
struct Fold {
  std::string left_out;
  int rows = 0;
  double mean_error = 0;
  double worst_error = 0;
  std::vector<FittedConstant> constants;
};

struct CrossValidation {
  std::vector<Fold> by_model;
  std::vector<Fold> by_source;
  double model_mean = 0;  ///< mean over models of each model's mean error
  double source_mean = 0;
};

/// The rows that constants of a machine are fitted on: scored training rows of it, streamed.
std::vector<Measurement> fit_rows(const std::vector<Measurement>& all, const std::string& machine);

/// Whether rows are enough to be fitted on: as many configurations as there are constants.
bool suffices(const std::vector<Measurement>& rows);

/// Sets the constants under [fitted] of `machine` so that predictions meet `rows`: the mean
/// |log(predicted / measured)| is least, where rows of one configuration are averaged into one and
/// each group (a model at one number of tokens per micro-batch) has the same weight, so that no
/// series of batches outweighs a model. Starts are fixed and do not depend on the constants that
/// `machine` has. Throws InputError where rows do not suffice.
Fit fit(const std::vector<Measurement>& rows, const machine::Wafer& machine, Workbench& bench);

/// Fits without each model, and without each source, in turn, and tests on what was left out. A
/// part without which too few rows remain is not tested.
CrossValidation cross_validate(const std::vector<Measurement>& rows, const machine::Wafer& machine,
                               Workbench& bench, const Progress& progress = {});

/// What the scored and predicted rows of each kind cover. The expected error of a kind that was
/// fitted is that of its cross-validation over models; of another, to which constants were only
/// carried over, its mean over models.
std::vector<Coverage> coverage_of(const Validation& validation, const CrossValidation& cross,
                                  const std::string& fitted_machine, Workbench& bench);

}  // namespace wafer::study
