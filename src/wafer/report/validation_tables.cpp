#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "wafer/base/human.h"
#include "wafer/machine/numbers.h"
#include "wafer/report/validation.h"

namespace wafer::report {
namespace {

using study::Comparison;
using study::Measurement;
using study::Validation;

constexpr auto Right = Align::Right;

// A value in the unit that the name of its quantity ends in.
Cell value_cell(std::optional<double> value, const std::string& predict) {
  if (!value) return "-";
  const std::string name = predict.substr(0, predict.find(':'));
  if (name.ends_with("flops_per_second")) return quantity(*value, "FLOP/s");
  if (name.ends_with("_per_second")) return {fmt::format("{:.4g} /s", *value), *value};
  if (name.ends_with("seconds")) return duration(*value);
  return quantity(*value, name.find("joules") == std::string::npos ? "" : "J");
}

std::vector<Cell> row_cells(const Comparison& c) {
  const Measurement& m = c.measurement;
  const auto count = [](int64_t n) { return Cell(fmt::format("{}", n), static_cast<double>(n)); };
  return {m.id,
          m.machine,
          m.model,
          m.phase,
          count(m.question.systems),
          m.question.seq ? count(*m.question.seq) : Cell(""),
          count(m.question.batch),
          m.predict,
          value_cell(c.predicted, m.predict),
          value_cell(m.expect, m.predict),
          c.error ? percent(*c.error, true) : Cell("-"),
          m.scored ? "yes" : "no"};
}

std::string shortened(const std::vector<std::string>& ids) {
  constexpr size_t Most = 12;
  std::string list =
      fmt::format("{}", fmt::join(ids.begin(), ids.begin() + std::min(Most, ids.size()), " "));
  return ids.size() > Most ? fmt::format("{} ... ({} rows)", list, ids.size()) : list;
}

}  // namespace

Table row_table(const Validation& v) {
  Table table{.columns = {{"id", "id"},
                          {"machine", "machine"},
                          {"model", "model"},
                          {"phase", "phase"},
                          {"systems", "systems", Right},
                          {"seq", "seq_len", Right},
                          {"batch", "batch", Right},
                          {"quantity", "predict"},
                          {"predicted", "predicted", Right},
                          {"measured", "measured", Right},
                          {"error", "error", Right},
                          {"scored", "scored"}},
              .rows = {}};
  for (const Comparison& c : v.rows) {
    if (c.predicted) table.rows.push_back(row_cells(c));
  }
  return table;
}

Table group_table(const Validation& v) {
  Table table{.columns = {{"machine", "machine"},
                          {"mode", "mode"},
                          {"phase", "phase"},
                          {"rows", "rows", Right},
                          {"predicted", "predicted", Right},
                          {"mean", "mean", Right},
                          {"by model", "by_model", Right},
                          {"repeats as one", "by_configuration", Right},
                          {"p90", "p90", Right},
                          {"worst", "worst", Right},
                          {"(id)", "worst_id"},
                          {"within 15 %", "within_15_percent", Right}},
              .rows = {}};
  const auto count = [](int n) { return Cell(fmt::format("{}", n), n); };
  for (const study::GroupError& g : v.groups) {
    if (g.predicted == 0) continue;  // named among the rows that are not predicted
    table.rows.push_back({g.machine, g.mode, g.phase, count(g.rows), count(g.predicted),
                          percent(g.mean), percent(g.by_model), percent(g.by_configuration),
                          percent(g.p90), percent(g.worst), g.worst_id, percent(g.within_15)});
  }
  return table;
}

Table half_table(const Validation& v) {
  Table table{.columns = {{"machine", "machine"},
                          {"mode", "mode"},
                          {"phase", "phase"},
                          {"half", "half"},
                          {"rows", "rows", Right},
                          {"predicted", "predicted", Right},
                          {"mean", "mean", Right},
                          {"by model", "by_model", Right},
                          {"worst", "worst", Right},
                          {"(id)", "worst_id"}},
              .rows = {}};
  const auto count = [](int n) { return Cell(fmt::format("{}", n), n); };
  for (const study::GroupError& g : v.halves) {
    if (g.predicted == 0) continue;
    table.rows.push_back({g.machine, g.mode, g.phase, std::string(study::name_of(*g.half)),
                          count(g.rows), count(g.predicted), percent(g.mean), percent(g.by_model),
                          percent(g.worst), g.worst_id});
  }
  return table;
}

Table reason_table(const Validation& v) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> ids;
  std::map<std::string, int> scored;
  for (const Comparison& c : v.rows) {
    if (c.predicted) continue;
    std::vector<std::string>& of_reason = ids[c.reason];
    if (of_reason.empty()) order.push_back(c.reason);
    of_reason.push_back(c.measurement.id);
    scored[c.reason] += c.measurement.scored ? 1 : 0;
  }
  Table table{.columns = {{"rows", "rows", Right},
                          {"scored", "scored", Right},
                          {"reason", "reason"},
                          {"ids", "ids"}},
              .rows = {}};
  for (const std::string& reason : order) {
    const auto rows = static_cast<double>(ids[reason].size());
    table.rows.push_back({Cell(fmt::format("{}", rows), rows),
                          Cell(fmt::format("{}", scored[reason]), scored[reason]), reason,
                          shortened(ids[reason])});
  }
  return table;
}

