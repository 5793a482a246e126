#include <fmt/format.h>

#include "wafer/report/validation.h"

namespace wafer::report {
namespace {

std::string cross_text(const study::CrossValidation& cross) {
  return fmt::format(
      "\nCross-validation: constants fitted without a model, tested on it: mean over models {}\n"
      "{}\nThe same without a source (informative): mean over sources {}\n{}",
      percent(cross.model_mean).text, text(fold_table(cross.by_model, "without model")),
      percent(cross.source_mean).text, text(fold_table(cross.by_source, "without source")));
}

}  // namespace

std::string text(const ValidationReport& report) {
  const study::Validation& v = report.validation;
  std::string result = fmt::format("{}: predicted against measured\n", v.file);
  result += text(row_table(v)) + "\nError of scored rows by group\n" + text(group_table(v));
  const Table reasons = reason_table(v);
  if (!reasons.rows.empty()) result += "\nNot predicted\n" + text(reasons);
  if (report.cross) result += cross_text(*report.cross);
  return result;
}

std::map<std::string, std::string> parts(const ValidationReport& report,
                                         const machine::Wafer& machine) {
  const study::Validation& v = report.validation;
  std::map<std::string, std::string> all = {{"constants", markdown(fitted_table(machine))},
                                            {"rows", markdown(row_table(v))},
                                            {"groups", markdown(group_table(v))},
                                            {"not-predicted", markdown(reason_table(v))},
                                            {"repeats", markdown(repeat_table(v))}};
  if (!report.cross) return all;
  const study::CrossValidation& cross = *report.cross;
  all["without-model"] = markdown(fold_table(cross.by_model, "model left out"));
  all["without-source"] = markdown(fold_table(cross.by_source, "source left out"));
  all["mean-without-model"] = percent(cross.model_mean).text + "\n";
  all["mean-without-source"] = percent(cross.source_mean).text + "\n";
  return all;
}

std::string text(const study::Fit& fit, const std::optional<study::CrossValidation>& cross) {
  const std::string result = fmt::format(
      "Constants of {} fitted on {} configurations in {} groups: mean |log(predicted/measured)| "
      "{:.4f}\n{}",
      fit.machine.name, fit.measurements, fit.groups, fit.objective,
      text(constant_table(fit.constants)));
  return cross ? result + cross_text(*cross) : result;
}

}  // namespace wafer::report
