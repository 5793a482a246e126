#include "wafer/study/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "wafer/base/error.h"
#include "wafer/machine/load.h"
#include "wafer/study/fit_kind.h"

namespace wafer::study {
namespace {

// A reason stands in one cell of a table.
std::string one_line(std::string text) {
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    const size_t next = std::min(text.find_first_not_of("\n ", at), text.size());
    text.replace(at, next - at, at > 0 && text[at - 1] == ':' ? " " : "; ");
  }
  return text;
}

bool is_path(const std::string& machine) {
  return machine.find('/') != std::string::npos || machine.ends_with(".toml");
}

// Says why a row cannot be asked at all.
class Gate {
 public:
  Gate() : names_(machine::names()) {}

  // Empty when the row can be asked.
  std::string refuse(const Measurement& m) const {
    if (m.predict.empty()) return "context: the row names nothing to predict";
    std::string machine = refuse_machine(m.machine);
    if (!machine.empty()) return machine;
    if (!m.mode.empty() && !mode_named(m.mode)) {
      return fmt::format("mode {}: not modelled in this version", m.mode);
    }
    if (m.model.empty()) return "the row names no model";
    const std::string quantity = refuse_quantity(m.predict);
    return quantity.empty() ? m.problem : quantity;
  }

 private:
  std::string refuse_machine(const std::string& name) const {
    if (name.empty()) return "the row names no machine";
    const bool is_named = std::find(names_.begin(), names_.end(), name) != names_.end();
    if (is_named || is_path(name)) return {};
    return fmt::format("machine {}: not among {}", name, fmt::join(names_, ", "));
  }

  std::vector<std::string> names_;
};

Comparison compare(const Measurement& m, const Gate& gate, Workbench& bench) {
  Comparison c;
  c.measurement = m;
  c.reason = gate.refuse(m);
  if (!c.reason.empty()) return c;
  try {
    Question question = m.question;
    if (std::holds_alternative<machine::Wafer>(bench.machine(question.machine))) {
      question.cluster = {};
    }
    const Result result = bench.answer(question);
    const double value = predicted(m, result.answer);
    if (std::isnan(value)) {
      c.reason = fmt::format("{}: no part of an answer for {}", m.predict, m.machine);
      return c;
    }
    c.predicted = value;
    c.situation = result.situation;
    c.extrapolated = result.extrapolated;
  } catch (const InputError& e) {
    c.reason = one_line(e.what());
  } catch (const CapacityError& e) {
    c.reason = one_line(e.what());
  }
  if (c.predicted && m.expect && *m.expect > 0) c.error = *c.predicted / *m.expect - 1;
  return c;
}

using Rows = std::vector<const Comparison*>;

double absolute_error(const Comparison& c) { return c.error ? std::abs(*c.error) : 1; }

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double mean_by_model(const Rows& rows) {
  std::map<std::string, std::vector<double>> errors;
  for (const Comparison* c : rows) errors[c->measurement.model].push_back(absolute_error(*c));
  std::vector<double> means;
  for (const auto& [model, of_model] : errors) means.push_back(mean(of_model));
  return mean(means);
}

// The mean error where rows of one configuration are one measurement, their average.
void set_by_configuration(GroupError& group, const Rows& rows) {
  std::map<std::string, Rows> same;
  for (const Comparison* c : rows) same[configuration_of(c->measurement)].push_back(c);
  std::vector<double> errors;
  for (const auto& [configuration, of_it] : same) {
    std::vector<double> measured;
    for (const Comparison* c : of_it) measured.push_back(c->measurement.expect.value_or(0));
    const std::optional<double> predicted = of_it.front()->predicted;
    errors.push_back(predicted ? std::abs(*predicted / mean(measured) - 1) : 1);
  }
  group.configurations = static_cast<int>(errors.size());
  group.by_configuration = mean(errors);
}

GroupError error_of(const Rows& rows) {
  const Measurement& first = rows.front()->measurement;
  GroupError group;
  group.machine = first.machine;
  group.mode = first.mode;
  group.phase = first.phase;
  group.rows = static_cast<int>(rows.size());
  std::vector<double> errors;
  for (const Comparison* c : rows) {
    errors.push_back(absolute_error(*c));
    group.predicted += c->predicted ? 1 : 0;
    group.within_15 += errors.back() <= 0.15 ? 1 : 0;
    if (errors.back() < group.worst && !group.worst_id.empty()) continue;
    group.worst = errors.back();
    group.worst_id = c->measurement.id;
  }
  group.within_15 /= static_cast<double>(rows.size());
  group.mean = mean(errors);
  std::sort(errors.begin(), errors.end());
  group.p90 = errors[static_cast<size_t>(0.9 * static_cast<double>(errors.size() - 1))];
  group.by_model = mean_by_model(rows);
  set_by_configuration(group, rows);
  return group;
}

}  // namespace

std::vector<GroupError> group_errors(const std::vector<Comparison>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, Rows> kinds;
  for (const Comparison& c : rows) {
    const Measurement& m = c.measurement;
    if (m.scored) kinds[{m.machine, m.mode, m.phase}].push_back(&c);
  }
  std::vector<GroupError> groups;
  for (const auto& [kind, of_kind] : kinds) groups.push_back(error_of(of_kind));
  return groups;
}

std::vector<GroupError> half_errors(const std::vector<Comparison>& rows) {
  std::map<std::tuple<std::string, std::string, std::string, Half>, Rows> kinds;
  for (const Comparison& c : rows) {
    const Measurement& m = c.measurement;
    const FitKind* kind = fit_kind_of(m);
    if (!m.scored || kind == nullptr || !kind->halved) continue;
    kinds[{m.machine, m.mode, m.phase, half_of(m.id)}].push_back(&c);
  }
  std::vector<GroupError> groups;
  for (const auto& [kind, of_kind] : kinds) {
    groups.push_back(error_of(of_kind));
    groups.back().half = std::get<Half>(kind);
  }
  return groups;
}

Validation validate(const std::vector<Measurement>& all, const std::string& file, Workbench& bench,
                    const Progress& progress) {
  const Gate gate;
  Validation result{.file = file, .rows = {}, .groups = {}, .halves = {}};
  for (const Measurement& m : all) {
    result.rows.push_back(compare(m, gate, bench));
    if (progress) progress(result.rows.size(), all.size());
  }
  result.groups = group_errors(result.rows);
  result.halves = half_errors(result.rows);
  return result;
}

}  // namespace wafer::study
