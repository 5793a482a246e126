// Types that published networks have, and symbolic dimensions. Each rule by itself:
// infer_rules_test.cpp.
#include "wafer/ir/infer.h"

#include <gtest/gtest.h>

namespace wafer::ir {
namespace {

using Texts = std::vector<std::string>;

std::vector<TensorType> types(const Texts& texts) {
  std::vector<TensorType> result;
  for (const std::string& text : texts) result.push_back(TensorType::parse(text).value());
  return result;
}

/// The one inferred type, as text.
std::string infer(OpKind kind, const Texts& operands, const Attributes& attrs,
                  const Texts& declared = {}) {
  const auto results = infer_types(Graph{}, kind, types(operands), attrs, types(declared));
  return results.size() == 1 ? results[0].text() : "not one result";
}

TEST(Infer, scores_of_attention_are_batch_then_left_then_right_dimensions) {
  const Attributes attrs{{AttrKey::Contract, DimPairs{{3}, {3}}},
                         {AttrKey::Batch, DimPairs{{0, 1}, {0, 1}}}};
  EXPECT_EQ(infer(OpKind::DotGeneral, {"f16[batch,12,seq,64]", "f16[batch,12,t,64]"}, attrs),
            "f16[batch,12,seq,t]");
}

TEST(Infer, products_of_eight_bit_floats_have_the_declared_type) {
  const Attributes attrs{{AttrKey::Contract, DimPairs{{1}, {0}}}};
  EXPECT_EQ(infer(OpKind::DotGeneral, {"f8e4m3fn[2,3]", "f8e5m2[3,4]"}, attrs, {"bf16[2,4]"}),
            "bf16[2,4]");
}

TEST(Infer, convolution_of_resnet_stem_halves_the_image) {
  // PyTorch: Conv2d(3, 64, kernel_size=7, stride=2, padding=3) of 224 x 224 gives 112 x 112.
  const Attributes attrs{{AttrKey::Strides, Ints{2, 2}},
                         {AttrKey::PaddingLow, Ints{3, 3}},
                         {AttrKey::PaddingHigh, Ints{3, 3}}};
  EXPECT_EQ(infer(OpKind::Convolution, {"f32[batch,3,224,224]", "f32[64,3,7,7]"}, attrs),
            "f32[batch,64,112,112]");
}

TEST(Infer, convolution_keeps_a_symbolic_size_where_padding_makes_up_for_the_kernel) {
  const Attributes same{{AttrKey::PaddingLow, Ints{1}}, {AttrKey::PaddingHigh, Ints{1}}};
  EXPECT_EQ(infer(OpKind::Convolution, {"f32[2,4,seq]", "f32[6,4,3]"}, same), "f32[2,6,seq]");
  // Patches that tile the image: Conv2d(3, 768, kernel_size=16, stride=16) of ViT.
  const Attributes patches{{AttrKey::Strides, Ints{16, 16}}};
  EXPECT_EQ(infer(OpKind::Convolution, {"f32[2,3,16*h,224]", "f32[768,3,16,16]"}, patches),
            "f32[2,768,h,14]");
}

TEST(Infer, transposed_convolution_dilates_the_input) {
  // PyTorch: ConvTranspose2d(kernel_size=4, stride=2, padding=1) of 7 gives 14: as a convolution
  // of the dilated input, padding 4 - 1 - 1 on both sides.
  const Attributes attrs{{AttrKey::LhsDilation, Ints{2}},
                         {AttrKey::PaddingLow, Ints{2}},
                         {AttrKey::PaddingHigh, Ints{2}}};
  EXPECT_EQ(infer(OpKind::Convolution, {"f32[1,3,7]", "f32[5,3,4]"}, attrs), "f32[1,5,14]");
}

TEST(Infer, window_larger_than_what_it_slides_over_has_no_place) {
  const Attributes attrs{{AttrKey::Window, Ints{5}},
                         {AttrKey::Strides, Ints{1}},
                         {AttrKey::PaddingLow, Ints{0}},
                         {AttrKey::PaddingHigh, Ints{0}},
                         {AttrKey::Fn, ElementFn::Add}};
  EXPECT_EQ(infer(OpKind::ReduceWindow, {"f32[3]", "f32[]"}, attrs), "f32[0]");
}

TEST(Infer, slice_of_a_symbolic_dimension) {
  const auto slice = [](int64_t limit, int64_t stride, const std::string& type) {
    return infer(OpKind::Slice, {type},
                 {{AttrKey::Starts, Ints{0}},
                  {AttrKey::Limits, Ints{limit}},
                  {AttrKey::Strides, Ints{stride}}});
  };
  EXPECT_EQ(slice(-1, 1, "f32[seq]"), "f32[seq]");
  EXPECT_EQ(slice(1, 1, "f32[seq]"), "f32[1]");  // the first token, as BERT's pooler takes it
  EXPECT_EQ(slice(-1, 2, "f32[2*seq]"), "f32[seq]");
  EXPECT_EQ(slice(6, 4, "f32[7]"), "f32[2]");  // 0 and 4
}

TEST(Infer, gather_of_rows_is_an_embedding) {
  const Attributes attrs{{AttrKey::OffsetDims, Ints{2}},
                         {AttrKey::CollapsedDims, Ints{0}},
                         {AttrKey::StartIndexMap, Ints{0}},
                         {AttrKey::IndexVectorDim, int64_t{2}},
                         {AttrKey::Sizes, Ints{1, 768}}};
  EXPECT_EQ(infer(OpKind::Gather, {"f32[30522,768]", "i32[batch,seq]"}, attrs),
            "f32[batch,seq,768]");
}

TEST(Infer, gather_of_the_specification_of_stablehlo) {
  // The example of gather in the StableHLO specification: operand [2,3,4,2], indices [2,2,3,2].
  const Attributes attrs{
      {AttrKey::OffsetDims, Ints{3, 4}},    {AttrKey::CollapsedDims, Ints{1}},
      {AttrKey::OperandBatchDims, Ints{0}}, {AttrKey::IndicesBatchDims, Ints{1}},
      {AttrKey::StartIndexMap, Ints{2, 1}}, {AttrKey::IndexVectorDim, int64_t{3}},
      {AttrKey::Sizes, Ints{1, 1, 2, 2}}};
  EXPECT_EQ(infer(OpKind::Gather, {"i32[2,3,4,2]", "i64[2,2,3,2]"}, attrs), "i32[2,2,3,2,2]");
}

TEST(Infer, attention_with_grouped_heads) {
  const Attributes attrs{{AttrKey::Scale, 0.125}, {AttrKey::Causal, true}};
  EXPECT_EQ(infer(OpKind::Attention,
                  {"f16[batch,32,seq,128]", "f16[batch,8,seq,128]", "f16[batch,8,seq,64]"}, attrs),
            "f16[batch,32,seq,64]");
}

}  // namespace
}  // namespace wafer::ir
