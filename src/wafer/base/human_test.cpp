#include "wafer/base/human.h"

#include <gtest/gtest.h>

#include <limits>

namespace wafer {
namespace {

TEST(Human, scales_by_thousands) {
  EXPECT_EQ(human(0.85e9, "Hz"), "850 MHz");
  EXPECT_EQ(human(49152, "B"), "49.15 kB");
  EXPECT_EQ(human(5.0694e15, "FLOP/s"), "5.069 PFLOP/s");
  EXPECT_EQ(human(1.5e22, "B"), "15000 EB");
  EXPECT_EQ(human(0, "B"), "0 B");
  EXPECT_EQ(human(-2e9, "B"), "-2 GB");
}

TEST(Human, never_shows_a_thousand_of_a_prefix) {
  EXPECT_EQ(human(999.94, "B"), "999.9 B");
  EXPECT_EQ(human(999.96, "B"), "1 kB");
  EXPECT_EQ(human(999.96e3, "B"), "1 MB");
}

TEST(Human, scales_short_times_down_and_long_ones_not) {
  EXPECT_EQ(human(4.6e-3, "s"), "4.6 ms");
  EXPECT_EQ(human(5e-6, "s"), "5 us");
  EXPECT_EQ(human(0.99999, "s"), "1 s");
  EXPECT_EQ(human(0, "s"), "0 s");
  EXPECT_EQ(human(86400, "s"), "86400 s");
}

TEST(Human, leaves_counts_alone) {
  EXPECT_EQ(human(745500, "PE"), "745500 PE");
  EXPECT_EQ(human(0.5, "1/cycle"), "0.5 1/cycle");
  EXPECT_EQ(human(12, ""), "12");
}

TEST(Human, shows_what_is_no_number_as_it_is) {
  EXPECT_EQ(human(std::numeric_limits<double>::infinity(), "B"), "inf B");
  EXPECT_EQ(human(std::numeric_limits<double>::quiet_NaN(), "s"), "nan s");
}

}  // namespace
}  // namespace wafer
