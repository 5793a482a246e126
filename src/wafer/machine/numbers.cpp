#include "wafer/machine/numbers.h"

#include "wafer/machine/fields.h"
#include "wafer/machine/figures.h"

namespace wafer::machine {
namespace {

Number figure(const char* key, const char* unit, double value, const char* formula) {
  return Number{.key = key,
                .unit = unit,
                .meaning = {},
                .is_list = false,
                .value = {value},
                .mark = Mark::Derived,
                .source = formula};
}

std::vector<Number> figures_of(const GpuCluster& cluster) {
  const auto gpus = static_cast<double>(cluster.node.gpus.value);
  return {
      figure("node_peak_flops_f16", "FLOP/s", cluster.gpu.f16.value.value * gpus,
             "node.gpus x gpu.f16_flops, dense"),
      figure("sustained_flops_f16", "FLOP/s",
             cluster.gpu.f16.value.value * cluster.gpu.sustained_clock.value,
             "gpu.f16_flops x gpu.sustained_clock, dense"),
      figure("node_memory_bytes", "B", cluster.gpu.memory.value.value * gpus,
             "node.gpus x gpu.memory_bytes"),
      figure("gpu_watts", "W", cluster.node.peak_power.value.value / gpus,
             "node.peak_watts / node.gpus"),
  };
}

std::vector<Number> figures_of(const Wafer& wafer) {
  std::vector<Number> all;
  const auto add = [&](const char* key, const char* unit, double value, const char* formula) {
    all.push_back(figure(key, unit, value, formula));
  };
  const auto peak = [&](const char* key, Arithmetic arithmetic, const char* formula) {
    add(key, "FLOP/s", peak_flops(wafer, arithmetic).value, formula);
  };
  add("usable_pes", "PE", static_cast<double>(usable_pes(wafer)), "usable.width x usable.height");
  peak("peak_flops_f16", Arithmetic::F16,
       "2 x lanes.f16_multiply_add x clock_hz x usable_pes, dense");
  peak("peak_flops_mixed", Arithmetic::Mixed,
       "2 x lanes.mixed_multiply_add x clock_hz x usable_pes, dense");
  peak("peak_flops_f32", Arithmetic::F32,
       "2 x lanes.f32_multiply_add x clock_hz x usable_pes, dense");
  add("sram_bytes", "B", sram_bytes(wafer).value, "sram.bytes x usable_pes");
  add("sram_bytes_per_second", "B/s", sram_bandwidth(wafer).value,
      "(sram.read_bytes_per_cycle + sram.write_bytes_per_cycle) x clock_hz x usable_pes");
  add("fabric_bytes_per_second", "B/s", fabric_bandwidth(wafer).value,
      "4 neighbours x 2 directions x router.link_bits / 8 x clock_hz x usable_pes");
  add("store_bytes", "B", store_bytes(wafer.store).value, "store.nodes x store.node_bytes");
  add("store_bytes_per_second", "B/s", store_bandwidth(wafer.store).value,
      "store.nodes x store.node_bytes_per_second");
  return all;
}

}  // namespace

std::vector<Number> numbers(const Machine& machine) {
  std::vector<Number> all;
  const auto add = [&]<typename T>(const Field& field, const Sourced<T>& number) {
    Number& row = all.emplace_back(Number{.key = field.key,
                                          .unit = field.unit,
                                          .meaning = field.meaning,
                                          .is_list = List<T>,
                                          .value = {},
                                          .mark = number.mark,
                                          .source = number.source});
    if constexpr (List<T>) {
      row.value.assign(number.value.begin(), number.value.end());
    } else {
      row.value.push_back(plain(number.value));
    }
  };
  std::visit([&](const auto& kind) { visit_numbers(kind, add); }, machine);
  return all;
}

std::vector<Number> figures(const Machine& machine) {
  return std::visit([](const auto& kind) { return figures_of(kind); }, machine);
}

}  // namespace wafer::machine
