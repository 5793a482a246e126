#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "wafer/study/fit.h"

namespace wafer::study {
namespace {

using Key = const std::string& (*)(const Measurement&);

const std::string& model_of(const Measurement& m) { return m.model; }
const std::string& source_of(const Measurement& m) { return m.source; }

struct Part {
  std::string left_out;
  std::vector<Measurement> kept{}, tested{};
};

Part part_without(const std::string& left_out, Key key, const std::vector<Measurement>& rows) {
  Part part{.left_out = left_out};
  for (const Measurement& m : rows) (key(m) == left_out ? part.tested : part.kept).push_back(m);
  return part;
}

double error_of(const Measurement& m, const Fit& refit, Workbench& bench) {
  const auto machine =
      std::find_if(refit.machines.begin(), refit.machines.end(),
                   [&](const machine::Machine& any) { return machine::name_of(any) == m.machine; });
  const double predict = predicted(m, bench.planned(m.question, *machine).price(*machine));
  return std::abs(predict / *m.expect - 1);
}

Fold tested(const Part& part, const Fit& refit, Workbench& bench) {
  Fold fold{.left_out = part.left_out,
            .rows = static_cast<int>(part.tested.size()),
            .by_machine = {},
            .constants = refit.constants};
  std::map<std::string, int> rows;
  for (const Measurement& m : part.tested) {
    const double error = error_of(m, refit, bench);
    fold.mean_error += error / fold.rows;
    fold.worst_error = std::max(fold.worst_error, error);
    fold.by_machine[m.machine] += error;
    ++rows[m.machine];
  }
  for (auto& [machine, error] : fold.by_machine) error /= rows[machine];
  return fold;
}

double mean_of(const std::vector<Fold>& folds) {
  double sum = 0;
  for (const Fold& fold : folds) sum += fold.mean_error;
  return folds.empty() ? 0 : sum / static_cast<double>(folds.size());
}

}  // namespace

CrossValidation cross_validate(const FitKind& kind, const std::vector<Measurement>& rows,
                               const std::vector<machine::Machine>& machines, Workbench& bench,
                               const Progress& progress) {
  std::set<std::string> models, sources;
  for (const Measurement& m : rows) {
    models.insert(m.model);
    sources.insert(m.source);
  }
  const size_t count = models.size() + sources.size();
  size_t done = 0;
  const auto folds = [&](const std::set<std::string>& parts, Key key) {
    std::vector<Fold> all;
    for (const std::string& part : parts) {
      const Part without = part_without(part, key, rows);
      if (suffices(without.kept, kind)) {
        all.push_back(tested(without, fit(kind, without.kept, machines, bench), bench));
      }
      if (progress) progress(++done, count);
    }
    return all;
  };
  CrossValidation cross{.kind = kind.name, .by_model = {}, .by_source = {}};
  cross.by_model = folds(models, model_of);
  cross.by_source = folds(sources, source_of);
  cross.model_mean = mean_of(cross.by_model);
  cross.source_mean = mean_of(cross.by_source);
  return cross;
}

std::vector<CrossValidation> cross_validations(const std::vector<FitKind>& kinds,
                                               const std::vector<Measurement>& all,
                                               Workbench& bench, const Progress& progress) {
  std::vector<CrossValidation> crosses;
  for (const FitKind& kind : kinds) {
    const std::vector<Measurement> rows = fit_rows(all, kind);
    if (kind.halved || rows.empty()) continue;
    crosses.push_back(cross_validate(kind, rows, machines_of(kind, bench), bench, progress));
  }
  return crosses;
}

}  // namespace wafer::study
