#include "wafer/report/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "wafer/base/error.h"
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

namespace {

std::optional<LineChart> gpu_roofline(const study::Dossier& d, const machine::GpuCluster& cluster) {
  const estimate::Roofline& r = d.result.answer.roofline;
  if (!(r.on_wafer_intensity > 0 && r.attained.value > 0)) return std::nullopt;
  const auto gpus = static_cast<double>(d.result.question.systems);
  const double peak = r.peak.value / gpus, attained = r.attained.value / gpus;
  const double memory = cluster.gpu.memory_bandwidth.value.value;
  Series layers{.name = "layers", .points = {}, .style = Series::Style::Marks};
  for (const estimate::LayerCost& l : d.result.answer.layers) {
    if (!(l.flops.value > 0 && l.memory_bytes.value > 0 && l.seconds.value > 0)) continue;
    layers.points.emplace_back(l.flops / Flops(l.memory_bytes.value),
                               l.flops.value / l.seconds.value);
    layers.words.push_back(fmt::format("{}, {}", l.name, ir::name_of(l.phase)));
  }
  double low = attained, first = std::min(r.on_wafer_intensity, peak / memory), last = first;
  for (const auto& [x, y] : layers.points) {
    low = std::min(low, y), first = std::min(first, x), last = std::max(last, x);
  }
  low = power_below(std::min(low, peak / 30));
  last = std::max({last, r.on_wafer_intensity, peak / memory}) * 8;
  first = std::min(first / 8, low / memory);
  return LineChart{
      .title = "Roofline of a GPU",
      .about = fmt::format("Each GPU attains {} of a peak of {}, at {} of traffic through its "
                           "memory.",
                           human(attained, "FLOP/s"), human(peak, "FLOP/s"),
                           human(r.on_wafer_intensity, "FLOP/B")),
      .x = {.name = "arithmetic intensity", .unit = "FLOP/B", .range = {{first, last}}},
      .y = {.name = "rate of a GPU", .unit = "FLOP/s", .range = {{low, peak * 2}}},
      .series = {{.name = "peak " + human(peak, "FLOP/s"),
                  .points = {{peak / memory, peak}, {last, peak}},
                  .style = Series::Style::Line},
                 {.name = "memory " + human(memory, "B/s"),
                  .points = {{std::max(first, low / memory), std::max(first * memory, low)},
                             {peak / memory, peak}},
                  .style = Series::Style::Line},
                 {.name = "step",
                  .points = {{r.on_wafer_intensity, attained}},
                  .style = Series::Style::Marks,
                  .words = {"step"}},
                 layers}};
}

}  // namespace

std::optional<LineChart> roofline_chart(const study::Dossier& d) {
  if (const auto* cluster = std::get_if<machine::GpuCluster>(&d.machine)) {
    return gpu_roofline(d, *cluster);
  }
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

namespace {

// A bar for each row of a table, as long as its column `seconds`.
BarChart bars_of(const Table& table, std::string title, std::string_view seconds,
                 std::string_view share) {
  const auto column = [&](std::string_view key) {
    return static_cast<size_t>(std::find_if(table.columns.begin(), table.columns.end(),
                                            [&](const Column& c) { return c.key == key; }) -
                               table.columns.begin());
  };
  const size_t phase = column("phase"), bound = column("bound"), none = table.columns.size();
  const size_t time = column(seconds), part = column(share);
  WAFER_CHECK(time != none && part != none, "a table of times has no such column");
  BarChart chart{.title = std::move(title),
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
                                     .value = row[time].value.value_or(0)}},
                          .words = fmt::format("{} · {}", row[time].text, row[part].text)});
  }
  return chart;
}

// A bar a layer and phase: what its launches and exchanges take on one GPU.
BarChart gpu_layers(const Result& result) {
  BarChart chart{.title = "By layer, on one GPU",
                 .about = "A bar for each layer and phase, all of a step.",
                 .unit = "s",
                 .kinds = {"products and attention", "passes over memory", "between GPUs"},
                 .bars = {}};
  for (const estimate::LayerCost& l : result.answer.layers) {
    chart.bars.push_back({.name = fmt::format("{}, {}", l.name, ir::name_of(l.phase)),
                          .parts = {{.kind = 0, .value = l.compute.value},
                                    {.kind = 1, .value = l.activations.value},
                                    {.kind = 2, .value = l.exchange.value}},
                          .words = human(l.seconds.value, "s")});
  }
  return chart;
}

