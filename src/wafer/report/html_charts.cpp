#include "wafer/report/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "wafer/base/human.h"
#include "wafer/machine/figures.h"
#include "wafer/report/answer.h"
#include "wafer/report/typeset.h"

namespace wafer::report {
namespace {

using study::CompareRow;
using study::Result;

constexpr std::array<Rate, 3> Rates = {
    Rate{"samples/s", "samples_per_second",
         [](const Result& r) { return std::optional<double>(r.answer.samples_per_second); }},
    Rate{"prefill tokens/s", "prefill_tokens_per_second",
         [](const Result& r) { return r.answer.prefill_tokens_per_second; }},
    Rate{"decode tokens/s", "decode_tokens_per_second",
         [](const Result& r) { return r.answer.decode_tokens_per_second; }}};

constexpr std::array Bounds = {estimate::Bound::Compute,   estimate::Bound::Weights,
                               estimate::Bound::Gradients, estimate::Bound::LayerOverhead,
                               estimate::Bound::Memory,    estimate::Bound::Network};

std::string words_of(estimate::Bound bound) {
  std::string words(estimate::name_of(bound));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

size_t place_of(std::string_view bound) {
  const auto found = std::find_if(Bounds.begin(), Bounds.end(),
                                  [&](estimate::Bound b) { return estimate::name_of(b) == bound; });
  return static_cast<size_t>(found - Bounds.begin());
}

double power_below(double value) { return std::pow(10, std::floor(std::log10(value))); }

}  // namespace

std::vector<Rate> rates_of(const Result& result) {
  std::vector<Rate> all;
  for (const Rate& rate : Rates) {
    if (rate.of(result)) all.push_back(rate);
  }
  return all;
}

std::optional<LineChart> throughput_chart(const study::Dossier& d, const Rate& rate) {
  LineChart chart{.title = fmt::format("{} against the batch", rate.name),
                  .about = {},
                  .x = {.name = "batch (samples of a step)", .unit = ""},
                  .y = {.name = rate.name, .unit = ""},
                  .series = {}};
  size_t most = 0;
  for (const study::BatchCurve& curve : d.curves) {
    Series series{.name = curve.name, .points = {}};
    for (const study::Attempt& a : curve.points) {
      const auto value = a.result ? rate.of(*a.result) : std::nullopt;
      if (!value) continue;
      series.points.emplace_back(static_cast<double>(a.question.batch), *value);
      series.error = a.result->expected_error.value_or(0);
    }
    most = std::max(most, series.points.size());
    if (series.points.empty()) continue;
    chart.about += fmt::format(
        "{}{}: from {} at batch {} to {} at batch {}.", chart.about.empty() ? "" : " ", curve.name,
        grouped(series.points.front().second), grouped(series.points.front().first),
        grouped(series.points.back().second), grouped(series.points.back().first));
    for (const auto& [x, y] : series.points) {
      if (std::find(chart.x.ticks.begin(), chart.x.ticks.end(), x) == chart.x.ticks.end()) {
        chart.x.ticks.push_back(x);
      }
    }
    chart.series.push_back(std::move(series));
  }
  std::sort(chart.x.ticks.begin(), chart.x.ticks.end());
  return most < 2 ? std::nullopt : std::optional(chart);
}

std::optional<LineChart> roofline_chart(const study::Dossier& d) {
  const auto* wafer = std::get_if<machine::Wafer>(&d.machine);
  const estimate::Roofline& r = d.result.answer.roofline;
  const bool is_whole = r.on_wafer_intensity > 0 && r.off_wafer_intensity > 0 &&
                        std::isfinite(r.off_wafer_intensity) && r.attained.value > 0;
  if (wafer == nullptr || !is_whole) return std::nullopt;
  const auto systems = static_cast<double>(d.result.question.systems);
  const double sram = machine::sram_bandwidth(*wafer).value * systems;
  const double edge = machine::edge_bandwidth(*wafer).value * systems;
  const double peak = r.peak.value;

  Series layers{.name = "layers", .points = {}, .style = Series::Style::Marks};
  for (const estimate::LayerCost& l : d.result.answer.layers) {
    if (!(l.flops.value > 0 && l.bytes.value > 0 && l.seconds.value > 0)) continue;
    layers.points.emplace_back(l.flops / Flops(l.bytes.value),
                               l.flops.value / l.seconds.value * systems);
    layers.words.push_back(fmt::format("{}, {}", l.name, ir::name_of(l.phase)));
  }
  double low = r.attained.value, first = r.on_wafer_intensity, last = r.off_wafer_intensity;
  for (const auto& [x, y] : layers.points) {
    low = std::min(low, y), first = std::min(first, x), last = std::max(last, x);
  }
  low = power_below(std::min(low, peak / 20));  // enough for a logarithmic axis
  last = std::max(last, peak / edge) * 4;
  first = std::min(first, peak / sram) / 4;
  const auto roof = [&](const std::string& name, double bandwidth) {
    const double from = std::max(first, low / bandwidth);
    return Series{.name = fmt::format("{} {}", name, human(bandwidth, "B/s")),
                  .points = {{from, from * bandwidth}, {peak / bandwidth, peak}},
                  .style = Series::Style::Line};
  };
  return LineChart{
      .title = "Roofline",
      .about = fmt::format(
          "The step attains {} of a peak of {}: {} of SRAM traffic, {} over the edge.",
          human(r.attained.value, "FLOP/s"), human(peak, "FLOP/s"),
          human(r.on_wafer_intensity, "FLOP/B"), human(r.off_wafer_intensity, "FLOP/B")),
      .x = {.name = "arithmetic intensity", .unit = "FLOP/B", .range = {{first, last}}},
      .y = {.name = "rate", .unit = "FLOP/s", .range = {{low, peak * 2}}},
      .series = {{.name = "peak " + human(peak, "FLOP/s"),
                  .points = {{peak / sram, peak}, {last, peak}},
                  .style = Series::Style::Line},
                 roof("SRAM", sram),
                 roof("edge", edge),
                 {.name = "step",
                  .points = {{r.on_wafer_intensity, r.attained.value},
                             {r.off_wafer_intensity, r.attained.value}},
                  .style = Series::Style::Marks,
                  .words = {"step, SRAM traffic", "step, edge traffic"}},
                 layers}};
}

std::optional<BarChart> time_chart(const Result& result) {
  const Table table = time_table(result);
  if (table.rows.empty()) return std::nullopt;
  const auto column = [&](std::string_view key) {
    return static_cast<size_t>(std::find_if(table.columns.begin(), table.columns.end(),
                                            [&](const Column& c) { return c.key == key; }) -
                               table.columns.begin());
  };
  const size_t phase = column("phase"), seconds = column("seconds"), share = column("share");
  const size_t bound = column("bound"), none = table.columns.size();
  BarChart chart{.title = "Where the time of a step goes",
                 .about = "A bar for each row of the table below.",
                 .unit = "s",
                 .kinds = {},
                 .bars = {}};
  if (bound != none) {
    for (const estimate::Bound b : Bounds) chart.kinds.push_back("limited by " + words_of(b));
  }
  for (const std::vector<Cell>& row : table.rows) {
    std::string name = row[0].text;
    if (phase != none && !row[phase].text.empty()) name += ", " + row[phase].text;
    chart.bars.push_back({.name = name,
                          .parts = {{.kind = bound == none ? 0 : place_of(row[bound].text),
                                     .value = row[seconds].value.value_or(0)}},
                          .words = fmt::format("{}  {}", row[seconds].text, row[share].text)});
  }
  return chart;
}

std::optional<BarChart> memory_chart(const Result& result) {
  const estimate::Memory& m = result.answer.memory;
  BarChart chart{.title = "Memory in use",
                 .about = "Each bar is a place; its track is the capacity.",
                 .unit = "",
                 .kinds = {"weights", "gradients", "optimizer state", "activations", "workspace"},
                 .bars = {}};
  const auto add = [&](const char* place, Bytes capacity, const std::array<Bytes, 5>& parts) {
    Bytes sum;
    for (const Bytes b : parts) sum += b;
    if (!(capacity.value > 0 && sum.value > 0)) return;
    BarChart::Bar bar{.name = place, .parts = {}, .words = {}, .limit = 1.0};
    for (size_t kind = 0; kind < parts.size(); ++kind) {
      bar.parts.push_back(
          {.kind = kind,
           .value = parts[kind] / capacity,
           .words = fmt::format("{}: {}", chart.kinds[kind], human(parts[kind].value, "B"))});
    }
    bar.words = fmt::format("{} of {}", human(sum.value, "B"), human(capacity.value, "B"));
    chart.bars.push_back(std::move(bar));
  };
  if (result.answer.cluster) {
    add("GPU", result.answer.cluster->gpu_capacity,
        {m.weights, m.gradients, m.optimizer_state, m.activations, m.workspace});
  } else {
    add("wafer", m.wafer_capacity,
        {Bytes(), Bytes(), Bytes(), m.activations_on_wafer, m.workspace});
    const Bytes state = m.store_total - m.weights;
    add("weight store", m.store_capacity, {m.weights, Bytes(), state, Bytes(), Bytes()});
  }
  return chart.bars.empty() ? std::nullopt : std::optional(chart);
}

std::optional<BarChart> compare_chart(const std::vector<CompareRow>& rows) {
  BarChart chart{.title = "Samples/s of each machine",
                 .about = "Whiskers are the expected error, where it is known.",
                 .unit = "",
                 .kinds = {},
                 .bars = {}};
  for (const CompareRow& row : rows) {
    if (!row.attempt.result) continue;
    const Result& r = *row.attempt.result;
    chart.bars.push_back({.name = row.contender.text,
                          .parts = {{.value = r.answer.samples_per_second}},
                          .words = fmt::format("{}  {:.3g}x", grouped(r.answer.samples_per_second),
                                               row.ratio.value_or(1)),
                          .error = r.expected_error.value_or(0)});
  }
  return rows.size() < 2 || chart.bars.empty() ? std::nullopt : std::optional(chart);
}

}  // namespace wafer::report
