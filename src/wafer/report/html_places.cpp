#include <fmt/format.h>

#include "wafer/base/human.h"
#include "wafer/report/answer.h"
#include "wafer/report/html_charts.h"
#include "wafer/report/html_sections.h"
#include "wafer/report/pipelined.h"
#include "wafer/report/typeset.h"
#include "wafer/report/wafer_map.h"

namespace wafer::report {
namespace {

using study::Result;

Table parts_of_layers(const Result& r) {
  constexpr auto Right = Align::Right;
  Table table{.columns = {{"layer", "name"},
                          {"phase", "phase"},
                          {"compute", "compute_seconds", Right},
                          {"weights in", "weights_seconds", Right},
                          {"gradients out", "gradients_seconds", Right},
                          {"activations", "activations_seconds", Right},
                          {"overhead", "overhead_seconds", Right}},
              .rows = {}};
  for (const estimate::LayerCost& l : r.answer.layers) {
    const auto time = [](Seconds s) { return quantity(s.value, "s"); };
    table.rows.push_back({l.name, std::string(ir::name_of(l.phase)), time(l.compute),
                          time(l.weights_in), time(l.gradients_out), time(l.activations),
                          time(l.overhead)});
  }
  return table;
}

std::string times_caption(const Result& r) {
  if (r.answer.cluster) return "Of a step, on one GPU of the busiest stage";
  if (r.answer.resident) return "Of one request: its prompt, and each token that follows";
  return "Of a step, all repetitions together";
}

/// Places as bytes, a row each; those of no bytes are left out.
class Places {
 public:
  void add(const char* what, const char* where, double bytes) {
    if (bytes > 0) table_.rows.push_back({what, where, quantity(bytes, "B")});
  }
  void add(const char* what, const char* where, Bytes b) { add(what, where, b.value); }
  Table table() && { return std::move(table_); }

 private:
  Table table_{.columns = {{"what", "what"}, {"where", "where"}, {"size", "bytes", Align::Right}},
               .rows = {}};
};

void add_gpu(const Result& r, Places& places) {
  const estimate::Memory& m = r.answer.memory;
  constexpr const char* Where = "each GPU";
  places.add("weights", Where, m.weights);
  places.add("gradients", Where, m.gradients);
  places.add("optimizer state", Where, m.optimizer_state);
  places.add("activations", Where, m.activations);
  places.add("workspace", Where, m.workspace);
  places.add("in use", Where, r.answer.cluster->gpu_used);
  places.add("capacity", Where, r.answer.cluster->gpu_capacity);
}

void add_resident(const Result& r, Places& places) {
  const estimate::ResidentParts& parts = *r.answer.resident;
  places.add("weights", "all wafers", r.answer.memory.weights);
  places.add("keys and values (KV cache)", "all wafers", r.answer.memory.activations);
  places.add("weights of a layer", "a PE", parts.placed.weight_bytes);
  places.add("keys and values of a layer", "a PE", parts.placed.cache_bytes);
  places.add("in use", "the fullest PE", parts.pe_used);
  places.add("capacity", "a PE", parts.pe_capacity);
}

void add_pipelined(const Result& r, Places& places) {
  const estimate::Memory& m = r.answer.memory;
  const estimate::PipelinedParts& p = *r.answer.pipelined;
  places.add("weights", "wafer", m.weights);
  places.add("gradients", "wafer", m.gradients);
  places.add("optimizer state", "wafer", m.optimizer_state);
  places.add("activations in FIFOs", "wafer", m.activations);
  places.add("in use", "the fullest PE", p.pe_used);
  places.add("capacity", "a PE", p.pe_capacity);
}

void add_streamed(const Result& r, Places& places) {
  const estimate::Memory& m = r.answer.memory;
  places.add("weights", "weight store", m.weights);
  places.add("optimizer state", "weight store", m.optimizer_state);
  places.add("in use", "weight store", m.store_total);
  places.add("capacity", "weight store", m.store_capacity);
  places.add("activations of a micro-batch", "wafer", m.activations_on_wafer);
  places.add("activations of a micro-batch", "activation servers", m.activations_spilled);
  places.add("workspace of the widest layer", "wafer", m.workspace);
  places.add("capacity for both", "wafer", m.wafer_capacity);
}

Table memory_table(const Result& r) {
  Places places;
  const estimate::Answer& a = r.answer;
  (a.cluster     ? add_gpu
   : a.resident  ? add_resident
   : a.pipelined ? add_pipelined
                 : add_streamed)(r, places);
  return std::move(places).table();
}

// The map once for wide and once for narrow screens.
std::string map_figure(const plan::Plan& plan) {
  return "<figure>\n<div class=\"wide\">\n" + wafer_map_svg(plan, MapPlace::Page) +
         "</div>\n<div class=\"narrow\">\n" + wafer_map_svg(plan, MapPlace::NarrowPage) +
         "</div>\n<figcaption>Each rectangle is a kernel or a FIFO, where it lies and as large as "
         "it is; pointed at, it tells its name and PEs. All kernels take the same time for a "
         "sample, so the area is what time is elsewhere.</figcaption>\n</figure>\n";
}

}  // namespace

Section time_section(const Result& r) {
  std::string body;
  const std::vector<BarChart> charts = time_charts(r);
  for (const BarChart& chart : charts) {
    if (charts.size() > 1) body += fmt::format("<h3>{}</h3>\n", escaped(chart.title));
    body += figure(chart, &chart == &charts.back()
                              ? "Measurements validate the time of the whole; its parts follow "
                                "from the cost model."
                              : "");
  }
  body += html_of(time_table(r), times_caption(r));
  if (!r.answer.cluster && !r.answer.layers.empty()) {
    body += "<details>\n<summary>What each layer does, before overlap</summary>\n" +
            html_of(parts_of_layers(r), "Parts that run at the same time overlap") + "</details>\n";
  }
  return {"time", "Where the time goes", body};
}

std::optional<Section> memory_section(const Result& r) {
  const Table table = memory_table(r);
  if (table.rows.empty()) return std::nullopt;
  std::string body;
  if (const auto chart = memory_chart(r)) {
    body += figure(*chart, "Each bar is a place, its track the whole capacity of it.");
  }
  return Section{"memory", "Memory", body + html_of(table, "Counted from the plan")};
}

std::optional<Section> map_section(const study::Dossier& d) {
  if (!d.pipeline) return std::nullopt;
  return Section{"map", "Wafer map",
                 map_figure(*d.pipeline) +
                     html_of(kernels_table(d.result), "Kernels, all layers of a kind together")};
}

}  // namespace wafer::report