/// Places as bars, each filled up to its share of the capacity.
class Fill {
 public:
  explicit Fill(std::vector<std::string> kinds) {
    chart_.title = "Memory in use";
    chart_.about = "Each bar is a place; its track is the capacity.";
    chart_.kinds = std::move(kinds);
  }

  /// Bytes of each kind; nothing where there are none.
  void add(const char* place, Bytes capacity, const std::vector<Bytes>& parts) {
    Bytes sum;
    for (const Bytes b : parts) sum += b;
    if (!(capacity.value > 0 && sum.value > 0)) return;
    BarChart::Bar bar{.name = place, .parts = {}, .words = {}, .limit = 1.0};
    for (size_t kind = 0; kind < parts.size(); ++kind) {
      bar.parts.push_back(
          {.kind = kind,
           .value = parts[kind] / capacity,
           .words = fmt::format("{}: {}", chart_.kinds[kind], human(parts[kind].value, "B"))});
    }
    bar.words = fmt::format("{} of {}", human(sum.value, "B"), human(capacity.value, "B"));
    chart_.bars.push_back(std::move(bar));
  }

  std::optional<BarChart> chart() const {
    return chart_.bars.empty() ? std::nullopt : std::optional(chart_);
  }

 private:
  BarChart chart_;
};

}  // namespace

std::vector<BarChart> time_charts(const Result& result) {
  const Table table = time_table(result);
  if (table.rows.empty()) return {};
  if (const auto& parts = result.answer.resident) {
    std::vector<BarChart> all = {
        bars_of(table, "Prefill: a prompt", "prefill_seconds", "prefill_share")};
    if (parts->times.decode) {
      all.push_back(bars_of(table, "Decode: one token", "decode_seconds", "decode_share"));
    }
    return all;
  }
  std::vector<BarChart> all = {bars_of(
      table,
      result.answer.cluster ? "By kind of work, on one GPU" : "Where the time of a step goes",
      "seconds", "share")};
  if (result.answer.cluster && !result.answer.layers.empty()) all.push_back(gpu_layers(result));
  return all;
}

std::optional<BarChart> memory_chart(const Result& result) {
  const estimate::Memory& m = result.answer.memory;
  if (const auto& parts = result.answer.resident) {
    const auto layers = static_cast<double>(parts->placed.layers_of_fullest());
    const Bytes weights(parts->placed.weight_bytes * layers);
    const Bytes cache(parts->placed.cache_bytes * layers);
    Fill fill({"weights of its layers", "keys and values", "head"});
    fill.add("fullest PE", parts->pe_capacity,
             {weights, cache, std::max(Bytes(), parts->pe_used - weights - cache)});
    return fill.chart();
  }
  Fill fill({"weights", "gradients", "optimizer state", "activations", "workspace"});
  if (result.answer.cluster) {
    fill.add("GPU", result.answer.cluster->gpu_capacity,
             {m.weights, m.gradients, m.optimizer_state, m.activations, m.workspace});
  } else if (result.answer.pipelined) {
    fill.add("wafer", m.wafer_capacity,
             {m.weights, m.gradients, m.optimizer_state, m.activations, Bytes()});
  } else {
    fill.add("wafer", m.wafer_capacity,
             {Bytes(), Bytes(), Bytes(), m.activations_on_wafer, m.workspace});
    const Bytes state = m.store_total - m.weights;
    fill.add("weight store", m.store_capacity, {m.weights, Bytes(), state, Bytes(), Bytes()});
  }
  return fill.chart();
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
    chart.bars.push_back(
        {.name = row.contender.text,
         .parts = {{.value = r.answer.samples_per_second}},
         .words =
             fmt::format("{} · {:.3g}x{}", grouped(r.answer.samples_per_second),
                         row.ratio.value_or(1), r.extrapolated.empty() ? "" : " · extrapolated"),
         .error = r.expected_error.value_or(0)});
  }
  return rows.size() < 2 || chart.bars.empty() ? std::nullopt : std::optional(chart);
}

}  // namespace wafer::report
