#include "wafer/machine/figures.h"

#include "wafer/base/error.h"

namespace wafer::machine {

int64_t usable_pes(const Wafer& wafer) {
  return wafer.usable.width.value * wafer.usable.height.value;
}

double multiply_adds_per_cycle(const Wafer& wafer, Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::F16:
      return wafer.lanes.f16_multiply_add.value;
    case Arithmetic::Mixed:
      return wafer.lanes.mixed_multiply_add.value;
    case Arithmetic::F32:
      return wafer.lanes.f32_multiply_add.value;
  }
  WAFER_CHECK(false, "no such arithmetic");
}

FlopsPerSecond peak_flops(const Wafer& wafer, Arithmetic arithmetic) {
  return FlopsPerSecond(2 * multiply_adds_per_cycle(wafer, arithmetic) * wafer.clock.value.value *
                        static_cast<double>(usable_pes(wafer)));
}

Bytes sram_bytes(const Wafer& wafer) {
  return wafer.sram.bytes.value * static_cast<double>(usable_pes(wafer));
}

BytesPerSecond sram_bandwidth(const Wafer& wafer) {
  const double bytes_per_cycle =
      wafer.sram.read_bytes_per_cycle.value + wafer.sram.write_bytes_per_cycle.value;
  return BytesPerSecond(bytes_per_cycle * wafer.clock.value.value *
                        static_cast<double>(usable_pes(wafer)));
}

BytesPerSecond edge_bandwidth(const Wafer& wafer) { return wafer.io.in.value + wafer.io.out.value; }

BytesPerSecond fabric_bandwidth(const Wafer& wafer) {
  const double bytes_per_cycle = 4 * 2 * static_cast<double>(wafer.router.link_bits.value) / 8;
  return BytesPerSecond(bytes_per_cycle * wafer.clock.value.value *
                        static_cast<double>(usable_pes(wafer)));
}

Bytes store_bytes(const Store& store) {
  return store.node_bytes.value * static_cast<double>(store.nodes.value);
}

BytesPerSecond store_bandwidth(const Store& store) {
  return store.node_bandwidth.value * static_cast<double>(store.nodes.value);
}

}  // namespace wafer::machine
