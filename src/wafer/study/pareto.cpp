#include "wafer/study/pareto.h"

#include <fmt/format.h>

#include <algorithm>

#include "wafer/base/error.h"
#include "wafer/base/nearest.h"

namespace wafer::study {
namespace {

size_t column_named(const std::vector<SweepColumn>& columns, const std::string& name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
    if (columns[i].better != Better::Neither) names.push_back(columns[i].name);
  }
  if (name == "cost_usd") {
    throw InputError("--pareto cost_usd: no costs without prices, as in --price h100=2.5");
  }
  const std::string meant = nearest(name, names);
  throw InputError(fmt::format("--pareto: no key \"{}\"{}; there are {}", name,
                               meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
                               fmt::join(names, ", ")));
}

// Of two rows of costs.
bool beats_or_equals(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
  }
  return true;
}

}  // namespace

ParetoFront::ParetoFront(const std::vector<SweepColumn>& columns,
                         const std::vector<std::string>& objectives) {
  if (objectives.size() < 2) {
    throw InputError(fmt::format(
        "--pareto: expected two keys or more, as in samples_per_second,energy_joules_per_sample, "
        "found {}",
        objectives.empty() ? "none" : objectives[0]));
  }
  for (const std::string& name : objectives) {
    const size_t at = column_named(columns, name);
    const Better better = columns[at].better;
    if (better == Better::Neither) {
      throw InputError(fmt::format("--pareto {}: neither more nor less of it is better", name));
    }
    if (std::find(at_.begin(), at_.end(), at) != at_.end()) {
      throw InputError(fmt::format("--pareto: {} is named twice", name));
    }
    at_.push_back(at);
    signs_.push_back(better == Better::More ? -1 : 1);
  }
}

void ParetoFront::add(const SweepRow& row) {
  std::vector<double> costs;
  for (size_t i = 0; i < at_.size(); ++i) {
    const std::optional<double> value = number_of(row.values[at_[i]]);
    if (!value) return;
    costs.push_back(signs_[i] * *value);
  }
  for (const std::vector<double>& other : costs_) {
    if (beats_or_equals(other, costs)) return;
  }
  size_t kept = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (beats_or_equals(costs, costs_[i])) continue;
    if (kept != i) {
      rows_[kept] = std::move(rows_[i]);
      costs_[kept] = std::move(costs_[i]);
    }
    ++kept;
  }
  rows_.resize(kept);
  costs_.resize(kept);
  rows_.push_back(row);
  costs_.push_back(std::move(costs));
}

}  // namespace wafer::study
