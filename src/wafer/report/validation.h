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
  std::optional<study::CrossValidation> cross;
};

/// Row by row: id, what was measured where, predicted, measured, error.
Table row_table(const study::Validation& v);
/// Errors by kind.
Table group_table(const study::Validation& v);
/// Rows that are not predicted, by reason.
Table reason_table(const study::Validation& v);
/// What a fit without each part predicts for it; `part` titles the first column.
Table fold_table(const std::vector<study::Fold>& folds, const std::string& part);
/// Configurations that were measured more than once, with the spread of what was measured.
Table repeat_table(const study::Validation& v);
/// The fitted numbers of a machine as they stand in its file.
Table fitted_table(const machine::Wafer& machine);
/// Constants before and after a fit.
Table constant_table(const std::vector<study::FittedConstant>& constants);

std::string text(const ValidationReport& report);
/// {rows: [{id, predicted, measured, error, reason, ..}], groups: [..], cross: {..}}; error is
/// predicted / measured - 1.
std::string json(const ValidationReport& report);

/// Markdown by part, for refreshed(): constants, rows, groups, not-predicted, repeats,
/// without-model, without-source, and the two means, mean-without-model, mean-without-source.
std::map<std::string, std::string> parts(const ValidationReport& report,
                                         const machine::Wafer& machine);

std::string text(const study::Fit& fit, const std::optional<study::CrossValidation>& cross);
std::string json(const study::Fit& fit, const std::optional<study::CrossValidation>& cross);

}  // namespace wafer::report
