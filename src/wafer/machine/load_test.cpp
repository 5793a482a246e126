#include "wafer/machine/load.h"

#include <gtest/gtest.h>

#include "wafer/machine/figures.h"

namespace wafer::machine {
namespace {

TEST(Load, finds_a_shipped_machine_by_name) {
  const auto wafer = std::get<Wafer>(load("wse2"));
  EXPECT_EQ(wafer.name, "wse2");
  EXPECT_EQ(usable_pes(wafer), 745500);
  // 745,500 PEs x 4 multiply-adds x 2 x 0.85 GHz.
  EXPECT_NEAR(peak_flops(wafer, Arithmetic::F16).value, 5.07e15, 0.005e15);
}

}  // namespace
}  // namespace wafer::machine
