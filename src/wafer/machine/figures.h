#pragma once

#include <cstdint>

#include "wafer/base/units.h"
#include "wafer/machine/machine.h"

namespace wafer::machine {

/// What a multiply-add is computed in.
enum class Arithmetic : uint8_t {
  F16,    ///< 16-bit factors and sum
  Mixed,  ///< 16-bit factors, f32 sum
  F32,
};

/// PEs of the usable rectangle: width x height.
int64_t usable_pes(const Wafer& wafer);

/// Multiply-adds that a PE finishes in a cycle.
double multiply_adds_per_cycle(const Wafer& wafer, Arithmetic arithmetic);

/// Dense peak of the usable rectangle: 2 x multiply-adds a cycle and PE x clock x usable PEs (a
/// multiply-add is two operations).
/// **Source:** the count is the usual one; WSE-2 in f16 at 0.85 GHz: 2 x 4 x 0.85e9 x 745,500 =
/// 5.07e15.
FlopsPerSecond peak_flops(const Wafer& wafer, Arithmetic arithmetic);

/// Memory of the usable rectangle: bytes of a PE x usable PEs.
Bytes sram_bytes(const Wafer& wafer);

/// What all usable PEs read and write together: (read + write bytes a cycle) x clock x usable PEs.
BytesPerSecond sram_bandwidth(const Wafer& wafer);

/// Over the wafer's edge, both directions together.
BytesPerSecond edge_bandwidth(const Wafer& wafer);

/// What all links between usable PEs carry: 4 neighbours x 2 directions x link bits / 8 x clock x
/// usable PEs; each link is counted at both of its ends, as the vendor's headline figure does.
BytesPerSecond fabric_bandwidth(const Wafer& wafer);

/// All nodes of the store together.
Bytes store_bytes(const Store& store);
BytesPerSecond store_bandwidth(const Store& store);

}  // namespace wafer::machine
