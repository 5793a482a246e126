#include "wafer/machine/figures.h"

#include <gtest/gtest.h>

#include "wafer/machine/load.h"

namespace wafer::machine {
namespace {

Wafer wafer(const char* name) { return std::get<Wafer>(load(name)); }

Wafer with_advertised_pes(const char* name, double clock_hz) {
  Machine machine = overridden(load(name), "clock_hz", clock_hz);
  Wafer& wafer = std::get<Wafer>(machine);
  wafer.usable.width.value = wafer.advertised_pes.value;
  wafer.usable.height.value = 1;
  return wafer;
}

TEST(Figures, count_the_pes_of_published_rectangles) {
  EXPECT_EQ(usable_pes(wafer("wse2")), 35784000 / 48);  // SC23: 48 systems with 35,784,000 PEs
  EXPECT_EQ(usable_pes(wafer("wse1")), 600 * 595);      // mesh of arXiv:2010.03660
  EXPECT_EQ(usable_pes(wafer("wse3")), 883350);         // 755 x 1170
}

TEST(Figures, give_the_peak_of_the_usable_rectangle) {
  // 745,500 x 4 x 2 x 0.85 GHz = 5.0694e15; half with an f32 sum, a quarter in f32.
  const Wafer wse2 = wafer("wse2");
  EXPECT_DOUBLE_EQ(peak_flops(wse2, Arithmetic::F16).value, 5.0694e15);
  EXPECT_DOUBLE_EQ(peak_flops(wse2, Arithmetic::Mixed).value, 5.0694e15 / 2);
  EXPECT_DOUBLE_EQ(peak_flops(wse2, Arithmetic::F32).value, 5.0694e15 / 4);
  // 883,350 x 8 x 2 x 0.875 GHz.
  EXPECT_DOUBLE_EQ(peak_flops(wafer("wse3"), Arithmetic::F16).value, 1.23669e16);
  // arXiv:2010.03660: 0.86e15 is "about one third" of it.
  EXPECT_NEAR(peak_flops(wafer("wse1"), Arithmetic::F16).value, 3 * 0.86e15, 0.02e15);
}

TEST(Figures, meet_the_headline_peak_with_all_cores_at_the_upper_clock) {
  // Hot Chips 34: 7.5 PFLOP/s; 850,000 x 8 x 1.1 GHz = 7.48e15.
  EXPECT_NEAR(peak_flops(with_advertised_pes("wse2", 1.1e9), Arithmetic::F16).value, 7.5e15,
              0.03e15);
}

TEST(Figures, meet_the_headline_bandwidths_near_one_gigahertz) {
  // 20 PB/s and 220 Pb/s of WSE-2, 9 PB/s and 100 Pb/s of WSE-1; the vendor rounds.
  const Wafer wse2 = with_advertised_pes("wse2", 1.0e9);
  EXPECT_NEAR(sram_bandwidth(wse2).value, 20e15, 0.5e15);
  EXPECT_NEAR(fabric_bandwidth(wse2).value * 8, 220e15, 3e15);
  const Wafer wse1 = with_advertised_pes("wse1", 0.95e9);
  EXPECT_NEAR(sram_bandwidth(wse1).value, 9e15, 0.2e15);
  EXPECT_NEAR(fabric_bandwidth(wse1).value * 8, 100e15, 3e15);
}

TEST(Figures, meet_the_advertised_memory_with_all_cores) {
  // 18, 40 and 44 GB as the vendor counts: 2^30 bytes, rounded.
  const double gib = 1 << 30;
  EXPECT_NEAR(sram_bytes(with_advertised_pes("wse1", 1e9)).value / gib, 18, 0.5);
  EXPECT_NEAR(sram_bytes(with_advertised_pes("wse2", 1e9)).value / gib, 40, 1.2);
  EXPECT_NEAR(sram_bytes(with_advertised_pes("wse3", 1e9)).value / gib, 44, 3);
}

TEST(Figures, add_the_nodes_of_a_store) {
  const Store store = wafer("wse3").store;
  EXPECT_EQ(store_bytes(store), Bytes(12 * 1128.0 * (1 << 30)));      // ALCF: 12 x 1128 GiB
  EXPECT_EQ(store_bandwidth(store), BytesPerSecond(12 * 100e9 / 8));  // 12 x 100 GbE
}

}  // namespace
}  // namespace wafer::machine
