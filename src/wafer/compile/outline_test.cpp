#include "wafer/compile/outline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "wafer/ir/builder.h"
#include "wafer/ir/verify.h"
#include "wafer/reference/interpreter.h"

namespace wafer::compile {
namespace {

using ir::Builder;
using ir::Graph;
using ir::OpKind;
using ir::ValueId;

Graph begin_graph() {
  Graph graph;
  graph.name = "test";
  graph.main = graph.add_function("main");
  return graph;
}

/// x + gelu(x w) with a parameter of its own.
ValueId residual_layer(Builder& b, ValueId x, int number) {
  const ValueId w = b.parameter("w" + std::to_string(number), {DType::F64, {Dim(3), Dim(3)}});
  return b.add(x, b.multiply(b.gelu(b.matmul(x, w), true), 0.5));
}

/// Values that differ everywhere, small enough to stay finite.
std::vector<reference::Tensor> some_inputs(const Graph& graph) {
  std::vector<reference::Tensor> inputs;
  double seed = 0;
  for (const ir::Input& in : graph.entry().inputs) {
    reference::Tensor t{.type = graph.entry().type_of(in.value)};
    t.floats.resize(static_cast<size_t>(t.type.elements()));
    for (double& x : t.floats) x = std::sin(seed += 1.7);
    inputs.push_back(std::move(t));
  }
  return inputs;
}

size_t calls_in(const Graph& graph) {
  size_t calls = 0;
  for (const ir::Op& op : graph.entry().ops) calls += op.kind == OpKind::Call;
  return calls;
}

void expect_equal_values(const Graph& a, const Graph& b) {
  const auto inputs = some_inputs(a);
  const auto left = reference::evaluate(a, inputs);
  const auto right = reference::evaluate(b, inputs);
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) EXPECT_EQ(left[i].floats, right[i].floats);
}

TEST(Outline, makes_identical_layers_calls_of_one_function) {
  Graph graph = begin_graph();
  Builder b(graph, graph.main);
  ValueId x = b.input("x", {DType::F64, {Dim(2), Dim(3)}});
  for (int i = 0; i < 5; ++i) x = residual_layer(b, x, i);
  b.output("y", x);
  const Graph outlined = outline(graph);
  ir::verify(outlined);
  EXPECT_EQ(outlined.functions.size(), 2u);
  EXPECT_EQ(calls_in(outlined), 5u);
  expect_equal_values(graph, outlined);
}

TEST(Outline, finds_several_runs_one_after_the_other) {
  Graph graph = begin_graph();
  Builder b(graph, graph.main);
  ValueId x = b.input("x", {DType::F64, {Dim(2), Dim(3)}});
  for (int i = 0; i < 3; ++i) x = residual_layer(b, x, i);
  const ValueId wide = b.parameter("wide", {DType::F64, {Dim(3), Dim(3)}});
  x = b.unary(ir::ElementFn::Tanh, b.matmul(x, wide));
  for (int i = 3; i < 5; ++i) {
    const ValueId w = b.parameter("v" + std::to_string(i), {DType::F64, {Dim(3), Dim(3)}});
    x = b.subtract(x, b.unary(ir::ElementFn::Sin, b.matmul(x, w)));
  }
  b.output("y", x);
  const Graph outlined = outline(graph);
  ir::verify(outlined);
  EXPECT_EQ(outlined.functions.size(), 3u);
  EXPECT_EQ(calls_in(outlined), 5u);
  expect_equal_values(graph, outlined);
}

TEST(Outline, passes_what_all_layers_share_and_keeps_inner_results_that_are_read_outside) {
  Graph graph = begin_graph();
  Builder b(graph, graph.main);
  ValueId x = b.input("x", {DType::F64, {Dim(2), Dim(3)}});
  const ValueId mask = b.input("mask", {DType::F64, {Dim(2), Dim(3)}});
  ValueId inner;
  for (int i = 0; i < 4; ++i) {
    const ValueId w = b.parameter("w" + std::to_string(i), {DType::F64, {Dim(3), Dim(3)}});
    inner = b.matmul(x, w);
    x = b.add(x, b.multiply(b.unary(ir::ElementFn::Tanh, inner), mask));
  }
  b.output("y", x);
  b.output("last inner", inner);
  const Graph outlined = outline(graph);
  ir::verify(outlined);
  EXPECT_EQ(calls_in(outlined), 4u);
  expect_equal_values(graph, outlined);
}

TEST(Outline, tells_layers_apart_by_attributes_types_and_constants) {
  Graph graph = begin_graph();
  Builder b(graph, graph.main);
  ValueId x = b.input("x", {DType::F64, {Dim(2), Dim(3)}});
  for (int i = 0; i < 4; ++i) {
    const ValueId w = b.parameter("w" + std::to_string(i), {DType::F64, {Dim(3), Dim(3)}});
    x = b.multiply(b.matmul(x, w), 1.0 + i);  // another constant in each
  }
  b.output("y", x);
  EXPECT_EQ(calls_in(outline(graph)), 0u);
}

TEST(Outline, leaves_a_graph_without_repeats_as_it_is) {
  Graph graph = begin_graph();
  Builder b(graph, graph.main);
  const ValueId x = b.input("x", {DType::F64, {Dim(2), Dim(3)}});
  b.output("y", residual_layer(b, x, 0));
  const Graph outlined = outline(graph);
  EXPECT_EQ(outlined.functions.size(), 1u);
  expect_equal_values(graph, outlined);
}

}  // namespace
}  // namespace wafer::compile
