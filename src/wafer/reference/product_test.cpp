// Products. Expected values: numpy 2.4 or PyTorch 1.13 by the expression in the comment; A(..) is
// numpy.arange of that shape, scrambled() is in support/run_op.h.
#include <gtest/gtest.h>

#include "support/run_op.h"

namespace wafer::reference {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::DimPairs;
using ir::Ints;
using ir::OpKind;

using Floats = std::vector<double>;

/// A(shape) % modulus
Tensor counted(const std::string& type, int64_t modulus) {
  Floats values;
  for (int64_t i = 0; i < type_named(type).elements(); ++i) {
    values.push_back(static_cast<double>(i % modulus));
  }
  return tensor(type, values);
}

Floats product(const Tensor& a, const Tensor& b, const DimPairs& contract, const DimPairs& batch) {
  return run_op(OpKind::DotGeneral, {a, b},
                {{AttrKey::Contract, contract}, {AttrKey::Batch, batch}})[0]
      .floats;
}

TEST(DotGeneral, is_a_product_of_matrices_for_each_batch) {
  // numpy.einsum("bij,bjk->bik", A(2, 3, 4) % 5, A(2, 4, 2) % 3)
  EXPECT_EQ(product(counted("f64[2,3,4]", 5), counted("f64[2,4,2]", 3), {{2}, {1}}, {{0}, {0}}),
            (Floats{4, 7, 1, 8, 8, 4, 7, 10, 12, 7, 7, 4}));
}

TEST(DotGeneral, contracts_several_dimensions_in_pairs) {
  // numpy.einsum("ijk,kjl->il", A(2, 3, 4) % 5, A(4, 3, 2) % 3)
  EXPECT_EQ(product(counted("f64[2,3,4]", 5), counted("f64[4,3,2]", 3), {{1, 2}, {1, 0}}, {}),
            (Floats{22, 22, 26, 21}));
}

TEST(DotGeneral, without_contraction_is_an_outer_product) {
  EXPECT_EQ(product(tensor("f64[2]", {1, 2}), tensor("f64[3]", {1, 2, 3}), {}, {}),
            (Floats{1, 2, 3, 2, 4, 6}));
}

TEST(DotGeneral, multiplies_integers) {
  const auto result =
      run_op(OpKind::DotGeneral, {tensor("i8[2]", {100, 2}), tensor("i8[2]", {2, 3})},
             {{AttrKey::Contract, DimPairs{{0}, {0}}}}, {"i32[]"});
  EXPECT_EQ(result[0].integers[0], 206);
}

TEST(DotGeneral, accumulates_in_the_type_that_is_named) {
  const Tensor ones = tensor("f16[3]", {1, 1, 1});
  const Tensor x = tensor("f16[3]", {2048, 1, 1});
  const auto typed = [&](Attributes attrs) {
    attrs.set(AttrKey::Contract, DimPairs{{0}, {0}});
    return run_op(OpKind::DotGeneral, {x, ones}, std::move(attrs), {},
                  {.precision = Precision::Typed})[0]
        .floats[0];
  };
  EXPECT_EQ(typed({}), 2050);  // f32, where nothing is said
  EXPECT_EQ(typed({{AttrKey::Accumulate, std::string("f16")}}), 2048);  // 2048 + 1 -> 2048
}

Floats convolved(const Tensor& x, const Tensor& w, Attributes attrs = {}) {
  return run_op(OpKind::Convolution, {x, w}, std::move(attrs))[0].floats;
}

TEST(Convolution, is_pytorchs_conv2d) {
  // torch.nn.functional.conv2d(x, w)
  EXPECT_EQ(
      convolved(scrambled("f64[1,2,5,4]", 13, 6), scrambled("f64[2,2,3,2]", 11, 5)),
      (Floats{9, -52, -10, 19, -7, 5, -26, -17, 17, -17, -15, 20, -32, -41, -30, -26, -72, 19}));
}

TEST(Convolution, strides_pads_and_dilates_the_kernel) {
  // conv2d(x, w, stride=(2, 1), padding=(2, 1), dilation=(2, 1))
  const Attributes attrs = {{AttrKey::Strides, Ints{2, 1}},
                            {AttrKey::PaddingLow, Ints{2, 1}},
                            {AttrKey::PaddingHigh, Ints{2, 1}},
                            {AttrKey::RhsDilation, Ints{2, 1}}};
  EXPECT_EQ(convolved(scrambled("f64[1,2,5,4]", 13, 6), scrambled("f64[2,2,3,2]", 11, 5), attrs),
            (Floats{-28, 8,   -28, 17, 10, 59, -43, -24, -6,  -3, -34, 40,  -20, -72, -40,
                    6,   -23, -17, 13, 9,  -4, -2,  -65, -69, 19, -25, -23, 20,  42,  -32}));
}

TEST(Convolution, splits_features_into_groups) {
  // conv1d(x, w, groups=2)
  EXPECT_EQ(
      convolved(scrambled("f64[2,4,4]", 13, 6), scrambled("f64[6,2,2]", 11, 5),
                {{AttrKey::FeatureGroups, int64_t{2}}}),
      (Floats{2,  -27, -41, -25, -15, -17, 31,  26, -35, -10, -42, 31,  23, -18, -5, -11, 0, 2,
              12, 41,  7,   -18, 8,   -17, -35, 26, 31,  27,  -41, -17, 36, 1,   7,  21,  5, -7}));
}

TEST(Convolution, splits_the_batch_into_groups) {
  // torch.cat([conv1d(x[:2], w[:1]), conv1d(x[2:], w[1:])], 1)
  EXPECT_EQ(convolved(scrambled("f64[4,1,4]", 13, 6), scrambled("f64[2,1,2]", 11, 5),
                      {{AttrKey::BatchGroups, int64_t{2}}}),
            (Floats{32, 6, -19, 16, -22, -20, 25, 29, 21, 13, -34, -2}));
}

TEST(Convolution, with_holes_in_the_input_is_pytorchs_conv_transpose) {
  // conv_transpose1d(x, w, stride=2, padding=1): the kernel turned around, its features swapped
  const Tensor kernel =
      run_op(OpKind::Reverse, {scrambled("f64[2,3,3]", 11, 5)}, {{AttrKey::Dims, Ints{2}}})[0];
  EXPECT_EQ(convolved(scrambled("f64[1,2,3]", 13, 6), kernel,
                      {{AttrKey::LhsDilation, Ints{2}},
                       {AttrKey::PaddingLow, Ints{1}},
                       {AttrKey::PaddingHigh, Ints{1}},
                       {AttrKey::KernelLayout, std::string("io0")}}),
            (Floats{2, -31, -14, -30, -24, -11, -14, -22, 1, -21, 4, 11, -6, 5, -14}));
}

TEST(Convolution, layouts_say_which_dimension_is_what) {
  // conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1)).permute(0, 2, 3, 1)
  EXPECT_EQ(convolved(scrambled("f64[1,5,4,2]", 13, 6), scrambled("f64[3,2,2,2]", 11, 5),
                      {{AttrKey::LhsLayout, std::string("b01f")},
                       {AttrKey::KernelLayout, std::string("01io")},
                       {AttrKey::OutLayout, std::string("b01f")}}),
            (Floats{9, 11, -51, -52, -37, 4, -34, -60, 59, 28, -8, -51, -24, -47, 1, -3, -4, -22}));
}

TEST(Convolution, negative_padding_cuts) {
  // conv1d(x[:, :, 1:], w)
  EXPECT_EQ(convolved(scrambled("f64[1,1,4]", 13, 6), scrambled("f64[2,1,2]", 11, 5),
                      {{AttrKey::PaddingLow, Ints{-1}}}),
            (Floats{6, -19, -2, 18}));
}

}  // namespace
}  // namespace wafer::reference
