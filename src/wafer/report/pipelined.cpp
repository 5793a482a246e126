#include "wafer/report/pipelined.h"

#include <fmt/format.h>

#include "wafer/base/human.h"

namespace wafer::report {

void add_pipelined_facts(const study::Result& r, Facts& facts) {
  const estimate::PipelinedParts& p = *r.answer.pipelined;
  facts.add("pipeline",
            fmt::format("a sample every {} ({:.1f}/s) while it is full; each stays {} ({} periods)",
                        human(p.period.value, "s"), 1 / p.period.value, human(p.latency.value, "s"),
                        p.depth));
  facts.add("between steps", fmt::format("{} to drain and fill again, {} to update the weights",
                                         human(p.fill.value, "s"), human(p.update.value, "s")));
  facts.add("PEs", fmt::format("{} in kernels and {} in FIFOs: {} of the wafer's {}", p.kernel_pes,
                               p.fifo_pes, percent(p.used_share()).text, p.wafer_pes));
  if (p.region_pes < p.wafer_pes) {
    facts.add("region", fmt::format("{} PEs for kernels; FIFOs lie beside it", p.region_pes));
  }
}

Table pipelined_times(const study::Result& r) {
  const estimate::PipelinedParts& p = *r.answer.pipelined;
  const double step = r.answer.step.value;
  Table table{.columns = {{"part", "part"},
                          {"time", "seconds", Align::Right},
                          {"share", "share", Align::Right}},
              .rows = {}};
  const auto add = [&](const char* name, double seconds) {
    table.rows.push_back({name, quantity(seconds, "s"), percent(seconds / step)});
  };
  add("samples pass, a period each", p.period.value * static_cast<double>(r.question.batch));
  add("drain and fill", p.fill.value);
  add("update of the weights", p.update.value);
  return table;
}

Table kernels_table(const study::Result& r) {
  constexpr auto Right = Align::Right;
  const estimate::PipelinedParts& p = *r.answer.pipelined;
  Table table{.columns = {{"layer", "layer"},
                          {"kernel", "kernel"},
                          {"kind", "kind"},
                          {"count", "count", Right},
                          {"PEs", "pes", Right},
                          {"share", "share", Right},
                          {"weights a PE", "weights_per_pe", Right}},
              .rows = {}};
  const auto all = static_cast<double>(p.wafer_pes);
  for (const estimate::PipelinedKernels& k : p.kernels) {
    const auto pes = static_cast<double>(k.pes);
    table.rows.push_back({k.layer, k.name, k.kind, quantity(static_cast<double>(k.count), ""),
                          Cell(fmt::format("{}", k.pes), pes), percent(pes / all),
                          k.weights_of_pe > 0 ? quantity(k.weights_of_pe, "") : Cell("")});
  }
  return table;
}

std::string pipelined_memory(const study::Result& r) {
  const estimate::Memory& m = r.answer.memory;
  const estimate::PipelinedParts& p = *r.answer.pipelined;
  const auto bytes = [](Bytes b) { return human(b.value, "B"); };
  Facts facts;
  facts.add("weights", bytes(m.weights));
  facts.add("gradients", bytes(m.gradients));
  facts.add("optimizer state", bytes(m.optimizer_state));
  facts.add("activations", fmt::format("{} {}", bytes(m.activations), r.activation_reason));
  facts.add("fullest PE", fmt::format("{} of {}", bytes(p.pe_used), bytes(p.pe_capacity)));
  return facts.text();
}

}  // namespace wafer::report
