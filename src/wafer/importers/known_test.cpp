#include "wafer/importers/known.h"

#include <gtest/gtest.h>

#include "wafer/importers/known_element.h"

namespace wafer::importers {
namespace {

using ir::ElementFn;

const Dim Batch = Dim::symbol("batch");
const Dim Seq = Dim::symbol("seq");

std::optional<Dim> apply(ElementFn fn, const Dim& a, const Dim& b) {
  return apply_to_dims(fn, {a, b}, DType::I64);
}

Known ints(ir::Ints shape, std::vector<Dim> values) {
  return {.dtype = DType::I64, .shape = std::move(shape), .ints = std::move(values), .floats = {}};
}

TEST(KnownElement, multiplies_and_divides_symbols) {
  EXPECT_EQ(apply(ElementFn::Multiply, Batch, 12), Dim(12) * Batch);
  EXPECT_EQ(apply(ElementFn::Divide, Dim(12) * Batch * Seq, Dim(4) * Seq), Dim(3) * Batch);
  EXPECT_EQ(apply(ElementFn::Divide, Batch, 2), std::nullopt);
  EXPECT_EQ(apply(ElementFn::Remainder, Dim(12) * Batch, 4), Dim(0));
}

TEST(KnownElement, adds_only_what_is_again_a_product) {
  EXPECT_EQ(apply(ElementFn::Add, Batch, 0), Batch);
  EXPECT_EQ(apply(ElementFn::Add, Batch, Dim(2) * Batch), Dim(3) * Batch);
  EXPECT_EQ(apply(ElementFn::Subtract, Batch, Batch), Dim(0));
  EXPECT_EQ(apply(ElementFn::Add, Batch, 1), std::nullopt);
}

TEST(KnownElement, compares_where_every_positive_value_agrees) {
  EXPECT_EQ(apply(ElementFn::Equal, Batch, -1), Dim(0));  // no size is -1
  EXPECT_EQ(apply(ElementFn::Equal, Batch, Batch), Dim(1));
  EXPECT_EQ(apply(ElementFn::Equal, Batch, 1), std::nullopt);
  EXPECT_EQ(apply(ElementFn::GreaterEqual, Batch, 1), Dim(1));
  EXPECT_EQ(apply(ElementFn::Greater, Batch, 1), std::nullopt);
  EXPECT_EQ(apply(ElementFn::Greater, Dim(8) * Batch, 7), Dim(1));
  EXPECT_EQ(apply(ElementFn::Maximum, Batch, 1), Batch);
  EXPECT_EQ(apply(ElementFn::Less, Batch, Seq), std::nullopt);
}

TEST(KnownElement, follows_no_overflow_and_no_division_by_zero) {
  EXPECT_EQ(apply(ElementFn::Multiply, INT64_MAX, 2), std::nullopt);
  EXPECT_EQ(apply(ElementFn::Add, INT64_MAX, INT64_MAX), std::nullopt);
  EXPECT_EQ(apply(ElementFn::Divide, 1, 0), std::nullopt);
  EXPECT_EQ(apply(ElementFn::Divide, INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(apply(ElementFn::Divide, -7, 2), Dim(-3));  // toward zero
}

TEST(Known, selects_by_symbolic_truth) {
  const Known predicate{.dtype = DType::Bool, .shape = {2}, .ints = {0, 1}, .floats = {}};
  const Known yes = ints({2}, {1, 1});
  const Known no = ints({2}, {Batch, -1});
  const auto chosen = fold_elementwise(ElementFn::Select, {&predicate, &yes, &no});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->ints, (std::vector<Dim>{Batch, 1}));
}

TEST(Known, rounds_floats_to_their_type) {
  const Known x{.dtype = DType::F32, .shape = {}, .ints = {}, .floats = {2}};
  // numpy: float(np.sqrt(np.float32(2)))
  EXPECT_EQ(fold_elementwise(ElementFn::Sqrt, {&x})->floats[0], 1.4142135381698608);
}

TEST(Known, converts_what_fits) {
  const Known x{.dtype = DType::F32, .shape = {2}, .ints = {}, .floats = {2.9, -2.9}};
  EXPECT_EQ(fold_convert(x, DType::I64)->ints, (std::vector<Dim>{2, -2}));
  EXPECT_FALSE(fold_convert(ints({1}, {300}), DType::I8));
  EXPECT_FALSE(fold_convert(ints({1}, {Batch}), DType::F32));
  EXPECT_EQ(fold_convert(ints({1}, {Batch}), DType::Bool)->ints[0], Dim(1));
}

TEST(Known, views_are_slices_and_transposes) {
  const Known x = ints({2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(fold_view(x, {3, 2}, {1, 3}).ints, (std::vector<Dim>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(fold_view(x, {2, 2}, {3, -2}, 2).ints, (std::vector<Dim>{2, 0, 5, 3}));
}

TEST(Known, gathers_and_joins) {
  const Known x = ints({2, 2}, {Batch, 1, 2, 3});
  EXPECT_EQ(fold_gather(x, ints({}, {0}), 1).ints, (std::vector<Dim>{Batch, 2}));
  EXPECT_EQ(fold_concatenate({&x, &x}, 1).ints, (std::vector<Dim>{Batch, 1, Batch, 1, 2, 3, 2, 3}));
}

TEST(Known, reduces_products_of_dimensions) {
  const Known x = ints({3}, {2, Batch, Seq});
  EXPECT_EQ(fold_reduce(ElementFn::Multiply, x, {0})->ints[0], Dim(2) * Batch * Seq);
  EXPECT_EQ(fold_reduce(ElementFn::Add, x, {0}), std::nullopt);
  EXPECT_EQ(fold_reduce(ElementFn::Multiply, ints({0}, {}), {0})->ints[0], Dim(1));
  EXPECT_EQ(fold_reduce(ElementFn::Maximum, ints({0}, {}), {0}), std::nullopt);
}

}  // namespace
}  // namespace wafer::importers
