#pragma once

#include <map>
#include <optional>
#include <string>

#include "wafer/machine/machine.h"
#include "wafer/report/table.h"
#include "wafer/study/fit.h"
#include "wafer/study/validate.h"

namespace wafer::report {

/// A validation, and what may stand beside it.
struct ValidationReport {
  study::Validation validation;
  std::vector<study::CrossValidation> crosses;  ///< of kinds of rows, in the order of fit_kinds()
};

/// Row by row: id, what was measured where, predicted, measured, error.
Table row_table(const study::Validation& v);
/// Errors by kind.
Table group_table(const study::Validation& v);
/// Errors of the two halves of kinds that are fitted by half.
Table half_table(const study::Validation& v);
/// Rows that are not predicted, by reason.
Table reason_table(const study::Validation& v);
/// What a fit without each part predicts for it; `part` titles the first column.
Table fold_table(const std::vector<study::Fold>& folds, const std::string& part);
/// Configurations that were measured more than once, with the spread of what was measured.
Table repeat_table(const study::Validation& v);
/// The constants of a kind as they stand in the file of a machine.
Table fitted_table(const study::FitKind& kind, const machine::Machine& machine);
/// Constants before and after a fit.
Table constant_table(const std::vector<study::FittedConstant>& constants);

std::string text(const ValidationReport& report);
/// {rows: [{id, predicted, measured, error, reason, ..}], groups: [..], cross: {..}}; error is
/// predicted / measured - 1.
std::string json(const ValidationReport& report);

/// A kind of rows, and the machine that stands for those with its constants.
struct KindMachine {
  const study::FitKind* kind;
  const machine::Machine* machine;
};

/// Markdown by part, for refreshed(): rows, groups, halves, not-predicted, repeats; for each of
/// `kinds` KIND-constants; for each that is cross-validated KIND-without-model,
/// KIND-without-source, and the two means, KIND-mean-without-model, KIND-mean-without-source.
std::map<std::string, std::string> parts(const ValidationReport& report,
                                         const std::vector<KindMachine>& kinds);

/// A fit, and its cross-validation where there is one.
struct FitReport {
  study::Fit fit;
  std::optional<study::CrossValidation> cross{};
};
std::string text(const std::vector<FitReport>& fits);
/// {kinds: [{kind, machines, constants, objective, ..}]}; the keys of the first stand above, too.
std::string json(const std::vector<FitReport>& fits);

}  // namespace wafer::report
