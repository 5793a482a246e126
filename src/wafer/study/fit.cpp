#include "wafer/study/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "wafer/base/error.h"
#include "wafer/study/nelder_mead.h"

namespace wafer::study {
namespace {

using machine::Machine;

constexpr int MostRounds = 5;

/// Rows of one configuration: one thing measured, perhaps several times.
struct Observation {
  Measurement row;  // the first of them
  double measured = 0;
  double weight = 0;
  size_t machine = 0;  // among those of the fit
  Planned planned;
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
    all.push_back({*of_it.front(), sum / static_cast<double>(of_it.size()), 0, 0, {}});
  }
  return all;
}

// Four digits: more would tell of a precision that measurements do not have.
double rounded(double value) {
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

/// The constants of a kind in its machines, and what they predict.
class Search {
 public:
  Search(const FitKind& kind, std::vector<Observation> all, std::vector<Machine> machines,
         Workbench& bench)
      : kind_(kind), all_(std::move(all)), machines_(std::move(machines)), bench_(bench) {
    for (Observation& o : all_) {
      const auto found = std::find_if(machines_.begin(), machines_.end(), [&](const Machine& m) {
        return machine::name_of(m) == o.row.machine;
      });
      WAFER_CHECK(found != machines_.end(), o.row.machine);
      o.machine = static_cast<size_t>(found - machines_.begin());
    }
  }

  /// Plans depend on the constants: they are made anew until they stay as they are.
  void run() {
    set(middle());
    replan();
    for (int round = 0; round < MostRounds; ++round) {
      set_weights();
      set_best();
      if (!replan()) break;
    }
  }

  const std::vector<Machine>& machines() const { return machines_; }
  int groups() const { return groups_; }

  double objective() const {
    double sum = 0;
    for (const Observation& o : all_) {
      const double predict = predicted(o.row, o.planned.price(machines_[o.machine]));
      const double error = std::hypot(std::log(predict / o.measured), kind_.tolerance);
      sum += o.weight * (error - kind_.tolerance);
    }
    return sum;
  }

 private:
  // Plans every observation anew; whether what a plan decides came out other than before.
  bool replan() {
    bool changed = false;
    for (Observation& o : all_) {
      Planned planned = bench_.planned(o.row.question, machines_[o.machine]);
      changed = changed || planned.choices != o.planned.choices;
      o.planned = std::move(planned);
    }
    return changed;
  }

  // Weights such that each group (or observation) counts as much as any other; they sum to 1.
  void set_weights() {
    std::map<std::pair<std::string, double>, std::vector<Observation*>> groups;
    for (Observation& o : all_) {
      const std::string& name = kind_.by_group ? o.row.model : o.row.id;
      groups[{name, o.planned.tokens_per_micro_batch}].push_back(&o);
    }
    for (const auto& [name, members] : groups) {
      for (Observation* o : members) {
        o->weight = 1.0 / static_cast<double>(groups.size() * members.size());
      }
    }
    groups_ = static_cast<int>(groups.size());
  }

  // In the space of the search, a constant is the logarithm of its value.
  void set(std::span<const double> at) {
    for (Machine& m : machines_) {
      for (size_t i = 0; i < at.size(); ++i) {
        const FreeConstant& c = kind_.constants[i];
        c.of(m) = std::clamp(std::exp(at[i]), c.least, c.most);
      }
    }
  }

  // How far outside what can be believed; 0 inside.
  double excess(std::span<const double> at) const {
    double sum = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      const FreeConstant& c = kind_.constants[i];
      sum += std::max(0.0, std::log(c.least) - at[i]) + std::max(0.0, at[i] - std::log(c.most));
    }
    return sum;
  }

  std::vector<double> middle() const {
    std::vector<double> at;
    for (const FreeConstant& c : kind_.constants) at.push_back(std::log(c.start));
    return at;
  }

  // The middle of what can be believed, and from there each constant alone lower or higher.
  std::vector<std::vector<double>> starts() const {
    std::vector<std::vector<double>> all = {middle()};
    for (size_t i = 0; i < kind_.constants.size(); ++i) {
      const double room = std::log(kind_.constants[i].most) - all[0][i];
      for (const double move : {-std::log(2.0), std::min(std::log(2.0), room)}) {
        all.push_back(all[0]);
        all.back()[i] += move;
      }
    }
    return all;
  }

  Minimum best_of_starts(const std::function<double(std::span<const double>)>& f) const {
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

  void set_best() {
    const Minimum found = best_of_starts([&](std::span<const double> at) {
      set(at);
      return objective() + excess(at);
    });
    set(found.at);
    for (Machine& m : machines_) {
      for (const FreeConstant& c : kind_.constants) c.of(m) = rounded(c.of(m));
    }
  }

  const FitKind& kind_;
  std::vector<Observation> all_;
  std::vector<Machine> machines_;
  Workbench& bench_;
  int groups_ = 0;
};

}  // namespace

FitKind only(FitKind kind, const Machine& machine) {
  kind.machines = {machine::name_of(machine)};
  return kind;
}

std::vector<Machine> machines_of(const FitKind& kind, Workbench& bench) {
  std::vector<Machine> all;
  for (const std::string& name : kind.machines) all.push_back(bench.machine(name));
  return all;
}

std::vector<Measurement> fit_rows(const std::vector<Measurement>& all, const FitKind& kind) {
  std::vector<Measurement> rows;
  for (const Measurement& m : all) {
    const bool fits = m.scored && kind.has(m) && m.problem.empty() && m.expect.value_or(0) > 0 &&
                      refuse_quantity(m.predict).empty();
    if (fits && !(kind.halved && half_of(m.id) == Half::Held)) rows.push_back(m);
  }
  return rows;
}

bool suffices(const std::vector<Measurement>& rows, const FitKind& kind) {
  return observations(rows).size() >= kind.constants.size();
}

Fit fit(const FitKind& kind, const std::vector<Measurement>& rows, std::vector<Machine> machines,
        Workbench& bench) {
  WAFER_CHECK(!machines.empty(), kind.name);
  std::vector<Observation> all = observations(rows);
  if (!suffices(rows, kind)) {
    throw InputError(fmt::format(
        "{} constants of {} cannot be fitted on {} measured configurations (scored, {}): give a "
        "file with more",
        kind.constants.size(), fmt::join(kind.machines, ", "), all.size(), kind.title));
  }
  Fit result{.kind = kind.name, .constants = {}, .machines = {}};
  result.measurements = static_cast<int>(all.size());
  Machine before = machines.front();
  Search search(kind, std::move(all), std::move(machines), bench);
  search.run();
  result.machines = search.machines();
  for (const FreeConstant& c : kind.constants) {
    result.constants.push_back({c.key, c.of(before), c.of(result.machines.front())});
  }
  result.groups = search.groups();
  result.objective = search.objective();
  return result;
}

}  // namespace wafer::study
