// Reductions, windows, running reductions, sorting. Expected values: PyTorch 1.13 or numpy 2.4, by
// the expression in the comment; scrambled() is in support/run_op.h.
#include <gtest/gtest.h>

#include <limits>

#include "support/run_op.h"

namespace wafer::reference {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;

using Floats = std::vector<double>;
using Integers = std::vector<int64_t>;

constexpr double Inf = std::numeric_limits<double>::infinity();
const Tensor Six = tensor("f64[2,3]", {1, 2, 3, 4, 5, 6});

Tensor scalar(double x) { return tensor("f64[]", {x}); }

Floats reduced(ElementFn fn, const Tensor& x, double initial, const Ints& dims) {
  return run_op(OpKind::Reduce, {x, scalar(initial)}, {{AttrKey::Fn, fn}, {AttrKey::Dims, dims}})[0]
      .floats;
}

TEST(Reduce, folds_the_named_dimensions_from_the_initial_value) {
  EXPECT_EQ(reduced(ElementFn::Add, Six, 0, {1}), (Floats{6, 15}));
  EXPECT_EQ(reduced(ElementFn::Add, Six, 100, {0}), (Floats{105, 107, 109}));
  EXPECT_EQ(reduced(ElementFn::Multiply, Six, 1, {0, 1}), Floats{720});
  EXPECT_EQ(reduced(ElementFn::Maximum, Six, -Inf, {0}), (Floats{4, 5, 6}));
  EXPECT_EQ(reduced(ElementFn::Minimum, Six, 2.5, {1}), (Floats{1, 2.5}));
}

TEST(Reduce, of_no_elements_is_the_initial_value) {
  EXPECT_EQ(reduced(ElementFn::Add, tensor("f64[2,0]", {}), 3, {1}), (Floats{3, 3}));
}

TEST(Reduce, folds_bools_and_integers) {
  const Tensor x = tensor("bool[2,2]", {1, 0, 1, 1});
  EXPECT_EQ(run_op(OpKind::Reduce, {x, tensor("bool[]", {1})},
                   {{AttrKey::Fn, ElementFn::And}, {AttrKey::Dims, Ints{1}}})[0]
                .integers,
            (Integers{0, 1}));
}

TEST(Reduce, sums_narrow_floats_in_f32) {
  // 2048 + 1 is 2048 in f16, 2048 + 1 + 1 in f32 is 2050
  const Tensor x = tensor("f16[3]", {2048, 1, 1});
  const auto sum = run_op(OpKind::Reduce, {x, tensor("f16[]", {0})},
                          {{AttrKey::Fn, ElementFn::Add}, {AttrKey::Dims, Ints{0}}}, {},
                          {.precision = Precision::Typed});
  EXPECT_EQ(sum[0].floats, Floats{2050});
}

TEST(ArgReduce, the_first_of_equals_wins) {
  const Tensor x = tensor("f64[2,3]", {1, 3, 3, 2, 0, 0});
  const auto arg = [&](ElementFn fn) {
    return run_op(OpKind::ArgReduce, {x}, {{AttrKey::Fn, fn}, {AttrKey::Dim, int64_t{1}}},
                  {"i32[2]"})[0]
        .integers;
  };
  EXPECT_EQ(arg(ElementFn::Maximum), (Integers{1, 0}));
  EXPECT_EQ(arg(ElementFn::Minimum), (Integers{0, 1}));
}

Attributes window(Ints size, Ints strides, Ints low, Ints high) {
  return {{AttrKey::Window, std::move(size)},
          {AttrKey::Strides, std::move(strides)},
          {AttrKey::PaddingLow, std::move(low)},
          {AttrKey::PaddingHigh, std::move(high)}};
}

Floats pooled(ElementFn fn, const Tensor& x, double initial, Attributes attrs) {
  attrs.set(AttrKey::Fn, fn);
  return run_op(OpKind::ReduceWindow, {x, scalar(initial)}, std::move(attrs))[0].floats;
}

TEST(ReduceWindow, is_pytorchs_pooling) {
  const Tensor x = scrambled("f64[1,1,4,5]", 17, 8);
  // torch.nn.functional.max_pool2d(x, (2, 3), stride=(2, 1))
  EXPECT_EQ(pooled(ElementFn::Maximum, x, -Inf,
                   window({1, 1, 2, 3}, {1, 1, 2, 1}, {0, 0, 0, 0}, {0, 0, 0, 0})),
            (Floats{2, 2, 3, 7, 7, 2}));
  // max_pool2d(x, (3, 3), stride=2, padding=1)
  EXPECT_EQ(pooled(ElementFn::Maximum, x, -Inf,
                   window({1, 1, 3, 3}, {1, 1, 2, 2}, {0, 0, 1, 1}, {0, 0, 1, 1})),
            (Floats{-2, 2, 3, 7, 7, 2}));
  // avg_pool2d(x, 2, divisor_override=1)
  EXPECT_EQ(
      pooled(ElementFn::Add, x, 0, window({1, 1, 2, 2}, {1, 1, 2, 2}, {0, 0, 0, 0}, {0, 0, 0, 0})),
      (Floats{-19, -16, 10, -14}));
}

TEST(ReduceWindow, the_padding_holds_the_initial_value) {
  // window at -1: pad + 1, with the initial value once more in front: 10 + 10 + 1
  EXPECT_EQ(pooled(ElementFn::Add, tensor("f64[2]", {1, 2}), 10, window({2}, {1}, {1}, {0})),
            (Floats{21, 13}));
}

TEST(SelectAndScatter, is_the_gradient_of_pytorchs_max_pool) {
  // y = max_pool2d(x, (3, 3), stride=2, padding=1); y.backward(arange(1., 7)); x.grad
  const auto attrs = window({1, 1, 3, 3}, {1, 1, 2, 2}, {0, 0, 1, 1}, {0, 0, 1, 1});
  const auto result = run_op(
      OpKind::SelectAndScatter,
      {scrambled("f64[1,1,4,5]", 17, 8), tensor("f64[1,1,2,3]", {1, 2, 3, 4, 5, 6}), scalar(0)},
      attrs);
  EXPECT_EQ(result[0].floats, (Floats{0, 0, 2, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 5, 0, 0, 6}));
}

TEST(SelectAndScatter, the_first_of_equals_is_selected_and_sums_what_falls_on_it) {
  const auto attrs = window({2}, {1}, {0}, {0});
  const auto result =
      run_op(OpKind::SelectAndScatter,
             {tensor("f64[3]", {1, 5, 5}), tensor("f64[2]", {10, 20}), scalar(1)}, attrs);
  EXPECT_EQ(result[0].floats, (Floats{1, 31, 1}));
}

Floats running(ElementFn fn, const Tensor& x, bool exclusive, bool reverse) {
  return run_op(OpKind::Cumulative, {x},
                {{AttrKey::Fn, fn},
                 {AttrKey::Dim, int64_t{x.type.rank() - 1}},
                 {AttrKey::Exclusive, exclusive},
                 {AttrKey::Reverse, reverse}})[0]
      .floats;
}

TEST(Cumulative, runs_along_its_dimension) {
  // numpy.cumsum, cumprod(axis=1), maximum.accumulate
  EXPECT_EQ(running(ElementFn::Add, Six, false, false), (Floats{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(running(ElementFn::Multiply, Six, false, false), (Floats{1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(running(ElementFn::Maximum, tensor("f64[5]", {3, 1, 4, 1, 5}), false, false),
            (Floats{3, 3, 4, 4, 5}));
}

TEST(Cumulative, exclusive_leaves_the_place_itself_out_and_reverse_starts_at_the_end) {
  EXPECT_EQ(running(ElementFn::Add, Six, true, false), (Floats{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(running(ElementFn::Add, Six, false, true), (Floats{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(running(ElementFn::Add, Six, true, true), (Floats{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(running(ElementFn::Minimum, Six, true, false), (Floats{Inf, 1, 1, Inf, 4, 4}));
}

TEST(Sort, carries_the_others_and_keeps_the_order_of_equals) {
  const Tensor keys = tensor("f64[4]", {3, 1, 2, 1});
  const Tensor places = tensor("i32[4]", {0, 1, 2, 3});
  // numpy.argsort(keys, kind="stable") and numpy.argsort(-keys, kind="stable")
  const auto up = run_op(OpKind::Sort, {keys, places}, {{AttrKey::Dim, int64_t{0}}});
  EXPECT_EQ(up[0].floats, (Floats{1, 1, 2, 3}));
  EXPECT_EQ(up[1].integers, (Integers{1, 3, 2, 0}));
  const auto down = run_op(OpKind::Sort, {keys, places},
                           {{AttrKey::Dim, int64_t{0}}, {AttrKey::Descending, true}});
  EXPECT_EQ(down[1].integers, (Integers{0, 2, 1, 3}));
}

TEST(Sort, works_along_any_dimension_and_puts_nan_last) {
  const Tensor x = tensor("f64[2,2]", {std::numeric_limits<double>::quiet_NaN(), 1, 5, 0});
  const auto sorted = run_op(OpKind::Sort, {x}, {{AttrKey::Dim, int64_t{0}}})[0].floats;
  EXPECT_EQ(sorted[0], 5);
  EXPECT_TRUE(sorted[2] != sorted[2]);
  EXPECT_EQ(sorted[1], 0);
  EXPECT_EQ(sorted[3], 1);
}

}  // namespace
}  // namespace wafer::reference
