#include "wafer/study/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "wafer/base/error.h"
#include "wafer/estimate/streamed.h"
#include "wafer/study/nelder_mead.h"

namespace wafer::study {
namespace {

using machine::Fitted;
using machine::Wafer;

/// A constant that may be moved, within what can be believed of it, from where a search starts.
struct Free {
  const char* key;
  double least, start, most;
  double& (*of)(Wafer&);
};

constexpr std::array FreeConstants = {
    Free{"fitted.product_efficiency", 0.05, 0.7, 1,
         [](Wafer& w) -> double& { return w.fitted.product_efficiency.value; }},
    Free{"fitted.pass_seconds", 1e-5, 1e-3, 1e-1,
         [](Wafer& w) -> double& { return w.fitted.pass_time.value.value; }},
    Free{"fitted.score_cycles", 1, 100, 1e4,
         [](Wafer& w) -> double& { return w.fitted.score_cycles.value.value; }},
    Free{"fitted.step_seconds", 1e-4, 1e-2, 1,
         [](Wafer& w) -> double& { return w.fitted.step_time.value.value; }},
};
constexpr size_t Count = FreeConstants.size();
constexpr int MostRounds = 5;

/// Rows of one configuration: one thing measured, perhaps several times.
struct Observation {
  Measurement row;  // the first of them
  double measured = 0;
  double weight = 0;
  plan::Plan plan;
};

std::vector<Observation> observations(const std::vector<Measurement>& rows) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Measurement*>> same;
  for (const Measurement& m : rows) {
    std::vector<const Measurement*>& of_it = same[configuration_of(m)];
    if (of_it.empty()) order.push_back(configuration_of(m));
    of_it.push_back(&m);
  }
  std::vector<Observation> all;
  for (const std::string& configuration : order) {
    const std::vector<const Measurement*>& of_it = same[configuration];
    double sum = 0;
    for (const Measurement* m : of_it) sum += m->expect.value_or(0);
    all.push_back({*of_it.front(), sum / static_cast<double>(of_it.size()), 0, {}});
  }
  return all;
}

// Plans every observation anew; whether a micro-batch or recompute came out other than before.
bool replan(std::vector<Observation>& all, const Wafer& machine, Workbench& bench) {
  bool changed = false;
  for (Observation& o : all) {
    plan::Plan plan = bench.skeleton(o.row.question, machine);
    changed = changed || plan.micro_batch != o.plan.micro_batch ||
              plan.recompute != o.plan.recompute || plan.spilled != o.plan.spilled;
    o.plan = std::move(plan);
  }
  return changed;
}

// Weights such that each group counts as much as any other and all of them sum to 1.
int set_weights(std::vector<Observation>& all) {
  std::map<std::pair<std::string, int64_t>, std::vector<Observation*>> groups;
  for (Observation& o : all) {
    groups[{o.row.model, o.plan.micro_batch * o.plan.tokens_per_sample}].push_back(&o);
  }
  for (const auto& [name, members] : groups) {
    for (Observation* o : members) {
      o->weight = 1.0 / static_cast<double>(groups.size() * members.size());
    }
  }
  return static_cast<int>(groups.size());
}

// In the space of the search, a constant is the logarithm of its value.
void set_constants(Wafer& machine, std::span<const double> at) {
  for (size_t i = 0; i < Count; ++i) {
    const Free& c = FreeConstants[i];
    c.of(machine) = std::clamp(std::exp(at[i]), c.least, c.most);
  }
}

// How far outside what can be believed; 0 inside.
double excess(std::span<const double> at) {
  double sum = 0;
  for (size_t i = 0; i < Count; ++i) {
    const Free& c = FreeConstants[i];
    sum += std::max(0.0, std::log(c.least) - at[i]) + std::max(0.0, at[i] - std::log(c.most));
  }
  return sum;
}

double objective(const std::vector<Observation>& all, const Wafer& machine) {
  double sum = 0;
  for (const Observation& o : all) {
    const double predict = predicted(o.row, estimate::streamed(o.plan, machine));
    sum += o.weight * std::abs(std::log(predict / o.measured));
  }
  return sum;
}

std::vector<double> middle() {
  std::vector<double> at;
  for (const Free& c : FreeConstants) at.push_back(std::log(c.start));
  return at;
}

// The middle of what can be believed, and from there each constant alone lower or higher.
std::vector<std::vector<double>> starts() {
  std::vector<std::vector<double>> all = {middle()};
  for (size_t i = 0; i < Count; ++i) {
    const double room = std::log(FreeConstants[i].most) - all[0][i];
    for (const double move : {-std::log(2.0), std::min(std::log(2.0), room)}) {
      all.push_back(all[0]);
      all.back()[i] += move;
    }
  }
  return all;
}

Minimum best_of_starts(const std::function<double(std::span<const double>)>& f) {
  Minimum best;
  for (const std::vector<double>& start : starts()) {
    Minimum found = nelder_mead(f, start);
    if (best.at.empty() || found.value < best.value) best = std::move(found);
  }
  // The search may have ended on an edge between two kinks: it goes on from there, twice.
  for (const double step : {0.1, 0.02}) {
    Minimum again = nelder_mead(f, best.at, {.first_step = step});
    if (again.value < best.value) best = std::move(again);
  }
  return best;
}

// Four digits: more would tell of a precision that measurements do not have.
double rounded(double value) {
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

void set_best_constants(Wafer& machine, const std::vector<Observation>& all) {
  const Minimum found = best_of_starts([&](std::span<const double> at) {
    set_constants(machine, at);
    return objective(all, machine) + excess(at);
  });
  set_constants(machine, found.at);
  for (const Free& c : FreeConstants) c.of(machine) = rounded(c.of(machine));
}

}  // namespace

std::vector<Measurement> fit_rows(const std::vector<Measurement>& all, const std::string& machine) {
  std::vector<Measurement> rows;
  for (const Measurement& m : all) {
    const bool fits = m.scored && m.machine == machine && m.mode == "streamed" &&
                      m.phase == "train" && m.problem.empty() && m.expect.value_or(0) > 0;
    if (fits && refuse_quantity(m.predict).empty()) rows.push_back(m);
  }
  return rows;
}

bool suffices(const std::vector<Measurement>& rows) { return observations(rows).size() >= Count; }

Fit fit(const std::vector<Measurement>& rows, const Wafer& machine, Workbench& bench) {
  std::vector<Observation> all = observations(rows);
  if (!suffices(rows)) {
    throw InputError(fmt::format(
        "{} constants of {} cannot be fitted on {} measured configurations (scored, streamed, "
        "training): give a file with more",
        Count, machine.name, all.size()));
  }
  Fit result;
  result.machine = machine;
  result.measurements = static_cast<int>(all.size());
  set_constants(result.machine, middle());
  replan(all, result.machine, bench);
  // Plans depend on the constants: they are made anew until they stay as they are.
  for (int round = 0; round < MostRounds; ++round) {
    result.groups = set_weights(all);
    set_best_constants(result.machine, all);
    if (!replan(all, result.machine, bench)) break;
  }
  Wafer before = machine;
  for (const Free& c : FreeConstants) {
    result.constants.push_back({c.key, c.of(before), c.of(result.machine)});
  }
  result.objective = objective(all, result.machine);
  return result;
}

}  // namespace wafer::study
