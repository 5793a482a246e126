// Expected values: numpy 2.4 for the functions of the same name, PyTorch 1.13 for logistic and erf.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/run_op.h"

namespace wafer::reference {
namespace {

using ir::AttrKey;
using ir::ElementFn;
using ir::OpKind;

constexpr double Nan = std::numeric_limits<double>::quiet_NaN();
constexpr double Inf = std::numeric_limits<double>::infinity();

Tensor run(ElementFn fn, const std::vector<Tensor>& operands, const Options& options = {}) {
  return run_op(OpKind::Elementwise, operands, {{AttrKey::Fn, fn}}, {}, options)[0];
}

/// `values` as a list of this element type.
Tensor list(const std::string& dtype, const std::vector<double>& values) {
  return tensor(dtype + "[" + std::to_string(values.size()) + "]", values);
}

using Integers = std::vector<int64_t>;

void expect_unary(ElementFn fn, const std::vector<double>& x, const std::vector<double>& expected) {
  const Tensor result = run(fn, {list("f64", x)});
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(result.floats[i], expected[i], 1e-15 * std::max(1.0, std::abs(expected[i])))
        << ir::name_of(fn) << " of " << x[i];
  }
}

TEST(Elementwise, functions_of_one_float_are_numpys) {
  const std::vector<double> x = {-2.5, -0.5, 0.0, 0.5, 1.5, 2.5};
  expect_unary(ElementFn::Abs, x, {2.5, 0.5, 0, 0.5, 1.5, 2.5});
  expect_unary(ElementFn::Negate, x, {2.5, 0.5, 0, -0.5, -1.5, -2.5});
  expect_unary(ElementFn::Sign, x, {-1, -1, 0, 1, 1, 1});
  expect_unary(ElementFn::Floor, x, {-3, -1, 0, 0, 1, 2});
  expect_unary(ElementFn::Ceil, x, {-2, 0, 0, 1, 2, 3});
  expect_unary(ElementFn::Round, x, {-2, 0, 0, 0, 2, 2});
  expect_unary(ElementFn::Exp, x,
               {0.0820849986238988, 0.6065306597126334, 1, 1.6487212707001282, 4.481689070338065,
                12.182493960703473});
  expect_unary(ElementFn::Expm1, x,
               {-0.9179150013761012, -0.3934693402873666, 0, 0.6487212707001282, 3.481689070338065,
                11.182493960703473});
  expect_unary(ElementFn::Sin, x,
               {-0.5984721441039564, -0.47942553860420295, 0, 0.47942553860420295,
                0.9974949866040544, 0.5984721441039564});
  expect_unary(ElementFn::Cos, x,
               {-0.8011436155469338, 0.8775825618903725, 1, 0.8775825618903725, 0.0707372016677029,
                -0.8011436155469338});
  expect_unary(ElementFn::Tanh, x,
               {-0.9866142981514303, -0.46211715726000974, 0, 0.46211715726000974,
                0.9051482536448665, 0.9866142981514303});
  expect_unary(ElementFn::Logistic, x,
               {0.07585818002124355, 0.3775406687981454, 0.5, 0.6224593312018546,
                0.8175744761936437, 0.9241418199787566});
  expect_unary(ElementFn::Erf, x,
               {-0.999593047982555, -0.5204998778130465, 0, 0.5204998778130465, 0.9661051464753108,
                0.999593047982555});
}

TEST(Elementwise, functions_of_one_positive_float_are_numpys) {
  const std::vector<double> x = {0.25, 1, 2};
  expect_unary(ElementFn::Log, x, {-1.3862943611198906, 0, 0.6931471805599453});
  expect_unary(ElementFn::Log1p, x, {0.22314355131420974, 0.6931471805599453, 1.0986122886681096});
  expect_unary(ElementFn::Sqrt, x, {0.5, 1, 1.4142135623730951});
  expect_unary(ElementFn::Rsqrt, x, {2, 1, 0.7071067811865475});
  expect_unary(ElementFn::Reciprocal, x, {4, 1, 0.5});
}

TEST(Elementwise, functions_of_two_floats_are_numpys) {
  const Tensor a = list("f64", {5.5, -5.5, 2, -1});
  const Tensor b = list("f64", {2, 2, -3, 0.5});
  const Tensor positive = list("f64", {5.5, 5.5, 2, 1});
  const auto floats = [&](ElementFn fn) { return run(fn, {a, b}).floats; };
  using Floats = std::vector<double>;
  EXPECT_EQ(floats(ElementFn::Add), (Floats{7.5, -3.5, -1, -0.5}));
  EXPECT_EQ(floats(ElementFn::Subtract), (Floats{3.5, -7.5, 5, -1.5}));
  EXPECT_EQ(floats(ElementFn::Multiply), (Floats{11, -11, -6, -0.5}));
  EXPECT_EQ(floats(ElementFn::Divide), (Floats{2.75, -2.75, -0.6666666666666666, -2}));
  EXPECT_EQ(floats(ElementFn::Remainder), (Floats{1.5, -1.5, 2, 0}));  // numpy.fmod
  EXPECT_EQ(floats(ElementFn::Maximum), (Floats{5.5, 2, 2, 0.5}));
  EXPECT_EQ(floats(ElementFn::Minimum), (Floats{2, -5.5, -3, -1}));
  EXPECT_EQ(run(ElementFn::Power, {positive, b}).floats, (Floats{30.25, 30.25, 0.125, 1}));
  const Floats angles = {1.2220253232109894, -1.2220253232109894, 2.5535900500422253,
                         -1.1071487177940904};
  for (size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(floats(ElementFn::Atan2)[i], angles[i]);
}

TEST(Elementwise, nan_goes_through_maximum_and_minimum) {
  const Tensor a = list("f64", {Nan, 1});
  const Tensor b = list("f64", {1, Nan});
  for (ElementFn fn : {ElementFn::Maximum, ElementFn::Minimum}) {
    for (double x : run(fn, {a, b}).floats) EXPECT_TRUE(std::isnan(x));
  }
}

TEST(Elementwise, nan_compares_unequal_to_all) {
  const Tensor a = list("f64", {Nan, 1, 2, 2});
  const Tensor b = list("f64", {Nan, 2, 2, 1});
  const auto answers = [&](ElementFn fn) { return run(fn, {a, b}).integers; };
  EXPECT_EQ(answers(ElementFn::Equal), (Integers{0, 0, 1, 0}));
  EXPECT_EQ(answers(ElementFn::NotEqual), (Integers{1, 1, 0, 1}));
  EXPECT_EQ(answers(ElementFn::Less), (Integers{0, 1, 0, 0}));
  EXPECT_EQ(answers(ElementFn::LessEqual), (Integers{0, 1, 1, 0}));
  EXPECT_EQ(answers(ElementFn::Greater), (Integers{0, 0, 0, 1}));
  EXPECT_EQ(answers(ElementFn::GreaterEqual), (Integers{0, 0, 1, 1}));
}

TEST(Elementwise, tells_finite_numbers_and_nan) {
  const Tensor x = list("f32", {1, Inf, -Inf, Nan});
  EXPECT_EQ(run(ElementFn::IsFinite, {x}).integers, (Integers{1, 0, 0, 0}));
  EXPECT_EQ(run(ElementFn::IsNan, {x}).integers, (Integers{0, 0, 0, 1}));
}

TEST(Elementwise, select_and_clamp_choose) {
  const Tensor predicate = list("bool", {1, 0, 1});
  EXPECT_EQ(
      run(ElementFn::Select, {predicate, list("i8", {1, 2, 3}), list("i8", {4, 5, 6})}).integers,
      (Integers{1, 5, 3}));
  const Tensor low = list("f64", {0, 0, 0});
  const Tensor high = list("f64", {1, 1, 1});
  EXPECT_EQ(run(ElementFn::Clamp, {low, list("f64", {-1, 0.5, 3}), high}).floats,
            (std::vector<double>{0, 0.5, 1}));
}

TEST(Elementwise, integers_wrap_around) {
  const Tensor a = list("i8", {127, -128, 100});
  const Tensor b = list("i8", {1, 1, 3});
  EXPECT_EQ(run(ElementFn::Add, {a, b}).integers, (Integers{-128, -127, 103}));
  EXPECT_EQ(run(ElementFn::Multiply, {a, b}).integers, (Integers{127, -128, 44}));  // 300 - 256
  EXPECT_EQ(run(ElementFn::Subtract, {list("u8", {0}), list("u8", {1})}).integers, Integers{255});
  EXPECT_EQ(run(ElementFn::Negate, {list("i8", {-128})}).integers, Integers{-128});
}

TEST(Elementwise, integer_division_truncates_and_survives_its_corners) {
  const Tensor a = list("i32", {7, -7, 7, -2147483648.0});
  const Tensor b = list("i32", {2, 2, 0, -1});
  // As XLA: -1 for a division by zero, the dividend for its remainder, overflow wraps around.
  EXPECT_EQ(run(ElementFn::Divide, {a, b}).integers, (Integers{3, -3, -1, -2147483648}));
  EXPECT_EQ(run(ElementFn::Remainder, {a, b}).integers, (Integers{1, -1, 7, 0}));
  EXPECT_EQ(run(ElementFn::Power, {list("i32", {3, 2, -1}), list("i32", {4, -1, -3})}).integers,
            (Integers{81, 0, -1}));
}

TEST(Elementwise, shifts_and_bits_are_those_of_the_width) {
  const Tensor a = list("i8", {-128, 65, 1});
  const Tensor b = list("i8", {1, 1, 9});
  EXPECT_EQ(run(ElementFn::ShiftLeft, {a, b}).integers, (Integers{0, -126, 0}));
  EXPECT_EQ(run(ElementFn::ShiftRightLogical, {a, b}).integers, (Integers{64, 32, 0}));
  EXPECT_EQ(run(ElementFn::ShiftRightArithmetic, {a, b}).integers, (Integers{-64, 32, 0}));
  const Tensor c = list("u8", {12, 255});
  const Tensor d = list("u8", {10, 15});
  EXPECT_EQ(run(ElementFn::And, {c, d}).integers, (Integers{8, 15}));
  EXPECT_EQ(run(ElementFn::Or, {c, d}).integers, (Integers{14, 255}));
  EXPECT_EQ(run(ElementFn::Xor, {c, d}).integers, (Integers{6, 240}));
  EXPECT_EQ(run(ElementFn::Not, {c}).integers, (Integers{243, 0}));
  EXPECT_EQ(run(ElementFn::Not, {list("bool", {1, 0})}).integers, (Integers{0, 1}));
}

TEST(Elementwise, u64_compares_without_sign) {
  Tensor large = list("u64", {0});
  large.integers = {-1};  // the bits of 2^64 - 1
  EXPECT_EQ(run(ElementFn::Less, {list("u64", {1}), large}).integers, Integers{1});
  EXPECT_EQ(run(ElementFn::Divide, {large, list("u64", {2})}).integers, Integers{INT64_MAX});
}

TEST(Elementwise, typed_results_are_rounded_and_f64_results_are_not) {
  const Tensor a = list("f16", {2048});
  const Tensor b = list("f16", {1});
  EXPECT_EQ(run(ElementFn::Add, {a, b}).floats[0], 2049);
  // f16 has 11 significant bits: 2049 lies between 2048 and 2050, half to even
  EXPECT_EQ(run(ElementFn::Add, {a, b}, {.precision = Precision::Typed}).floats[0], 2048);
}

TEST(Convert, truncates_and_saturates_to_integers) {
  const auto to = [](const std::string& dtype, const std::vector<double>& x) {
    const std::string count = std::to_string(x.size());
    return run_op(OpKind::Convert, {list("f64", x)}, {}, {dtype + "[" + count + "]"})[0].integers;
  };
  EXPECT_EQ(to("i8", {-1.9, 1.9, 1000, -1000, Nan}), (Integers{-1, 1, 127, -128, 0}));
  EXPECT_EQ(to("u8", {-1, 300}), (Integers{0, 255}));
  EXPECT_EQ(to("i64", {1e30, -1e30}), (Integers{INT64_MAX, INT64_MIN}));
  EXPECT_EQ(to("u64", {1e30, 0x1p63}), (Integers{-1, INT64_MIN}));  // as bits
  EXPECT_EQ(to("bool", {0, -0.5}), (Integers{0, 1}));
}

TEST(Convert, reads_u64_without_sign) {
  Tensor large = list("u64", {0});
  large.integers = {INT64_MIN};  // the bits of 2^63
  EXPECT_EQ(run_op(OpKind::Convert, {large}, {}, {"f64[1]"})[0].floats[0], 0x1p63);
  EXPECT_EQ(run_op(OpKind::Convert, {list("i32", {-1, 300})}, {}, {"i8[2]"})[0].integers,
            (Integers{-1, 44}));
}

TEST(Iota, counts_along_its_dimension) {
  EXPECT_EQ(run_op(OpKind::Iota, {}, {{AttrKey::Dim, int64_t{1}}}, {"i32[2,3]"})[0].integers,
            (Integers{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(run_op(OpKind::Iota, {}, {{AttrKey::Dim, int64_t{0}}}, {"f32[2,2]"})[0].floats,
            (std::vector<double>{0, 0, 1, 1}));
}

TEST(Rng, is_numpys_philox_stream) {
  // 10 + 10 * numpy.random.Generator(numpy.random.Philox(key=7)).random(2)
  const Tensor x = run_op(OpKind::Rng, {},
                          {{AttrKey::Distribution, std::string("uniform")},
                           {AttrKey::Seed, int64_t{7}},
                           {AttrKey::Axis0, 10.0},
                           {AttrKey::Axis1, 20.0}},
                          {"f64[2]"})[0];
  EXPECT_DOUBLE_EQ(x.floats[0], 18.720734548204873);
  EXPECT_DOUBLE_EQ(x.floats[1], 12.9536538151378355);
}

}  // namespace
}  // namespace wafer::reference
