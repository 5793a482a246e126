// Ops that move elements. Expected values: numpy's function of the name in the comment, or by hand.
#include <gtest/gtest.h>

#include "support/run_op.h"

namespace wafer::reference {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;

using Floats = std::vector<double>;

const Tensor Six = tensor("f64[2,3]", {1, 2, 3, 4, 5, 6});

Floats floats(OpKind kind, const std::vector<Tensor>& operands, Attributes attrs = {},
              const std::vector<std::string>& declared = {}) {
  return run_op(kind, operands, std::move(attrs), declared)[0].floats;
}

TEST(BroadcastInDim, stretches_ones_and_repeats_along_new_dimensions) {
  const Tensor row = tensor("f64[3]", {1, 2, 3});
  EXPECT_EQ(floats(OpKind::BroadcastInDim, {row}, {{AttrKey::Dims, Ints{1}}}, {"f64[2,3]"}),
            (Floats{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(floats(OpKind::BroadcastInDim, {row}, {{AttrKey::Dims, Ints{0}}}, {"f64[3,2]"}),
            (Floats{1, 1, 2, 2, 3, 3}));
  const Tensor column = tensor("f64[2,1]", {1, 2});
  EXPECT_EQ(floats(OpKind::BroadcastInDim, {column}, {{AttrKey::Dims, Ints{0, 1}}}, {"f64[2,3]"}),
            (Floats{1, 1, 1, 2, 2, 2}));
  // dims need not ascend: result[i][j] = operand[j][i]
  EXPECT_EQ(floats(OpKind::BroadcastInDim, {Six}, {{AttrKey::Dims, Ints{1, 0}}}, {"f64[3,2]"}),
            (Floats{1, 4, 2, 5, 3, 6}));
}

TEST(Reshape, keeps_row_major_order) {
  EXPECT_EQ(floats(OpKind::Reshape, {Six}, {}, {"f64[3,2]"}), Six.floats);
}

TEST(Transpose, puts_operand_dimension_permutation_i_at_i) {
  // numpy.arange(1, 7).reshape(1, 2, 3).transpose(2, 0, 1)
  const Tensor x = tensor("f64[1,2,3]", Six.floats);
  EXPECT_EQ(floats(OpKind::Transpose, {x}, {{AttrKey::Permutation, Ints{2, 0, 1}}}),
            (Floats{1, 4, 2, 5, 3, 6}));
}

TEST(Slice, takes_every_stride_th) {
  // x[1:2, 0::2]
  EXPECT_EQ(floats(OpKind::Slice, {Six},
                   {{AttrKey::Starts, Ints{1, 0}},
                    {AttrKey::Limits, Ints{2, -1}},
                    {AttrKey::Strides, Ints{1, 2}}}),
            (Floats{4, 6}));
}

TEST(DynamicSlice, is_moved_to_lie_within_the_operand) {
  const Attributes attrs = {{AttrKey::Sizes, Ints{1, 2}}};
  const auto at = [&](double i, double j) {
    return floats(OpKind::DynamicSlice, {Six, tensor("i32[]", {i}), tensor("i32[]", {j})}, attrs);
  };
  EXPECT_EQ(at(1, 1), (Floats{5, 6}));
  EXPECT_EQ(at(7, 2), (Floats{5, 6}));
  EXPECT_EQ(at(-7, 0), (Floats{1, 2}));
}

TEST(DynamicUpdateSlice, writes_where_a_slice_would_read) {
  const Tensor update = tensor("f64[1,2]", {8, 9});
  const auto at = [&](double i, double j) {
    return floats(OpKind::DynamicUpdateSlice,
                  {Six, update, tensor("i64[]", {i}), tensor("i64[]", {j})});
  };
  EXPECT_EQ(at(0, 0), (Floats{8, 9, 3, 4, 5, 6}));
  EXPECT_EQ(at(5, 5), (Floats{1, 2, 3, 4, 8, 9}));
}

TEST(Concatenate, lays_operands_one_after_another) {
  const Tensor column = tensor("f64[2,1]", {8, 9});
  EXPECT_EQ(floats(OpKind::Concatenate, {Six, column, column}, {{AttrKey::Dim, int64_t{1}}}),
            (Floats{1, 2, 3, 8, 8, 4, 5, 6, 9, 9}));
}

TEST(Pad, adds_around_and_between_and_cuts) {
  const Tensor x = tensor("f64[3]", {1, 2, 3});
  const Tensor zero = tensor("f64[]", {0});
  const auto padded = [&](int64_t low, int64_t high, int64_t interior) {
    return floats(OpKind::Pad, {x, zero},
                  {{AttrKey::Low, Ints{low}},
                   {AttrKey::High, Ints{high}},
                   {AttrKey::Interior, Ints{interior}}});
  };
  EXPECT_EQ(padded(1, 2, 0), (Floats{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(padded(0, 0, 2), (Floats{1, 0, 0, 2, 0, 0, 3}));
  EXPECT_EQ(padded(-1, 1, 1), (Floats{0, 2, 0, 3, 0}));
  EXPECT_EQ(padded(-1, -1, 0), (Floats{2}));
}

TEST(Reverse, turns_the_named_dimensions) {
  EXPECT_EQ(floats(OpKind::Reverse, {Six}, {{AttrKey::Dims, Ints{1}}}), (Floats{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(floats(OpKind::Reverse, {Six}, {{AttrKey::Dims, Ints{0, 1}}}),
            (Floats{6, 5, 4, 3, 2, 1}));
}

const Tensor Table = tensor("f64[4,3]", {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110});

Attributes row_indexing() {
  return {{AttrKey::OffsetDims, Ints{1}},
          {AttrKey::CollapsedDims, Ints{0}},
          {AttrKey::StartIndexMap, Ints{0}},
          {AttrKey::IndexVectorDim, int64_t{1}}};
}

Attributes with_sizes(Attributes attrs, Ints sizes) {
  attrs.set(AttrKey::Sizes, std::move(sizes));
  return attrs;
}

TEST(Gather, takes_rows) {
  // table[[2, 0, 2]]
  EXPECT_EQ(floats(OpKind::Gather, {Table, tensor("i32[3]", {2, 0, 2})},
                   with_sizes(row_indexing(), {1, -1})),
            (Floats{60, 70, 80, 0, 10, 20, 60, 70, 80}));
}

TEST(Gather, moves_starts_to_lie_within_the_operand) {
  EXPECT_EQ(floats(OpKind::Gather, {Table, tensor("i32[2]", {-5, 99})},
                   with_sizes(row_indexing(), {1, 3})),
            (Floats{0, 10, 20, 90, 100, 110}));
}

TEST(Gather, index_vectors_name_places_in_several_dimensions) {
  // numpy.arange(24).reshape(2, 3, 4)[[0, 1], [2, 1]]
  Floats values(24);
  for (size_t i = 0; i < 24; ++i) values[i] = static_cast<double>(i);
  EXPECT_EQ(floats(OpKind::Gather, {tensor("f64[2,3,4]", values), tensor("i64[2,2]", {0, 2, 1, 1})},
                   {{AttrKey::OffsetDims, Ints{1}},
                    {AttrKey::CollapsedDims, Ints{0, 1}},
                    {AttrKey::StartIndexMap, Ints{0, 1}},
                    {AttrKey::IndexVectorDim, int64_t{1}},
                    {AttrKey::Sizes, Ints{1, 1, 4}}}),
            (Floats{8, 9, 10, 11, 16, 17, 18, 19}));
}

Attributes along_axis_1() {
  return {{AttrKey::OffsetDims, Ints{}},        {AttrKey::CollapsedDims, Ints{1}},
          {AttrKey::StartIndexMap, Ints{1}},    {AttrKey::IndexVectorDim, int64_t{2}},
          {AttrKey::OperandBatchDims, Ints{0}}, {AttrKey::IndicesBatchDims, Ints{0}}};
}

TEST(Gather, batch_dimensions_go_together) {
  // numpy.take_along_axis(table, numpy.array([[2], [0], [1], [2]]), 1)
  EXPECT_EQ(floats(OpKind::Gather, {Table, tensor("i32[4,1]", {2, 0, 1, 2})},
                   with_sizes(along_axis_1(), {1, 1})),
            (Floats{20, 30, 70, 110}));
}

const Tensor Updates = tensor("f64[3,3]", {1, 2, 3, 4, 5, 6, 7, 8, 9});
const Tensor Zeros = zeros(type_named("f64[4,3]"));

TEST(Scatter, adds_what_falls_together) {
  // numpy.add.at(zeros((4, 3)), [2, 0, 2], arange(1., 10).reshape(3, 3))
  Attributes attrs = row_indexing();
  attrs.set(AttrKey::Fn, ElementFn::Add);
  EXPECT_EQ(floats(OpKind::Scatter, {Zeros, tensor("i32[3]", {2, 0, 2}), Updates}, attrs),
            (Floats{4, 5, 6, 0, 0, 0, 8, 10, 12, 0, 0, 0}));
}

TEST(Scatter, the_last_update_stays_where_none_is_combined) {
  EXPECT_EQ(floats(OpKind::Scatter, {Zeros, tensor("i32[3]", {2, 0, 2}), Updates}, row_indexing()),
            (Floats{4, 5, 6, 0, 0, 0, 7, 8, 9, 0, 0, 0}));
}

TEST(Scatter, updates_outside_of_the_operand_are_left_out) {
  EXPECT_EQ(floats(OpKind::Scatter, {Zeros, tensor("i32[3]", {4, -1, 3}), Updates}, row_indexing()),
            (Floats{0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9}));
  Tensor far = tensor("i64[3]", {0, 0, 0});
  far.integers = {INT64_MAX, INT64_MIN, 0};
  EXPECT_EQ(floats(OpKind::Scatter, {Zeros, far, Updates}, row_indexing()),
            (Floats{7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Scatter, batch_dimensions_go_together) {
  // numpy.put_along_axis(zeros((4, 3)), numpy.array([[2], [0], [1], [2]]), [[5], [6], [7], [8]], 1)
  EXPECT_EQ(floats(OpKind::Scatter,
                   {Zeros, tensor("i32[4,1]", {2, 0, 1, 2}), tensor("f64[4,1]", {5, 6, 7, 8})},
                   along_axis_1()),
            (Floats{0, 0, 5, 6, 0, 0, 0, 7, 0, 0, 0, 8}));
}

}  // namespace
}  // namespace wafer::reference
