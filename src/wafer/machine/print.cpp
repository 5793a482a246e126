#include "wafer/machine/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "wafer/base/human.h"
#include "wafer/machine/figures.h"
#include "wafer/machine/numbers.h"

namespace wafer::machine {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

// Columns as wide as their widest cell, two blanks apart; the last one is left ragged.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += row.back() + "\n";
  }
  return text;
}

std::string shown_value(const Number& number) {
  if (!number.is_list) return human(number.value.front(), number.unit);
  return fmt::format("{} {}", fmt::join(number.value, ", "), number.unit);
}

Row row_of(const Number& number) {
  return {number.key, shown_value(number), std::string(name_of(number.mark)), number.source};
}

Row list_row(const Wafer& wafer) {
  return {wafer.name,
          human(static_cast<double>(usable_pes(wafer)), ""),
          human(wafer.clock.value.value, "Hz"),
          human(peak_flops(wafer, Arithmetic::F16).value, "FLOP/s"),
          human(sram_bytes(wafer).value, "B"),
          wafer.calibrated ? "yes" : "no",
          wafer.description};
}

std::string heading(const Wafer& wafer) {
  return fmt::format("{}: {}\n{}, {}; {}\n", wafer.name, wafer.description, wafer.generation,
                     wafer.process,
                     wafer.calibrated ? "training rates validated on measurements of it"
                                      : "not calibrated: no measurement of it validates its rates");
}

// Whole values print without a fraction; JSON makes no difference between them.
Json json_number(double value) {
  if (value == std::floor(value) && std::abs(value) < 0x1p53) return static_cast<int64_t>(value);
  return value;
}

Json json_of(const Number& number) {
  Json value = Json::array();
  for (const double v : number.value) value.push_back(json_number(v));
  return {{"value", number.is_list ? value : value.front()},
          {"unit", number.unit},
          {"mark", name_of(number.mark)},
          {"source", number.source}};
}

Json head_of(const Wafer& wafer) {
  return {{"name", wafer.name},
          {"kind", "wafer"},
          {"description", wafer.description},
          {"generation", wafer.generation},
          {"process", wafer.process},
          {"calibrated", wafer.calibrated}};
}

Json json_of(const Machine& machine) {
  Json json = std::visit([](const auto& kind) { return head_of(kind); }, machine);
  for (const Number& number : numbers(machine)) json["numbers"][number.key] = json_of(number);
  for (const Number& figure : figures(machine)) {
    json["figures"][figure.key] = {{"value", json_number(figure.value.front())},
                                   {"unit", figure.unit},
                                   {"formula", figure.source}};
  }
  return json;
}

// A file's name need not be UTF-8.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string print_list(std::span<const Machine> machines) {
  std::vector<Row> rows = {
      {"name", "PEs", "clock", "peak f16", "memory", "calibrated", "description"}};
  for (const Machine& machine : machines) {
    rows.push_back(std::visit([](const auto& kind) { return list_row(kind); }, machine));
  }
  return aligned(rows);
}

std::string print_text(const Machine& machine) {
  std::vector<Row> rows = {{"key", "value", "mark", "source"}};
  for (const Number& number : numbers(machine)) rows.push_back(row_of(number));
  for (const Number& figure : figures(machine)) rows.push_back(row_of(figure));
  return std::visit([](const auto& kind) { return heading(kind); }, machine) + "\n" + aligned(rows);
}

std::string print_json(const Machine& machine) { return dump(json_of(machine)); }

std::string print_json(std::span<const Machine> machines) {
  Json all = Json::array();
  for (const Machine& machine : machines) all.push_back(json_of(machine));
  return dump(all);
}

}  // namespace wafer::machine
