#include "wafer/ir/decompose.h"

#include <gtest/gtest.h>

namespace wafer::ir {
namespace {

struct Case {
  OpKind kind;
  std::vector<std::string> operands;  ///< "?" stands for the element type
  Attributes attrs;
};

std::vector<Case> cases() {
  const Attributes epsilon{{AttrKey::Epsilon, 1e-5}};
  const Attributes channel{{AttrKey::Epsilon, 1e-5}, {AttrKey::Dim, int64_t{1}}};
  const Attributes causal{{AttrKey::Scale, 0.125}, {AttrKey::Causal, true}};
  const Attributes plain{{AttrKey::Scale, 0.125}};
  const Attributes tanh{{AttrKey::Approximate, std::string("tanh")}};
  const std::string x = "?[batch,seq,8]";
  const std::string q = "?[batch,6,seq,8]";
  const std::string k = "?[batch,2,past,8]";
  const std::string v = "?[batch,2,past,4]";
  const std::string y = "?[batch,6,seq,4]";
  return {{OpKind::LayerNorm, {x, "?[8]", "?[8]"}, epsilon},
          {OpKind::LayerNormGrad, {x, "?[8]", x}, epsilon},
          {OpKind::RmsNorm, {x, "?[8]"}, epsilon},
          {OpKind::RmsNormGrad, {x, "?[8]", x}, epsilon},
          {OpKind::BatchNorm, {"?[batch,8,5,5]", "?[8]", "?[8]"}, channel},
          {OpKind::BatchNormGrad, {"?[batch,8,5,5]", "?[8]", "?[batch,8,5,5]"}, channel},
          {OpKind::Softmax, {x}, {}},
          {OpKind::SoftmaxGrad, {x, x}, {}},
          {OpKind::Gelu, {x}, {}},
          {OpKind::Gelu, {x}, tanh},
          {OpKind::GeluGrad, {x, x}, {}},
          {OpKind::GeluGrad, {x, x}, tanh},
          {OpKind::Attention, {q, k, v}, plain},
          {OpKind::Attention, {q, q, q, "?[batch,1,1,seq]"}, causal},
          {OpKind::Attention, {q, k, v, "?[1,6,seq,past]"}, causal},
          {OpKind::AttentionGrad, {q, k, v, y}, causal},
          {OpKind::AttentionGrad, {q, q, q, "?[batch,1,1,seq]", q}, plain},
          {OpKind::CrossEntropy, {x, "i32[batch,seq]"}, {}},
          {OpKind::CrossEntropy, {x, "u8[batch,seq]"}, {}},
          {OpKind::CrossEntropyGrad, {x, "i64[batch,seq]", "!f32[batch,seq]"}, {}}};
}

TensorType operand_type(std::string text, DType dtype) {
  if (text[0] == '!') text = (dtype == DType::F64 ? "f64" : "f32") + text.substr(4);
  if (text[0] == '?') text = std::string(name_of(dtype)) + text.substr(1);
  return TensorType::parse(text).value();
}

Graph graph_of(const Case& c, DType dtype) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  std::vector<ValueId> operands;
  for (const std::string& text : c.operands) {
    operands.push_back(b.input("x" + std::to_string(operands.size()), operand_type(text, dtype)));
  }
  b.layer = "layer.0";
  for (ValueId v : b.emit(c.kind, operands, c.attrs)) b.output("y" + std::to_string(v.index), v);
  return graph;
}

/// Every composite, in every float type, with symbolic dimensions.
template <typename Check>
void for_all(Check check) {
  for (const Case& c : cases()) {
    for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::Cb16}) {
      SCOPED_TRACE(std::string(name_of(c.kind)) + " " + std::string(name_of(dtype)));
      const Graph graph = graph_of(c, dtype);
      check(graph, decompose_all(graph));
    }
  }
}

TEST(Decompose, covers_every_composite) {
  std::vector<bool> covered(OpKindCount, false);
  for (const Case& c : cases()) covered[static_cast<size_t>(c.kind)] = true;
  for (int i = 0; i < OpKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_EQ(covered[static_cast<size_t>(i)], is_composite(kind)) << name_of(kind);
  }
}

TEST(Decompose, leaves_no_composite_and_keeps_the_types) {
  for_all([](const Graph& graph, const Graph& primitives) {
    const Function& before = graph.entry();
    const Function& after = primitives.entry();
    for (const Op& op : after.ops) EXPECT_FALSE(is_composite(op.kind)) << name_of(op.kind);
    ASSERT_EQ(after.outputs.size(), before.outputs.size());
    for (size_t i = 0; i < after.outputs.size(); ++i) {
      EXPECT_EQ(after.type_of(after.outputs[i].value), before.type_of(before.outputs[i].value));
    }
  });
}

TEST(Decompose, keeps_the_layer_of_the_op) {
  for_all([](const Graph&, const Graph& primitives) {
    for (const Op& op : primitives.entry().ops) EXPECT_EQ(op.layer, "layer.0");
  });
}

TEST(Decompose, computes_statistics_of_narrow_floats_in_f32) {
  for_all([](const Graph&, const Graph& primitives) {
    const Function& f = primitives.entry();
    for (const Op& op : f.ops) {
      if (op.kind != OpKind::Reduce && op.kind != OpKind::Elementwise) continue;
      const DType dtype = f.type_of(op.results[0]).dtype;
      EXPECT_FALSE(is_float(dtype) && size_in_bytes(dtype) < 4);
    }
  });
}

}  // namespace
}  // namespace wafer::ir
