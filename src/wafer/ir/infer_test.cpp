#include "wafer/ir/infer.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"
#include "wafer/ir/builder.h"
#include "wafer/ir/op_table.h"

namespace wafer::ir {
namespace {

TensorType type(const std::string& text) {
  const auto parsed = TensorType::parse(text);
  if (!parsed) throw std::logic_error("not a type: " + text);
  return *parsed;
}

std::vector<TensorType> types(const std::vector<std::string>& texts) {
  std::vector<TensorType> result;
  for (const std::string& text : texts) result.push_back(type(text));
  return result;
}

using Texts = std::vector<std::string>;

/// The inferred types as text, or "rule NAME" of the rule that refused them.
Texts infer(OpKind kind, const Texts& operands, const Attributes& attrs, const Texts& declared = {},
            const Graph& graph = {}) {
  try {
    Texts result;
    for (const TensorType& t : infer_types(graph, kind, types(operands), attrs, types(declared))) {
      result.push_back(t.text());
    }
    return result;
  } catch (const InputError& e) {
    const std::string what = e.what();
    const size_t open = what.rfind('[');
    return {"rule " + what.substr(open + 1, what.rfind(']') - open - 1)};
  }
}

TEST(Infer, elementwise_keeps_shape_and_type) {
  const Attributes add{{AttrKey::Fn, ElementFn::Add}};
  EXPECT_EQ(infer(OpKind::Elementwise, {"f32[batch,3]", "f32[batch,3]"}, add),
            Texts{"f32[batch,3]"});
  EXPECT_EQ(infer(OpKind::Elementwise, {"f32[batch,3]"}, add), Texts{"rule ELT1"});
  EXPECT_EQ(infer(OpKind::Elementwise, {"f32[3]", "f32[4]"}, add), Texts{"rule ELT2"});
  EXPECT_EQ(infer(OpKind::Elementwise, {"bool[3]", "bool[3]"}, add), Texts{"rule ELT3"});
}

TEST(Infer, dot_general_puts_batch_then_left_then_right_dimensions) {
  const Attributes attrs{{AttrKey::Contract, DimPairs{{3}, {3}}},
                         {AttrKey::Batch, DimPairs{{0, 1}, {0, 1}}}};
  EXPECT_EQ(infer(OpKind::DotGeneral, {"f16[batch,12,seq,64]", "f16[batch,12,t,64]"}, attrs),
            Texts{"f16[batch,12,seq,t]"});
  EXPECT_EQ(infer(OpKind::DotGeneral, {"f16[batch,12,seq,64]", "f16[batch,12,t,32]"}, attrs),
            Texts{"rule DOT2"});
}

TEST(Infer, convolution_of_resnet_stem_halves_the_image) {
  // PyTorch: Conv2d(3, 64, kernel_size=7, stride=2, padding=3) of 224 x 224 gives 112 x 112.
  const Attributes attrs{{AttrKey::Strides, Ints{2, 2}},
                         {AttrKey::PaddingLow, Ints{3, 3}},
                         {AttrKey::PaddingHigh, Ints{3, 3}}};
  EXPECT_EQ(infer(OpKind::Convolution, {"f32[batch,3,224,224]", "f32[64,3,7,7]"}, attrs),
            Texts{"f32[batch,64,112,112]"});
}

TEST(Infer, slice_of_a_symbolic_dimension) {
  const auto attrs = [](int64_t start, int64_t limit, int64_t stride) {
    return Attributes{{AttrKey::Starts, Ints{start}},
                      {AttrKey::Limits, Ints{limit}},
                      {AttrKey::Strides, Ints{stride}}};
  };
  EXPECT_EQ(infer(OpKind::Slice, {"f32[seq]"}, attrs(0, -1, 1)), Texts{"f32[seq]"});
  EXPECT_EQ(infer(OpKind::Slice, {"f32[seq]"}, attrs(0, 1, 1)), Texts{"f32[1]"});
  EXPECT_EQ(infer(OpKind::Slice, {"f32[seq]"}, attrs(1, -1, 1)), Texts{"rule SLC4"});
  EXPECT_EQ(infer(OpKind::Slice, {"f32[7]"}, attrs(1, 6, 2)), Texts{"f32[3]"});
}

TEST(Infer, gather_of_rows) {
  const Attributes attrs{{AttrKey::OffsetDims, Ints{2}},
                         {AttrKey::CollapsedDims, Ints{0}},
                         {AttrKey::StartIndexMap, Ints{0}},
                         {AttrKey::IndexVectorDim, int64_t{2}},
                         {AttrKey::Sizes, Ints{1, 768}}};
  EXPECT_EQ(infer(OpKind::Gather, {"f32[30522,768]", "i32[batch,seq]"}, attrs),
            Texts{"f32[batch,seq,768]"});
}

TEST(Infer, attention_with_grouped_heads) {
  const Attributes attrs{{AttrKey::Scale, 0.125}, {AttrKey::Causal, true}};
  EXPECT_EQ(infer(OpKind::Attention,
                  {"f16[batch,32,seq,128]", "f16[batch,8,seq,128]", "f16[batch,8,seq,64]"}, attrs),
            Texts{"f16[batch,32,seq,64]"});
  EXPECT_EQ(infer(OpKind::Attention,
                  {"f16[batch,32,seq,128]", "f16[batch,5,seq,128]", "f16[batch,5,seq,64]"}, attrs),
            Texts{"rule ATT3"});
}

TEST(Builder, builds_a_perceptron_with_types) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId x = b.input("x", type("f32[batch,4]"));
  const ValueId w = b.parameter("w", type("f32[4,3]"));
  const ValueId bias = b.parameter("b", type("f32[3]"));
  const ValueId y = b.unary(ElementFn::Tanh, b.add(b.matmul(x, w), bias));
  EXPECT_EQ(b.type_of(y).text(), "f32[batch,3]");
  EXPECT_EQ(b.type_of(b.reduce_mean(y, {0, 1})).text(), "f32[]");
  EXPECT_THROW(b.matmul(w, x), InputError);
}

}  // namespace
}  // namespace wafer::ir
