#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "wafer/study/fit.h"

namespace wafer::study {
namespace {

// Four digits are more than a mean of a few errors is worth.
double rounded(double share) { return std::round(share * 1e4) / 1e4; }

bool is_of(const GroupError& g, const Coverage& c) {
  return g.machine == c.machine && g.phase == name_of(c.phase) && g.mode == written(c.mode);
}

// On models that the fit did not see; absent where none was left out.
std::optional<double> error_unseen(const std::vector<CrossValidation>& crosses, const Coverage& c) {
  for (const CrossValidation& cross : crosses) {
    const FitKind& kind = fit_kind_named(cross.kind);
    if (kind.mode != c.mode || kind.phase != c.phase) continue;
    double sum = 0;
    int models = 0;
    for (const Fold& fold : cross.by_model) {
      const auto error = fold.by_machine.find(c.machine);
      if (error == fold.by_machine.end()) continue;
      sum += error->second;
      ++models;
    }
    if (models > 0) return sum / models;
  }
  return std::nullopt;
}

double expected_error(const Validation& validation, const std::vector<CrossValidation>& crosses,
                      const Coverage& c) {
  for (const GroupError& g : validation.halves) {
    if (is_of(g, c) && g.half == Half::Held) return g.by_model;
  }
  if (const std::optional<double> unseen = error_unseen(crosses, c)) return *unseen;
  const auto group = std::find_if(validation.groups.begin(), validation.groups.end(),
                                  [&](const GroupError& g) { return is_of(g, c); });
  return group == validation.groups.end() ? 0 : group->by_model;
}

}  // namespace

std::vector<Coverage> coverage_of(const Validation& validation,
                                  const std::vector<CrossValidation>& crosses, Workbench& bench) {
  std::map<std::tuple<std::string, std::string, Phase>, Coverage> kinds;
  for (const Comparison& c : validation.rows) {
    if (!c.measurement.scored || !c.predicted) continue;
    const Situation& s = c.situation;
    Coverage& coverage = kinds[{s.machine, std::string(name_of(s.mode)), s.phase}];
    coverage.machine = s.machine;
    coverage.mode = s.mode;
    coverage.phase = s.phase;
    cover(coverage, s);
  }
  std::vector<Coverage> all;
  for (auto& [kind, coverage] : kinds) {
    coverage.numbers = fingerprint(bench.machine(coverage.machine));
    coverage.expected_error = rounded(expected_error(validation, crosses, coverage));
    all.push_back(coverage);
  }
  return all;
}

}  // namespace wafer::study
