#include <algorithm>
#include <cmath>
#include <set>

#include "wafer/estimate/streamed.h"
#include "wafer/study/fit.h"

namespace wafer::study {
namespace {

using Key = const std::string& (*)(const Measurement&);

const std::string& model_of(const Measurement& m) { return m.model; }
const std::string& source_of(const Measurement& m) { return m.source; }

std::optional<Fold> fold_without(const std::string& left_out, Key key,
                                 const std::vector<Measurement>& rows,
                                 const machine::Wafer& machine, Workbench& bench) {
  std::vector<Measurement> kept, tested;
  for (const Measurement& m : rows) (key(m) == left_out ? tested : kept).push_back(m);
  if (!suffices(kept)) return std::nullopt;
  const Fit refit = fit(kept, machine, bench);
  Fold fold{
      .left_out = left_out, .rows = static_cast<int>(tested.size()), .constants = refit.constants};
  for (const Measurement& m : tested) {
    const plan::Plan plan = bench.skeleton(m.question, refit.machine);
    const double predict = predicted(m, estimate::streamed(plan, refit.machine));
    const double error = std::abs(predict / *m.expect - 1);
    fold.mean_error += error / fold.rows;
    fold.worst_error = std::max(fold.worst_error, error);
  }
  return fold;
}

double mean_of(const std::vector<Fold>& folds) {
  double sum = 0;
  for (const Fold& fold : folds) sum += fold.mean_error;
  return folds.empty() ? 0 : sum / static_cast<double>(folds.size());
}

}  // namespace

CrossValidation cross_validate(const std::vector<Measurement>& rows, const machine::Wafer& machine,
                               Workbench& bench, const Progress& progress) {
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
      if (auto fold = fold_without(part, key, rows, machine, bench)) all.push_back(*fold);
      if (progress) progress(++done, count);
    }
    return all;
  };
  CrossValidation cross;
  cross.by_model = folds(models, model_of);
  cross.by_source = folds(sources, source_of);
  cross.model_mean = mean_of(cross.by_model);
  cross.source_mean = mean_of(cross.by_source);
  return cross;
}

}  // namespace wafer::study
