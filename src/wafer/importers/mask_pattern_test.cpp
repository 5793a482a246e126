#include "wafer/importers/mask_pattern.h"

#include <gtest/gtest.h>

#include <cmath>

#include "wafer/ir/builder.h"

namespace wafer::importers {
namespace {

using ir::ElementFn;
using ir::ValueId;

class MaskPattern : public testing::Test {
 protected:
  MaskPattern() : b_(graph_, graph_.add_function("main")) {}

  ValueId row(int64_t s, int64_t t) { return b_.iota({DType::I64, {s, t}}, 0); }
  ValueId column(int64_t s, int64_t t) { return b_.iota({DType::I64, {s, t}}, 1); }
  /// bool [s, t]: column <= row + shift.
  ValueId seen(int64_t s, int64_t t, double shift = 0) {
    return b_.binary(ElementFn::LessEqual, column(s, t), b_.add(row(s, t), shift));
  }
  ValueId bias(ValueId predicate, double hidden = -HUGE_VAL) {
    return b_.select(predicate, b_.scalar(0, DType::F32), b_.scalar(hidden, DType::F32));
  }
  bool causal(ValueId v) { return is_causal_mask(b_.function(), v); }

  ir::Graph graph_;
  ir::Builder b_;
};

TEST_F(MaskPattern, a_comparison_of_two_ranges) {
  EXPECT_TRUE(causal(seen(8, 8)));
  EXPECT_TRUE(causal(bias(seen(8, 8))));
  EXPECT_TRUE(causal(bias(seen(8192, 8192), -3.4028235e38)));
}

TEST_F(MaskPattern, keys_before_the_first_query_are_seen) {
  EXPECT_TRUE(causal(seen(3, 10, 7)));
  EXPECT_FALSE(causal(seen(3, 10)));
}

TEST_F(MaskPattern, one_off_is_another_mask) {
  EXPECT_FALSE(causal(seen(8, 8, 1)));
  EXPECT_FALSE(causal(seen(8, 8, -1)));
  EXPECT_FALSE(causal(seen(4096, 4096, 1)));
}

TEST_F(MaskPattern, a_window_is_another_mask) {
  const ValueId far = b_.binary(ElementFn::Less, b_.subtract(row(64, 64), column(64, 64)),
                                b_.scalar(60, DType::I64));
  EXPECT_FALSE(causal(b_.binary(ElementFn::And, seen(64, 64), far)));
}

TEST_F(MaskPattern, hidden_by_little_is_not_hidden) {
  EXPECT_FALSE(causal(bias(seen(8, 8), -100)));
  EXPECT_TRUE(causal(bias(seen(8, 8), -1e4)));
}

TEST_F(MaskPattern, a_stored_triangle_cut_and_stretched) {
  ir::Literal triangle;
  triangle.type = {DType::Bool, {1, 1, 6, 6}};
  for (int64_t i = 0; i < 36; ++i) triangle.integers.push_back(i % 6 <= i / 6);
  const ValueId whole = b_.literal(triangle);
  const ValueId cut = b_.slice(whole, {0, 0, 0, 0}, {1, 1, 4, 4});
  EXPECT_TRUE(causal(cut));
  EXPECT_TRUE(causal(b_.broadcast_to(cut, {Dim::symbol("batch"), 3, 4, 4})));
  EXPECT_FALSE(causal(b_.transpose(cut, {0, 1, 3, 2})));
  EXPECT_TRUE(causal(b_.reshape(cut, {4, 4})));
  EXPECT_FALSE(causal(b_.reshape(cut, {2, 2, 2, 2})));
}

TEST_F(MaskPattern, the_upper_triangle_of_the_least_number_times_what_comes_later) {
  // triu(full(min), 1) * (arange(T) > arange(S)), as written for LLaMA.
  const ValueId least = b_.constant(-3.4028235e38, {DType::F32, {7, 7}});
  const ValueId later = b_.binary(ElementFn::Greater, column(7, 7), row(7, 7));
  const ValueId upper = b_.select(later, least, b_.constant(0, {DType::F32, {7, 7}}));
  EXPECT_TRUE(causal(b_.multiply(upper, b_.convert(later, DType::F32))));
}

TEST_F(MaskPattern, what_depends_on_data_is_not_known) {
  const ValueId given = b_.input("mask", {DType::Bool, {8, 8}});
  EXPECT_FALSE(causal(given));
  EXPECT_FALSE(causal(b_.binary(ElementFn::And, seen(8, 8), given)));
}

TEST_F(MaskPattern, a_mask_that_differs_along_the_batch_is_another) {
  const ValueId batch = b_.iota({DType::I64, {2, 4, 4}}, 0);
  const ValueId rows = b_.iota({DType::I64, {2, 4, 4}}, 1);
  const ValueId columns = b_.iota({DType::I64, {2, 4, 4}}, 2);
  EXPECT_TRUE(causal(b_.binary(ElementFn::LessEqual, columns, rows)));
  EXPECT_FALSE(causal(b_.binary(ElementFn::LessEqual, columns, b_.add(rows, batch))));
}

}  // namespace
}  // namespace wafer::importers
