// Gradients of composites, and of their gradients, against differences.
#include <gtest/gtest.h>

#include "support/gradient_check.h"
#include "wafer/autodiff/rules.h"
#include "wafer/ir/decompose.h"

namespace wafer::autodiff {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::Builder;
using ir::Ints;
using ir::OpKind;
using reference::Tensor;
using Values = std::vector<ir::ValueId>;

void check(OpKind kind, std::vector<Tensor> inputs, const Attributes& attrs,
           std::vector<size_t> by = {}) {
  SCOPED_TRACE(std::string(ir::name_of(kind)));
  GradientCheck(std::move(inputs), [=](Builder& b, const Values& x) {
    return b.emit(kind, x, attrs);
  }).run(std::move(by));
}

const Attributes Epsilon = {{AttrKey::Epsilon, 1e-3}};
const Attributes Tanh = {{AttrKey::Approximate, std::string("tanh")}};
const Attributes Channel = {{AttrKey::Epsilon, 1e-3}, {AttrKey::Dim, int64_t{1}}};

TEST(CompositeGradient, of_normalisations_equals_differences) {
  const Tensor x = noise("f64[2,3,5]", 1);
  const Tensor row = noise("f64[5]", 2, 0.5, 1.5);
  check(OpKind::LayerNorm, {x, row, noise("f64[5]", 3)}, Epsilon);
  check(OpKind::LayerNorm, {x, row, noise("f64[5]", 3)}, Epsilon, {0});
  check(OpKind::RmsNorm, {x, row}, Epsilon);
}

TEST(CompositeGradient, of_batch_norm_covers_all_its_results) {
  // y, mean and variance are all weighed in the loss
  const Tensor x = noise("f64[4,3,2]", 4);
  check(OpKind::BatchNorm, {x, noise("f64[3]", 5), noise("f64[3]", 6)}, Channel);
  for (size_t result = 0; result < 3; ++result) {
    GradientCheck({x, noise("f64[3]", 5), noise("f64[3]", 6)}, [&](Builder& b, const Values& v) {
      return Values{b.emit(OpKind::BatchNorm, v, Channel)[result]};
    }).run({0});
  }
}

TEST(CompositeGradient, of_softmax_and_gelu_equals_differences) {
  check(OpKind::Softmax, {noise("f64[2,3,4]", 7, -3, 3)}, {});
  check(OpKind::Gelu, {noise("f64[7]", 8, -3, 3)}, {});
  check(OpKind::Gelu, {noise("f64[7]", 8, -3, 3)}, Tanh);
}

Attributes attending(bool causal) { return {{AttrKey::Scale, 0.6}, {AttrKey::Causal, causal}}; }

TEST(CompositeGradient, of_attention_equals_differences) {
  const Tensor q = noise("f64[2,4,3,2]", 9);
  check(OpKind::Attention, {q, noise("f64[2,4,3,2]", 10), noise("f64[2,4,3,2]", 11)},
        attending(false));
  check(OpKind::Attention, {q, noise("f64[2,4,3,2]", 10), noise("f64[2,4,3,2]", 11)},
        attending(true));
  // query heads share key heads, more keys than queries, values of another width
  check(OpKind::Attention, {q, noise("f64[2,2,5,2]", 12), noise("f64[2,2,5,3]", 13)},
        attending(true));
  check(OpKind::Attention, {q, noise("f64[2,1,5,2]", 12), noise("f64[2,1,5,3]", 13)},
        attending(false), {1});
}

TEST(CompositeGradient, of_attention_goes_to_its_bias_too) {
  const Tensor q = noise("f64[2,4,3,2]", 14);
  const Tensor k = noise("f64[2,2,5,2]", 15);
  const Tensor v = noise("f64[2,2,5,3]", 16);
  for (const char* bias : {"f64[1,4,3,5]", "f64[2,1,1,5]", "f64[2,4,3,5]"}) {
    check(OpKind::Attention, {q, k, v, noise(bias, 17)}, attending(true));
    check(OpKind::Attention, {q, k, v, noise(bias, 17)}, attending(false), {0, 1, 2});
    check(OpKind::Attention, {q, k, v, noise(bias, 17)}, attending(false), {3});
  }
}

TEST(CompositeGradient, of_attention_stays_one_op_where_its_bias_is_a_mask) {
  ir::Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const auto q = b.parameter("q", type_named("f32[batch,4,8,16]"));
  const auto mask = b.input("mask", type_named("f32[batch,1,1,8]"));
  b.output("loss", b.reduce_sum(b.attention(q, q, q, mask, 0.25, true), {0, 1, 2, 3}));
  int heavy = 0;
  const ir::Graph gradient = differentiate(graph);
  for (const ir::Op& op : gradient.entry().ops) {
    heavy += op.kind == OpKind::Attention || op.kind == OpKind::AttentionGrad;
    EXPECT_NE(op.kind, OpKind::DotGeneral);
  }
  EXPECT_EQ(heavy, 2);
}

TEST(CompositeGradient, of_cross_entropy_equals_differences) {
  const Tensor logits = noise("f64[3,2,4]", 18, -2, 2);
  const Tensor labels = tensor("i32[3,2]", {0, 3, -100, 2, 1, 1});
  check(OpKind::CrossEntropy, {logits, labels}, {});
  check(OpKind::CrossEntropy, {logits, tensor("i32[3,2]", {0, 3, 3, 2, 1, 1})},
        {{AttrKey::IgnoreIndex, int64_t{3}}});
}

TEST(CompositeGradient, of_gradients_equals_differences) {
  const Tensor x = noise("f64[2,3,5]", 19);
  const Tensor dy = noise("f64[2,3,5]", 20);
  const Tensor row = noise("f64[5]", 21, 0.5, 1.5);
  check(OpKind::LayerNormGrad, {x, row, dy}, Epsilon);
  check(OpKind::RmsNormGrad, {x, row, dy}, Epsilon);
  check(OpKind::BatchNormGrad, {x, noise("f64[3]", 22), dy}, Channel);
  check(OpKind::SoftmaxGrad, {x, dy}, {});
  check(OpKind::GeluGrad, {x, dy}, {});
  check(OpKind::GeluGrad, {x, dy}, Tanh);
  const Tensor q = noise("f64[1,2,3,2]", 23);
  const Tensor k = noise("f64[1,1,4,2]", 24);
  check(OpKind::AttentionGrad, {q, k, noise("f64[1,1,4,2]", 25), noise("f64[1,2,3,2]", 26)},
        attending(true));
  check(OpKind::CrossEntropyGrad,
        {noise("f64[3,4]", 27), tensor("i32[3]", {2, -100, 0}), noise("f64[3]", 28)}, {});
}

TEST(CompositeGradient, every_composite_has_a_rule_or_goes_through_its_parts) {
  for (int i = 0; i < ir::OpKindCount; ++i) {
    ir::Op op;
    op.kind = static_cast<OpKind>(i);
    if (!ir::is_composite(op.kind)) continue;
    EXPECT_NE(rule_of(op.kind) != nullptr, through_decomposition(op, false))
        << ir::name_of(op.kind);
  }
}

}  // namespace
}  // namespace wafer::autodiff
