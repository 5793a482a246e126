#include "wafer/base/units.h"

#include <gtest/gtest.h>

#include <concepts>

namespace wafer {
namespace {

template <typename A, typename B>
concept Adds = requires(A a, B b) { a + b; };
template <typename A, typename B>
concept Compares = requires(A a, B b) { a < b; };
template <typename A, typename B>
concept Divides = requires(A a, B b) { a / b; };

// tests/compile_fail shows the same with a compiler's error; here it is part of the specification.
TEST(Units, of_two_kinds_do_not_mix) {
  static_assert(Adds<Bytes, Bytes>);
  static_assert(!Adds<Bytes, Cycles>);
  static_assert(!Adds<Bytes, double>);
  static_assert(Compares<Seconds, Seconds>);
  static_assert(!Compares<Seconds, Cycles>);
  static_assert(!Divides<Bytes, Seconds>);
  static_assert(!std::convertible_to<double, Bytes>);
  static_assert(!std::convertible_to<Bytes, double>);
}

TEST(Units, add_scale_and_compare_with_their_own) {
  Bytes b(3);
  b += Bytes(4);
  b -= Bytes(1);
  EXPECT_EQ(b, Bytes(6));
  EXPECT_EQ(b + Bytes(1), Bytes(7));
  EXPECT_EQ(b - Bytes(1), Bytes(5));
  EXPECT_EQ(2 * b, Bytes(12));
  EXPECT_EQ(b * 2, Bytes(12));
  EXPECT_EQ(b / 4, Bytes(1.5));
  EXPECT_LT(b, Bytes(6.5));
}

TEST(Units, divided_by_their_own_are_a_number) {
  static_assert(std::same_as<decltype(Seconds(1) / Seconds(2)), double>);
  EXPECT_EQ(Seconds(1) / Seconds(4), 0.25);
}

// 850 cycles at 850 MHz last a microsecond; 20 kW over a minute are 1.2 MJ.
TEST(Units, cross_by_named_functions) {
  EXPECT_DOUBLE_EQ(time_of(Cycles(850), Hertz(850e6)).value, 1e-6);
  EXPECT_EQ(time_of(Bytes(150e9), BytesPerSecond(75e9)), Seconds(2));
  EXPECT_EQ(time_of(Flops(6e12), FlopsPerSecond(3e12)), Seconds(2));
  EXPECT_EQ(energy_of(Watts(20e3), Seconds(60)), Joules(1.2e6));
  EXPECT_EQ(rate_of(Flops(10), Seconds(4)), FlopsPerSecond(2.5));
  EXPECT_EQ(rate_of(Bytes(10), Seconds(4)), BytesPerSecond(2.5));
}

}  // namespace
}  // namespace wafer
