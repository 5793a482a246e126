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

Row list_row(const GpuCluster& cluster) {
  const Gpu& gpu = cluster.gpu;
  return {cluster.name,
          fmt::format("{} GPUs a node", cluster.node.gpus.value),
          human(static_cast<double>(gpu.multiprocessors.value), ""),
          human(gpu.f16.value.value, "FLOP/s"),
          human(gpu.memory.value.value, "B"),
          cluster.calibrated ? "yes" : "no",
          cluster.description};
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

template <typename M>
std::string heading(const M& machine) {
  return fmt::format("{}: {}\n{}, {}; {}\n", machine.name, machine.description, machine.generation,
                     machine.process,
                     machine.calibrated
                         ? "training rates validated on measurements of it"
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

template <typename M>
Json head_of(const M& machine) {
  return {{"name", machine.name},
          {"kind", std::is_same_v<M, Wafer> ? "wafer" : "gpu"},
          {"description", machine.description},
          {"generation", machine.generation},
          {"process", machine.process},
          {"calibrated", machine.calibrated}};
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
  std::vector<Row> wafers = {
      {"name", "PEs", "clock", "peak f16", "memory", "calibrated", "description"}};
  std::vector<Row> clusters = {
      {"name", "node", "SMs", "peak f16", "memory", "calibrated", "description"}};
  for (const Machine& machine : machines) {
    std::vector<Row>& rows = std::holds_alternative<Wafer>(machine) ? wafers : clusters;
    rows.push_back(std::visit([](const auto& kind) { return list_row(kind); }, machine));
  }
  std::string text = wafers.size() > 1 ? aligned(wafers) : "";
  if (clusters.size() > 1) text += (text.empty() ? "" : "\n") + aligned(clusters);
  return text;
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
