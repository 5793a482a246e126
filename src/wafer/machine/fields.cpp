#include "wafer/machine/fields.h"

#include <fmt/format.h>

#include <cmath>

#include "wafer/base/human.h"

namespace wafer::machine {

std::string refuse(const Field& field, double value, bool whole) {
  const bool within = value >= field.least && value <= field.most;  // false for NaN
  if (within && (!whole || value == std::floor(value))) return {};
  return fmt::format("expected {} from {} to {}, found {}", whole ? "a whole number" : "a number",
                     human(field.least, field.unit), human(field.most, field.unit),
                     human(value, field.unit));
}

std::vector<std::string> contradictions(const Wafer& wafer) {
  std::vector<std::string> all;
  const auto check = [&](const char* side, int64_t usable, int64_t fabric) {
    if (usable <= fabric) return;
    all.push_back(
        fmt::format("usable.{0} = {1} is more than fabric.{0} = {2}: the usable rectangle "
                    "lies in the fabric",
                    side, usable, fabric));
  };
  check("width", wafer.usable.width.value, wafer.fabric.width.value);
  check("height", wafer.usable.height.value, wafer.fabric.height.value);
  if (wafer.sram.reserved.value >= wafer.sram.bytes.value) {
    all.push_back(
        fmt::format("sram.reserved_bytes = {} leaves nothing of sram.bytes = {} for activations",
                    wafer.sram.reserved.value.value, wafer.sram.bytes.value.value));
  }
  return all;
}

std::vector<std::string> contradictions(const GpuCluster& cluster) {
  const Gpu& gpu = cluster.gpu;
  const bool rise = gpu.f32.value <= gpu.tf32.value && gpu.tf32.value <= gpu.bf16.value &&
                    gpu.bf16.value <= gpu.f16.value;
  if (rise) return {};
  return {fmt::format(
      "peaks must rise as elements get narrower: f32_flops = {}, tf32_flops = {}, bf16_flops = {}, "
      "f16_flops = {}; where a GPU has no tf32 or bf16, give its f32 rate",
      human(gpu.f32.value.value, "FLOP/s"), human(gpu.tf32.value.value, "FLOP/s"),
      human(gpu.bf16.value.value, "FLOP/s"), human(gpu.f16.value.value, "FLOP/s"))};
}

}  // namespace wafer::machine
