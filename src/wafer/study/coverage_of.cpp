#include <cmath>
#include <map>
#include <tuple>

#include "wafer/study/fit.h"

namespace wafer::study {
namespace {

// Four digits are more than a mean of a few errors is worth.
double rounded(double share) { return std::round(share * 1e4) / 1e4; }

}  // namespace

std::vector<Coverage> coverage_of(const Validation& validation, const CrossValidation& cross,
                                  const std::string& fitted_machine, Workbench& bench) {
  std::map<std::tuple<std::string, std::string, Phase>, Coverage> kinds;
  for (const Comparison& c : validation.rows) {
    if (!c.measurement.scored || !c.predicted) continue;
    const Situation& s = c.situation;
    if (s.mode == Mode::Cluster) continue;  // coverage is of wafers
    Coverage& coverage = kinds[{s.machine, std::string(name_of(s.mode)), s.phase}];
    coverage.machine = s.machine;
    coverage.mode = s.mode;
    coverage.phase = s.phase;
    cover(coverage, s);
  }
  std::vector<Coverage> all;
  for (auto& [kind, coverage] : kinds) {
    coverage.numbers = fingerprint(bench.machine(coverage.machine));
    const bool fitted = coverage.machine == fitted_machine && coverage.phase == Phase::Train;
    for (const GroupError& g : validation.groups) {
      const bool same = g.machine == coverage.machine && g.phase == name_of(coverage.phase) &&
                        g.mode == name_of(coverage.mode);
      if (same) coverage.expected_error = rounded(fitted ? cross.model_mean : g.by_model);
    }
    all.push_back(coverage);
  }
  return all;
}

}  // namespace wafer::study
