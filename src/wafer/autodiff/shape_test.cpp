// Gradients of ops that move elements, against differences.
#include <gtest/gtest.h>

#include "support/gradient_check.h"

namespace wafer::autodiff {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::Builder;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;
using reference::Tensor;
using Values = std::vector<ir::ValueId>;

void check(OpKind kind, std::vector<Tensor> inputs, Attributes attrs,
           const std::vector<std::string>& declared = {}, std::vector<size_t> by = {}) {
  SCOPED_TRACE(std::string(ir::name_of(kind)));
  std::vector<TensorType> types;
  for (const std::string& text : declared) types.push_back(type_named(text));
  GradientCheck(std::move(inputs), [=](Builder& b, const Values& x) {
    return b.emit(kind, x, attrs, types);
  }).run(std::move(by));
}

TEST(ShapeGradient, of_broadcasts_sums_over_what_was_repeated) {
  check(OpKind::BroadcastInDim, {noise("f64[3]", 1)}, {{AttrKey::Dims, Ints{1}}}, {"f64[2,3]"});
  check(OpKind::BroadcastInDim, {noise("f64[3]", 1)}, {{AttrKey::Dims, Ints{0}}}, {"f64[3,2]"});
  check(OpKind::BroadcastInDim, {noise("f64[]", 1)}, {{AttrKey::Dims, Ints{}}}, {"f64[2,2]"});
  check(OpKind::BroadcastInDim, {noise("f64[1,3]", 1)}, {{AttrKey::Dims, Ints{0, 1}}},
        {"f64[4,3]"});
  check(OpKind::BroadcastInDim, {noise("f64[2,3]", 1)}, {{AttrKey::Dims, Ints{2, 0}}},
        {"f64[3,4,2]"});
  check(OpKind::BroadcastInDim, {noise("f64[2,1,3]", 1)}, {{AttrKey::Dims, Ints{3, 1, 0}}},
        {"f64[3,4,5,2]"});
}

TEST(ShapeGradient, of_moves_equals_differences) {
  const Tensor x = noise("f64[2,3,4]", 2);
  check(OpKind::Reshape, {x}, {}, {"f64[6,4]"});
  check(OpKind::Transpose, {x}, {{AttrKey::Permutation, Ints{2, 0, 1}}});
  check(OpKind::Reverse, {x}, {{AttrKey::Dims, Ints{0, 2}}});
}

Attributes slicing(Ints starts, Ints limits, Ints strides) {
  return {{AttrKey::Starts, std::move(starts)},
          {AttrKey::Limits, std::move(limits)},
          {AttrKey::Strides, std::move(strides)}};
}

TEST(ShapeGradient, of_slices_equals_differences) {
  const Tensor x = noise("f64[3,7]", 3);
  check(OpKind::Slice, {x}, slicing({1, 2}, {3, 5}, {1, 1}));
  check(OpKind::Slice, {x}, slicing({0, 1}, {-1, -1}, {1, 1}));
  check(OpKind::Slice, {x}, slicing({0, 1}, {3, 7}, {2, 3}));
  check(OpKind::Slice, {x}, slicing({0, 0}, {-1, 6}, {1, 5}));
}

TEST(ShapeGradient, of_slices_that_tile_a_value_is_one_concatenation) {
  // [2, 6] in parts of 1, 2 and 3 columns, out of order
  GradientCheck parts({noise("f64[2,6]", 4)}, [](Builder& b, const Values& x) {
    const auto c = b.slice(x[0], {0, 3}, {2, 6});
    const auto a = b.slice(x[0], {0, 0}, {2, 1});
    return Values{c, a, b.slice(x[0], {0, 1}, {2, 3})};
  });
  parts.run();
  const ir::Graph g = differentiate(parts.forward(false), {.output = "loss", .inputs = {"x0"}});
  int pads = 0;
  int joins = 0;
  for (const ir::Op& op : g.entry().ops) {
    pads += op.kind == OpKind::Pad;
    joins += op.kind == OpKind::Concatenate;
  }
  EXPECT_EQ(pads, 0);
  EXPECT_EQ(joins, 1);
}

TEST(ShapeGradient, of_slices_that_overlap_or_leave_gaps_equals_differences) {
  GradientCheck({noise("f64[2,6]", 4)}, [](Builder& b, const Values& x) {
    return Values{b.slice(x[0], {0, 0}, {2, 3}), b.slice(x[0], {0, 2}, {2, 5}),
                  b.slice(x[0], {1, 0}, {2, 6})};
  }).run();
}

TEST(ShapeGradient, of_dynamic_slices_equals_differences) {
  const Tensor x = noise("f64[4,5]", 5);
  const Attributes sizes = {{AttrKey::Sizes, Ints{2, 3}}};
  for (double start : {-3.0, 1.0, 9.0}) {  // also where it is moved to lie within x
    const Tensor i = tensor("i32[]", {start});
    const Tensor j = tensor("i32[]", {1});
    check(OpKind::DynamicSlice, {x, i, j}, sizes);
    check(OpKind::DynamicUpdateSlice, {x, noise("f64[2,3]", 6), i, j}, {});
    check(OpKind::DynamicUpdateSlice, {x, noise("f64[2,5]", 6), i, j}, {}, {}, {1});
  }
}

TEST(ShapeGradient, of_concatenation_equals_differences) {
  const std::vector<Tensor> parts = {noise("f64[2,1]", 7), noise("f64[2,3]", 8),
                                     noise("f64[2,2]", 9)};
  check(OpKind::Concatenate, parts, {{AttrKey::Dim, int64_t{1}}});
  check(OpKind::Concatenate, parts, {{AttrKey::Dim, int64_t{1}}}, {}, {1});
}

TEST(ShapeGradient, of_padding_equals_differences) {
  const std::vector<Tensor> inputs = {noise("f64[3,4]", 10), noise("f64[]", 11)};
  const auto padding = [](Ints low, Ints high, Ints interior) {
    return Attributes{{AttrKey::Low, std::move(low)},
                      {AttrKey::High, std::move(high)},
                      {AttrKey::Interior, std::move(interior)}};
  };
  check(OpKind::Pad, inputs, padding({1, 0}, {2, 0}, {0, 0}));
  check(OpKind::Pad, inputs, padding({0, 1}, {0, 1}, {1, 2}));
  check(OpKind::Pad, inputs, padding({-1, 2}, {1, -2}, {0, 1}));
  check(OpKind::Pad, inputs, padding({-1, -1}, {-1, 0}, {1, 0}));
}

Attributes row_indexing() {
  return {{AttrKey::OffsetDims, Ints{1}},
          {AttrKey::CollapsedDims, Ints{0}},
          {AttrKey::StartIndexMap, Ints{0}},
          {AttrKey::IndexVectorDim, int64_t{1}}};
}

Attributes window_indexing() {  // windows [2, 2] at places named by (column, row)
  return {{AttrKey::OffsetDims, Ints{1, 2}},
          {AttrKey::CollapsedDims, Ints{}},
          {AttrKey::StartIndexMap, Ints{1, 0}},
          {AttrKey::IndexVectorDim, int64_t{1}}};
}

Attributes batch_indexing() {
  return {{AttrKey::OffsetDims, Ints{}},        {AttrKey::CollapsedDims, Ints{1}},
          {AttrKey::StartIndexMap, Ints{1}},    {AttrKey::IndexVectorDim, int64_t{2}},
          {AttrKey::OperandBatchDims, Ints{0}}, {AttrKey::IndicesBatchDims, Ints{0}}};
}

Attributes with(Attributes attrs, AttrKey key, ir::AttrValue value) {
  attrs.set(key, std::move(value));
  return attrs;
}

const Tensor RepeatedRows = tensor("i32[4]", {2, 0, 2, 2});
const Tensor OverlappingPlaces = tensor("i32[3,2]", {0, 0, 1, 1, 0, 0});
const Tensor Columns = tensor("i32[4,2]", {2, 0, 1, 1, 0, 2, 2, 2});

TEST(ShapeGradient, of_gathers_adds_up_what_was_read_twice) {
  check(OpKind::Gather, {noise("f64[4,3]", 12), RepeatedRows},
        with(row_indexing(), AttrKey::Sizes, Ints{1, -1}));
  check(OpKind::Gather, {noise("f64[4,3]", 12), RepeatedRows},
        with(row_indexing(), AttrKey::Sizes, Ints{1, 2}));
  check(OpKind::Gather, {noise("f64[3,3]", 13), OverlappingPlaces},
        with(window_indexing(), AttrKey::Sizes, Ints{2, 2}));
  check(OpKind::Gather, {noise("f64[4,3]", 14), Columns},
        with(batch_indexing(), AttrKey::Sizes, Ints{1, 1}));
}

/// Scatters of each sort, by operand and by updates.
void check_scatter(const std::optional<ElementFn>& fn) {
  const auto attrs = [&](Attributes indexing) {
    if (fn) indexing.set(AttrKey::Fn, *fn);
    return indexing;
  };
  check(OpKind::Scatter, {noise("f64[4,3]", 15), RepeatedRows, noise("f64[4,3]", 16)},
        attrs(row_indexing()));
  check(OpKind::Scatter, {noise("f64[4,3]", 15), RepeatedRows, noise("f64[4,2]", 16)},
        attrs(row_indexing()));
  check(OpKind::Scatter, {noise("f64[3,3]", 17), OverlappingPlaces, noise("f64[3,2,2]", 18)},
        attrs(window_indexing()));
  check(OpKind::Scatter, {noise("f64[4,3]", 19), Columns, noise("f64[4,2]", 20)},
        attrs(batch_indexing()));
}

TEST(ShapeGradient, of_scatters_equals_differences_also_where_updates_fall_together) {
  check_scatter(std::nullopt);
  check_scatter(ElementFn::Add);
  check_scatter(ElementFn::Maximum);
  check_scatter(ElementFn::Minimum);
}

TEST(ShapeGradient, of_a_scatter_that_multiplies_is_known_by_its_operand) {
  check(OpKind::Scatter, {noise("f64[4,3]", 21), RepeatedRows, noise("f64[4,3]", 22)},
        with(row_indexing(), AttrKey::Fn, ElementFn::Multiply), {}, {0});
}

}  // namespace
}  // namespace wafer::autodiff