Table fold_table(const std::vector<study::Fold>& folds, const std::string& part) {
  Table table{.columns = {{part, "left_out"},
                          {"rows", "rows", Right},
                          {"mean error", "mean_error", Right},
                          {"worst", "worst_error", Right}},
              .rows = {}};
  for (const study::Fold& fold : folds) {
    table.rows.push_back({fold.left_out, Cell(fmt::format("{}", fold.rows), fold.rows),
                          percent(fold.mean_error), percent(fold.worst_error)});
  }
  return table;
}

Table repeat_table(const Validation& v) {
  std::map<std::string, std::vector<const Comparison*>> same;
  for (const Comparison& c : v.rows) {
    if (c.predicted && c.measurement.expect) same[configuration_of(c.measurement)].push_back(&c);
  }
  Table table{.columns = {{"machine", "machine"},
                          {"model", "model"},
                          {"seq", "seq_len", Right},
                          {"batch", "batch", Right},
                          {"quantity", "predict"},
                          {"measured", "measured"},
                          {"most / least", "spread", Right},
                          {"ids", "ids"}},
              .rows = {}};
  for (const auto& [configuration, rows] : same) {
    if (rows.size() < 2) continue;
    const Measurement& m = rows.front()->measurement;
    std::vector<std::string> values, ids;
    std::vector<double> measured;
    for (const Comparison* c : rows) {
      measured.push_back(*c->measurement.expect);
      values.push_back(value_cell(c->measurement.expect, m.predict).text);
      ids.push_back(c->measurement.id + (c->measurement.scored ? "" : " (not scored)"));
    }
    const auto [least, most] = std::minmax_element(measured.begin(), measured.end());
    table.rows.push_back({m.machine, m.model, fmt::format("{}", m.question.seq.value_or(0)),
                          fmt::format("{}", m.question.batch), m.predict,
                          fmt::format("{}", fmt::join(values, ", ")),
                          Cell(fmt::format("{:.3f}", *most / *least), *most / *least),
                          fmt::format("{}", fmt::join(ids, ", "))});
  }
  return table;
}

Table fitted_table(const study::FitKind& kind, const machine::Machine& machine) {
  Table table{.columns = {{"constant", "key"},
                          {"value", "value", Right},
                          {"is", "meaning"},
                          {"mark", "mark"}},
              .rows = {}};
  for (const machine::Number& n : machine::numbers(machine)) {
    const bool is_of = std::any_of(kind.constants.begin(), kind.constants.end(),
                                   [&](const study::FreeConstant& c) { return n.key == c.key; });
    if (!is_of) continue;
    table.rows.push_back({"`" + n.key + "`", quantity(n.value.at(0), n.unit), n.meaning,
                          std::string(machine::name_of(n.mark))});
  }
  return table;
}

Table constant_table(const std::vector<study::FittedConstant>& constants) {
  Table table{.columns = {{"constant", "key"},
                          {"in the file", "before", Right},
                          {"fitted", "value", Right}},
              .rows = {}};
  for (const study::FittedConstant& c : constants) {
    table.rows.push_back({c.key, Cell(fmt::format("{:.4g}", c.before), c.before),
                          Cell(fmt::format("{:.4g}", c.value), c.value)});
  }
  return table;
}

}  // namespace wafer::report
