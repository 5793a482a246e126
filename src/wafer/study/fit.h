#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wafer/machine/machine.h"
#include "wafer/study/fit_kind.h"
#include "wafer/study/measurement.h"
#include "wafer/study/validate.h"
#include "wafer/study/workbench.h"

namespace wafer::study {

/// A fitted constant of the machines of a kind.
struct FittedConstant {
  std::string key;    ///< in their TOML: "fitted.pass_seconds"
  double before = 0;  ///< of the first of the machines
  double value = 0;
};

struct Fit {
  std::string kind;
  std::vector<FittedConstant> constants;
  double objective = 0;                    ///< weighted mean of |log(predicted / measured)|
  int measurements = 0;                    ///< after rows of one configuration were averaged
  int groups = 0;                          ///< of the same weight
  std::vector<machine::Machine> machines;  ///< with the constants
};

/// What a fit without some rows predicts for them.
struct Fold {
  std::string left_out;
  int rows = 0;
  double mean_error = 0;
  double worst_error = 0;
  std::map<std::string, double> by_machine;  ///< mean error of the rows of each
  std::vector<FittedConstant> constants;
};

struct CrossValidation {
  std::string kind;
  std::vector<Fold> by_model;
  std::vector<Fold> by_source;
  double model_mean = 0;  ///< mean over models of each model's mean error
  double source_mean = 0;
};

/// `kind` with the rows and constants of one machine alone.
FitKind only(FitKind kind, const machine::Machine& machine);
/// The machines of a kind as their files have them.
std::vector<machine::Machine> machines_of(const FitKind& kind, Workbench& bench);

/// The rows that constants of a kind are fitted on: those of it that are scored and can be asked,
/// of a kind that is fitted by half the fitted ones.
std::vector<Measurement> fit_rows(const std::vector<Measurement>& all, const FitKind& kind);

/// Whether rows are enough to be fitted on: as many configurations as there are constants.
bool suffices(const std::vector<Measurement>& rows, const FitKind& kind);

/// Sets the constants of `kind` in its `machines` so that predictions meet `rows`: the weighted
/// mean of |log(predicted / measured)| is least, where rows of one configuration are averaged into
/// one. Starts are fixed and do not depend on the constants that `machines` have. Throws InputError
/// where rows do not suffice.
Fit fit(const FitKind& kind, const std::vector<Measurement>& rows,
        std::vector<machine::Machine> machines, Workbench& bench);

/// Fits without each model, and without each source, in turn, and tests on what was left out. A
/// part without which too few rows remain is not tested.
CrossValidation cross_validate(const FitKind& kind, const std::vector<Measurement>& rows,
                               const std::vector<machine::Machine>& machines, Workbench& bench,
                               const Progress& progress = {});

/// The same of each kind that is not fitted by half and has rows among `all`.
std::vector<CrossValidation> cross_validations(const std::vector<FitKind>& kinds,
                                               const std::vector<Measurement>& all,
                                               Workbench& bench, const Progress& progress = {});

/// What the scored and predicted rows of each machine, mode and phase cover. The expected error of
/// a kind that was fitted is that of its cross-validation over models, of one fitted by half that
/// of the half held out; of another, to which constants were only carried over, its mean over
/// models.
std::vector<Coverage> coverage_of(const Validation& validation,
                                  const std::vector<CrossValidation>& crosses, Workbench& bench);

}  // namespace wafer::study
