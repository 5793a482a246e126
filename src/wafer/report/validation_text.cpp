#include <fmt/format.h>

#include "wafer/report/validation.h"

namespace wafer::report {
namespace {

std::string cross_text(const study::CrossValidation& cross) {
  return fmt::format(
      "\nCross-validation of {}: constants fitted without a model, tested on it: mean over models "
      "{}\n{}\nThe same without a source (informative): mean over sources {}\n{}",
      cross.kind, percent(cross.model_mean).text, text(fold_table(cross.by_model, "without model")),
      percent(cross.source_mean).text, text(fold_table(cross.by_source, "without source")));
}

std::vector<std::string> names_of(const std::vector<machine::Machine>& machines) {
  std::vector<std::string> names;
  for (const machine::Machine& m : machines) names.push_back(machine::name_of(m));
  return names;
}

}  // namespace

std::string text(const ValidationReport& report) {
  const study::Validation& v = report.validation;
  std::string result = fmt::format("{}: predicted against measured\n", v.file);
  result += text(row_table(v)) + "\nError of scored rows by group\n" + text(group_table(v));
  const Table halves = half_table(v);
  if (!halves.rows.empty()) {
    result += "\nThe half of the rows that constants are fitted on, and the half held out\n";
    result += text(halves);
  }
  const Table reasons = reason_table(v);
  if (!reasons.rows.empty()) result += "\nNot predicted\n" + text(reasons);
  for (const study::CrossValidation& cross : report.crosses) result += cross_text(cross);
  return result;
}

std::map<std::string, std::string> parts(const ValidationReport& report,
                                         const std::vector<KindMachine>& kinds) {
  const study::Validation& v = report.validation;
  std::map<std::string, std::string> all = {{"rows", markdown(row_table(v))},
                                            {"groups", markdown(group_table(v))},
                                            {"halves", markdown(half_table(v))},
                                            {"not-predicted", markdown(reason_table(v))},
                                            {"repeats", markdown(repeat_table(v))}};
  for (const auto& [kind, machine] : kinds) {
    all[kind->name + "-constants"] = markdown(fitted_table(*kind, *machine));
  }
  for (const study::CrossValidation& cross : report.crosses) {
    const auto part = [&](const char* name) -> std::string& { return all[cross.kind + name]; };
    part("-without-model") = markdown(fold_table(cross.by_model, "model left out"));
    part("-without-source") = markdown(fold_table(cross.by_source, "source left out"));
    part("-mean-without-model") = percent(cross.model_mean).text + "\n";
    part("-mean-without-source") = percent(cross.source_mean).text + "\n";
  }
  return all;
}

std::string text(const std::vector<FitReport>& fits) {
  std::string result;
  for (const FitReport& r : fits) {
    const study::Fit& fit = r.fit;
    result += fmt::format(
        "{}Constants of {} ({}) fitted on {} configurations in {} groups: mean "
        "|log(predicted/measured)| {:.4f}\n{}",
        result.empty() ? "" : "\n", fit.kind, fmt::join(names_of(fit.machines), ", "),
        fit.measurements, fit.groups, fit.objective, text(constant_table(fit.constants)));
    if (r.cross) result += cross_text(*r.cross);
  }
  return result;
}

}  // namespace wafer::report
