// Gradients of products, against differences.
#include <gtest/gtest.h>

#include "support/gradient_check.h"
#include "wafer/reference/interpreter.h"

namespace wafer::autodiff {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::Builder;
using ir::DimPairs;
using ir::Ints;
using ir::OpKind;
using reference::Tensor;
using Values = std::vector<ir::ValueId>;

void check_dot(const std::string& a, const std::string& b, const DimPairs& contract,
               const DimPairs& batch = {}) {
  SCOPED_TRACE(a + " . " + b);
  GradientCheck({noise(a, 1), noise(b, 2)}, [=](Builder& builder, const Values& x) {
    return Values{builder.dot_general(x[0], x[1], contract, batch)};
  }).run();
}

TEST(DotGradient, equals_differences) {
  check_dot("f64[3,4]", "f64[4,2]", {{1}, {0}});
  check_dot("f64[3,4]", "f64[2,4]", {{1}, {1}});
  check_dot("f64[4,3]", "f64[2,4]", {{0}, {1}});
  check_dot("f64[2,3,4]", "f64[4,5]", {{2}, {0}});
  check_dot("f64[2,3,4]", "f64[2,4,5]", {{2}, {1}}, {{0}, {0}});
  check_dot("f64[3,2,4]", "f64[4,5,2]", {{2}, {0}}, {{1}, {2}});
  check_dot("f64[2,3,4]", "f64[4,5,3]", {{1, 2}, {2, 0}});
  check_dot("f64[2,3,4,2]", "f64[2,4,2,3]", {{3, 1}, {0, 3}}, {{0}, {2}});
  check_dot("f64[3]", "f64[2]", {});
  check_dot("f64[3]", "f64[3]", {{0}, {0}});
}

int count(const ir::Graph& graph, OpKind kind) {
  int n = 0;
  for (const ir::Op& op : graph.entry().ops) n += op.kind == kind;
  return n;
}

TEST(DotGradient, of_a_matrix_needs_no_transposition_either_way_round) {
  for (const bool in_out : {true, false}) {
    ir::Graph graph;
    graph.main = graph.add_function("main");
    Builder b(graph, graph.main);
    const auto x = b.input("x", type_named("f32[batch,8,16]"));
    const auto w = b.parameter("w", type_named(in_out ? "f32[16,4]" : "f32[4,16]"));
    const auto y = b.dot_general(x, w, {{2}, {in_out ? 0 : 1}});
    b.output("loss", b.reduce_sum(y, {0, 1, 2}));
    const ir::Graph g = differentiate(graph, {.output = "loss", .inputs = {"x", "w"}});
    EXPECT_EQ(count(g, OpKind::Transpose), 0);
    EXPECT_EQ(count(g, OpKind::DotGeneral), 3);
  }
}

TEST(DotGradient, comes_back_in_the_type_of_each_operand) {
  for (const auto& [a, c, y] :
       {std::tuple("f16", "f16", "f32"), std::tuple("f8e4m3fn", "f8e5m2", "bf16")}) {
    ir::Graph graph;
    graph.main = graph.add_function("main");
    Builder b(graph, graph.main);
    const auto x = b.input("x", type_named(std::string(a) + "[2,3]"));
    const auto w = b.input("w", type_named(std::string(c) + "[3,4]"));
    const auto product =
        b.emit1(OpKind::DotGeneral, {x, w}, {{AttrKey::Contract, DimPairs{{1}, {0}}}},
                {type_named(std::string(y) + "[2,4]")});
    b.output("loss", b.reduce_sum(b.convert(product, DType::F32), {0, 1}));
    const ir::Graph g = differentiate(graph, {.output = "loss", .inputs = {"x", "w"}});
    ir::verify(g);
    // d(sum)/dx[i][k] = sum over j of w[k][j] = 4 for ones
    const auto out = reference::evaluate(
        g, std::vector{tensor(std::string(a) + "[2,3]", std::vector<double>(6, 1)),
                       tensor(std::string(c) + "[3,4]", std::vector<double>(12, 1))});
    EXPECT_EQ(out[1], tensor(std::string(a) + "[2,3]", std::vector<double>(6, 4)));
    EXPECT_EQ(out[2], tensor(std::string(c) + "[3,4]", std::vector<double>(12, 2)));
  }
}

void check_convolution(const std::string& x, const std::string& w, const Attributes& attrs) {
  SCOPED_TRACE(x + " * " + w);
  GradientCheck({noise(x, 3), noise(w, 4)}, [=](Builder& b, const Values& v) {
    return b.emit(OpKind::Convolution, v, attrs);
  }).run();
}

Attributes spatial(Ints strides, Ints low, Ints high, Ints lhs_dilation, Ints rhs_dilation) {
  return {{AttrKey::Strides, std::move(strides)},
          {AttrKey::PaddingLow, std::move(low)},
          {AttrKey::PaddingHigh, std::move(high)},
          {AttrKey::LhsDilation, std::move(lhs_dilation)},
          {AttrKey::RhsDilation, std::move(rhs_dilation)}};
}

TEST(ConvolutionGradient, equals_differences) {
  check_convolution("f64[2,3,4,5]", "f64[2,3,2,3]", {});
  check_convolution("f64[2,2,5]", "f64[3,2,3]", spatial({2}, {1}, {1}, {1}, {1}));
  check_convolution("f64[2,2,6]", "f64[3,2,3]", spatial({2}, {0}, {0}, {1}, {1}));
  check_convolution("f64[1,2,7]", "f64[3,2,3]", spatial({1}, {2}, {2}, {1}, {2}));
  check_convolution("f64[1,2,4]", "f64[3,2,3]", spatial({1}, {1}, {2}, {2}, {1}));
  check_convolution("f64[1,2,9]", "f64[3,2,2]", spatial({3}, {1}, {0}, {2}, {3}));
  check_convolution("f64[1,2,6]", "f64[3,2,2]", spatial({2}, {-1}, {-1}, {1}, {1}));
  check_convolution("f64[1,1,5,4]", "f64[2,1,3,2]",
                    spatial({2, 1}, {1, 0}, {2, 1}, {1, 3}, {1, 2}));
  check_convolution("f64[3,2]", "f64[4,2]", {});  // no spatial dimension: a product of matrices
}

TEST(ConvolutionGradient, in_groups_equals_differences) {
  Attributes features = spatial({2}, {1}, {1}, {1}, {1});
  features.set(AttrKey::FeatureGroups, int64_t{2});
  check_convolution("f64[2,4,5]", "f64[6,2,3]", features);
  features.set(AttrKey::FeatureGroups, int64_t{4});  // depthwise
  check_convolution("f64[2,4,5]", "f64[4,1,3]", features);
  check_convolution("f64[2,4,5]", "f64[8,1,3]", features);
  Attributes batches = spatial({1}, {1}, {0}, {1}, {2});
  batches.set(AttrKey::BatchGroups, int64_t{3});
  check_convolution("f64[6,2,5]", "f64[6,2,2]", batches);
}

TEST(ConvolutionGradient, keeps_layouts) {
  const Attributes channels_last = {{AttrKey::LhsLayout, std::string("b01f")},
                                    {AttrKey::KernelLayout, std::string("01io")},
                                    {AttrKey::OutLayout, std::string("b01f")}};
  check_convolution("f64[2,4,5,3]", "f64[2,3,3,2]", channels_last);
  Attributes odd = {{AttrKey::LhsLayout, std::string("0f1b")},
                    {AttrKey::KernelLayout, std::string("i1o0")},
                    {AttrKey::OutLayout, std::string("f01b")},
                    {AttrKey::Strides, Ints{2, 1}},
                    {AttrKey::FeatureGroups, int64_t{2}}};
  check_convolution("f64[5,4,4,2]", "f64[2,2,6,3]", odd);
  odd.set(AttrKey::FeatureGroups, int64_t{1});
  odd.set(AttrKey::BatchGroups, int64_t{2});
  check_convolution("f64[5,2,4,4]", "f64[2,2,6,3]", odd);
}

TEST(ConvolutionGradient, leaves_the_batch_symbolic) {
  ir::Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const auto x = b.input("x", type_named("f32[batch,4,9,9]"));
  const auto w = b.parameter("w", type_named("f32[8,2,3,3]"));
  const auto y = b.emit1(OpKind::Convolution, {x, w},
                         {{AttrKey::Strides, Ints{2, 2}},
                          {AttrKey::PaddingLow, Ints{1, 1}},
                          {AttrKey::PaddingHigh, Ints{1, 1}},
                          {AttrKey::FeatureGroups, int64_t{2}}});
  b.output("loss", b.reduce_sum(y, {0, 1, 2, 3}));
  const ir::Graph g = differentiate(graph, {.output = "loss", .inputs = {"x", "w"}});
  const ir::Function& main = g.entry();
  EXPECT_EQ(main.type_of(main.outputs[1].value), type_named("f32[batch,4,9,9]"));
  EXPECT_EQ(main.type_of(main.outputs[2].value), type_named("f32[8,2,3,3]"));
}

}  // namespace
}  // namespace wafer::autodiff
