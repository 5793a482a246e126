#include "wafer/base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace wafer {
namespace {

constexpr double Infinity = std::numeric_limits<double>::infinity();
constexpr double NotANumber = std::numeric_limits<double>::quiet_NaN();
const std::vector<DType> SmallFloats = {DType::F16, DType::Bf16, DType::Cb16, DType::F8e4m3fn,
                                        DType::F8e5m2};

struct Rounding {
  double from;
  double to;
  unsigned bits;
};

void expect_rounds(DType type, const std::vector<Rounding>& table) {
  for (const Rounding& r : table) {
    SCOPED_TRACE(testing::Message() << name_of(type) << " of " << r.from);
    const double rounded = round_to(type, r.from);
    EXPECT_TRUE(rounded == r.to || (std::isnan(rounded) && std::isnan(r.to))) << rounded;
    EXPECT_EQ(encode_small_float(type, r.from), r.bits);
  }
}

/// What decoding every bit pattern of a type gives, summed up.
struct Census {
  int nans = 0;
  int infinities = 0;
  double sum_of_positive = 0;
  double largest = 0;
  double least_positive = Infinity;
};

Census census_of(DType type) {
  Census c;
  const unsigned patterns = 1u << (8 * size_in_bytes(type));
  for (unsigned bits = 0; bits < patterns; ++bits) {
    const double x = decode_small_float(type, static_cast<uint16_t>(bits));
    if (std::isnan(x)) ++c.nans;
    if (std::isinf(x)) ++c.infinities;
    if (!std::isfinite(x) || x <= 0) continue;
    c.sum_of_positive += x;
    c.largest = std::max(c.largest, x);
    c.least_positive = std::min(c.least_positive, x);
  }
  return c;
}

// The expected values of the four standard formats are those of numpy 2 (float16) and ml_dtypes
// (bfloat16, float8_e4m3fn, float8_e5m2): np.array([x]).astype(t), and .view() for the bits.
TEST(DType, rounds_to_f16_as_numpy) {
  expect_rounds(DType::F16, {{1.0 / 3, 0.333251953125, 0x3555},
                             {-2.7, -2.69921875, 0xc166},
                             {65519.99, 65504, 0x7bff},
                             {65520, Infinity, 0x7c00},
                             {0x1p-25, 0, 0x0000},
                             {0x1.0001p-25, 0x1p-24, 0x0001},
                             {1 + 0x1p-11, 1, 0x3c00},
                             {1 + 0x3p-11, 1.001953125, 0x3c02},
                             {1e-7, 1.1920928955078125e-07, 0x0002}});
}

TEST(DType, rounds_to_bf16_as_ml_dtypes) {
  expect_rounds(DType::Bf16, {{1.0 / 3, 0.333984375, 0x3eab},
                              {-2.7, -2.703125, 0xc02d},
                              {3.3961e38, 3.3895313892515355e38, 0x7f7f},
                              {3.3962e38, Infinity, 0x7f80},
                              {65504, 65536, 0x4780},
                              {0.1, 0.10009765625, 0x3dcd},
                              {0x1.8p-134, 0x1p-133, 0x0001}});
}

TEST(DType, rounds_to_f8e4m3fn_as_ml_dtypes) {
  expect_rounds(DType::F8e4m3fn, {{1.0 / 3, 0.34375, 0x2b},
                                  {-2.7, -2.75, 0xc3},
                                  {464, 448, 0x7e},
                                  {464.1, NotANumber, 0x7f},
                                  {Infinity, NotANumber, 0x7f},
                                  {0x1p-10, 0, 0x00},
                                  {0x1.8p-10, 0x1p-9, 0x01},
                                  {0x1.8p-9, 0x1p-8, 0x02},
                                  {17, 16, 0x58},
                                  {19, 20, 0x5a}});
}

TEST(DType, rounds_to_f8e5m2_as_ml_dtypes) {
  expect_rounds(DType::F8e5m2, {{1.0 / 3, 0.3125, 0x35},
                                {-2.7, -2.5, 0xc1},
                                {61439, 57344, 0x7b},
                                {61440, Infinity, 0x7c},
                                {0x1.8p-10, 0x1.8p-10, 0x16},
                                {0.1, 0.09375, 0x2e},
                                {1.0625, 1, 0x3c},
                                {1.1875, 1.25, 0x3d}});
}

// By hand, with value = 1.m x 2^(e - 42) and m of 9 bits:
//   6 = 1.5 x 2^2           e = 44 = 101100, m = 100000000: the pattern that the vendor prints
//   1/3 = 1.010101010|1010... x 2^-2: e = 40, m = 010101011, rounded up (1.558 in hexadecimal)
//   largest: e = 62, m = 511: (2 - 2^-9) x 2^20 = 2095104; half a step (2^10) more overflows
//   least: m = 1, e = 0: 2^-9 x 2^-41 = 2^-50; half of it is a tie to the even 0
TEST(DType, rounds_to_cb16_as_computed_by_hand) {
  expect_rounds(DType::Cb16, {{6, 6, 0b0101100100000000},
                              {-6, -6, 0b1101100100000000},
                              {1.0 / 3, 0x1.558p-2, 0b0101000010101011},
                              {1 + 0x1p-10, 1, 0b0101010000000000},
                              {1 + 0x3p-10, 1 + 0x1p-8, 0b0101010000000010},
                              {2095104, 2095104, 0b0111110111111111},
                              {2096127, 2095104, 0b0111110111111111},
                              {2096128, Infinity, 0b0111111000000000},
                              {0x1p-41, 0x1p-41, 0b0000001000000000},
                              {0x1p-50, 0x1p-50, 1},
                              {0x1p-51, 0, 0},
                              {0x1.8p-51, 0x1p-50, 1}});
}

// Counts, sums and extremes over all patterns from numpy's and ml_dtypes' views of them.
TEST(DType, decodes_every_pattern_as_numpy_and_ml_dtypes) {
  const Census f16 = census_of(DType::F16);
  EXPECT_EQ(f16.nans, 2046);
  EXPECT_EQ(f16.infinities, 2);
  EXPECT_EQ(f16.sum_of_positive, 100630527.9375);
  EXPECT_EQ(f16.least_positive, 0x1p-24);
  const Census bf16 = census_of(DType::Bf16);
  EXPECT_EQ(bf16.nans, 254);
  EXPECT_EQ(bf16.infinities, 2);
  EXPECT_NEAR(bf16.sum_of_positive / 6.516407326535972e+40, 1, 1e-14);
  EXPECT_EQ(bf16.largest, 0x1.fep127);
  EXPECT_EQ(bf16.least_positive, 0x1p-133);
  const Census e4m3 = census_of(DType::F8e4m3fn);
  EXPECT_EQ(e4m3.nans, 2);
  EXPECT_EQ(e4m3.infinities, 0);
  EXPECT_EQ(e4m3.sum_of_positive, 5407.875);
  const Census e5m2 = census_of(DType::F8e5m2);
  EXPECT_EQ(e5m2.nans, 6);
  EXPECT_EQ(e5m2.infinities, 2);
  EXPECT_EQ(e5m2.sum_of_positive, 360447.9997558594);
}

TEST(DType, encodes_what_it_decodes) {
  for (const DType type : SmallFloats) {
    const unsigned patterns = 1u << (8 * size_in_bytes(type));
    for (unsigned bits = 0; bits < patterns; ++bits) {
      const double x = decode_small_float(type, static_cast<uint16_t>(bits));
      if (std::isnan(x)) continue;
      ASSERT_EQ(encode_small_float(type, x), bits) << name_of(type);
      ASSERT_EQ(round_to(type, x), x) << name_of(type);
    }
  }
}

TEST(DType, keeps_not_a_number_and_the_sign_of_zero) {
  for (const DType type : SmallFloats) {
    EXPECT_TRUE(std::isnan(round_to(type, NotANumber))) << name_of(type);
    EXPECT_TRUE(std::isnan(decode_small_float(type, encode_small_float(type, NotANumber))));
    EXPECT_TRUE(std::signbit(round_to(type, -0.0))) << name_of(type);
    EXPECT_TRUE(std::signbit(decode_small_float(type, encode_small_float(type, -0.0))));
  }
}

TEST(DType, truncates_and_saturates_integers) {
  EXPECT_EQ(round_to(DType::I8, -1.9), -1);
  EXPECT_EQ(round_to(DType::I8, 200), 127);
  EXPECT_EQ(round_to(DType::I8, -200), -128);
  EXPECT_EQ(round_to(DType::U8, -3), 0);
  EXPECT_EQ(round_to(DType::U8, Infinity), 255);
  EXPECT_EQ(round_to(DType::I32, 3e9), 2147483647);
  EXPECT_EQ(round_to(DType::U16, NotANumber), 0);
}

// The double below 2^63 is 2^63 - 1024: doubles there are 2^10 apart (53 bits of mantissa).
TEST(DType, saturates_64_bit_integers_at_a_double_that_fits) {
  EXPECT_EQ(round_to(DType::I64, 1e30), 9223372036854774784.0);
  EXPECT_EQ(round_to(DType::I64, -1e30), -9223372036854775808.0);
  EXPECT_EQ(round_to(DType::U64, 1e30), 18446744073709549568.0);
}

TEST(DType, makes_a_bool_of_any_number) {
  EXPECT_EQ(round_to(DType::Bool, -0.5), 1);
  EXPECT_EQ(round_to(DType::Bool, 0), 0);
}

TEST(DType, knows_its_name_and_size) {
  for (int i = 0; i < DTypeCount; ++i) {
    const DType type = static_cast<DType>(i);
    EXPECT_EQ(dtype_named(name_of(type)), type);
    EXPECT_EQ(is_float(type) + is_integer(type) + (type == DType::Bool), 1) << name_of(type);
  }
  EXPECT_EQ(dtype_named("float32"), std::nullopt);
  EXPECT_EQ(size_in_bytes(DType::F64), 8);
  EXPECT_EQ(size_in_bytes(DType::Cb16), 2);
  EXPECT_EQ(size_in_bytes(DType::F8e5m2), 1);
  EXPECT_EQ(size_in_bytes(DType::U32), 4);
  EXPECT_EQ(size_in_bytes(DType::Bool), 1);
}

}  // namespace
}  // namespace wafer
