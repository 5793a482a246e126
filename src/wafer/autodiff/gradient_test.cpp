#include "wafer/autodiff/gradient.h"

#include <gtest/gtest.h>

#include "support/gradient_check.h"
#include "wafer/base/error.h"
#include "wafer/ir/text.h"
#include "wafer/reference/interpreter.h"

namespace wafer::autodiff {
namespace {

using ir::AttrKey;
using ir::Builder;
using ir::ElementFn;
using ir::FunctionId;
using ir::Graph;
using ir::OpKind;
using ir::ValueId;
using reference::Tensor;
using Values = std::vector<ValueId>;

/// y = tanh(x w + b) + x, x [batch|n, 3], w [3, 3], b [3].
ValueId layer(Builder& b, ValueId x, ValueId w, ValueId bias) {
  return b.add(b.unary(ElementFn::Tanh, b.add(b.matmul(x, w), bias)), x);
}

/// `layers` layers on x, each with parameters of its own, as calls of one function or inlined; the
/// loss is the sum of squares.
Graph network(int layers, bool called, const std::string& rows = "2") {
  Graph graph;
  graph.main = graph.add_function("main");
  const TensorType x_type = type_named("f64[" + rows + ",3]");
  const TensorType w_type = type_named("f64[3,3]");
  const TensorType b_type = type_named("f64[3]");
  FunctionId function;
  if (called) {
    function = graph.add_function("layer");
    Builder inner(graph, function);
    const ValueId x = inner.input("x", x_type);
    const ValueId w = inner.parameter("w", w_type);
    inner.output("y", layer(inner, x, w, inner.parameter("b", b_type)));
  }
  Builder b(graph, graph.main);
  ValueId x = b.input("x", x_type);
  for (int i = 0; i < layers; ++i) {
    b.layer = "layer." + std::to_string(i);
    const ValueId w = b.parameter(b.layer + ".w", w_type);
    const ValueId bias = b.parameter(b.layer + ".b", b_type);
    x = called ? b.call(function, {x, w, bias})[0] : layer(b, x, w, bias);
  }
  b.layer.clear();
  b.output("loss", b.reduce_sum(b.multiply(x, x), {0, 1}));
  return graph;
}

std::vector<Tensor> inputs_of(const Graph& graph) {
  std::vector<Tensor> inputs;
  const ir::Function& main = graph.entry();
  for (const ir::Input& input : main.inputs) {
    inputs.push_back(noise(main.type_of(input.value).text(), inputs.size()));
  }
  return inputs;
}

std::vector<std::string> function_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const ir::Function& f : graph.functions) names.push_back(f.name);
  return names;
}

TEST(Gradient, through_calls_is_that_of_the_inlined_graph) {
  const Graph called = differentiate(network(2, true));
  const Graph inlined = differentiate(network(2, false));
  ir::verify(called);
  const auto inputs = inputs_of(called);
  const auto a = reference::evaluate(called, inputs);
  const auto b = reference::evaluate(inlined, inputs);
  ASSERT_EQ(a.size(), 5U);  // the loss and two of each parameter
  ASSERT_EQ(b.size(), 5U);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], b[i]) << i;
}

TEST(Gradient, of_a_call_is_made_once) {
  // The first layer needs no gradient of x, which is data: a variant of its own.
  const std::vector<std::string> expected = {"main", "layer.forward", "layer.backward",
                                             "layer.forward.2", "layer.backward.2"};
  EXPECT_EQ(function_names(differentiate(network(3, true))), expected);
  const Graph deep = differentiate(network(96, true));
  EXPECT_EQ(function_names(deep), expected);
  EXPECT_LT(deep.entry().ops.size(), 2 * 96 + 10U);
}

TEST(Gradient, of_a_call_returns_what_its_backward_needs) {
  const Graph g = differentiate(network(2, true));
  const ir::Function& forward = g.function(g.find("layer.forward"));
  // tanh's result; x and w are the caller's
  ASSERT_EQ(forward.outputs.size(), 2U);
  EXPECT_EQ(forward.outputs[1].name, "residual.0");
  EXPECT_EQ(forward.op(forward.values[forward.outputs[1].value.index].producer)
                .attrs.get<ElementFn>(AttrKey::Fn),
            ElementFn::Tanh);
  const ir::Function& backward = g.function(g.find("layer.backward"));
  std::vector<std::string> inputs, outputs;
  for (const ir::Input& input : backward.inputs) inputs.push_back(input.name);
  for (const ir::Output& output : backward.outputs) outputs.push_back(output.name);
  EXPECT_EQ(inputs, (std::vector<std::string>{"grad.y", "residual.0", "w", "x"}));
  EXPECT_EQ(outputs, (std::vector<std::string>{"grad.x", "grad.w", "grad.b"}));
}

TEST(Gradient, ops_carry_phase_layer_and_scope) {
  const Graph g = differentiate(network(2, true));
  const ir::Function& main = g.entry();
  std::vector<std::string> calls;
  for (const ir::Op& op : main.ops) {
    if (op.kind != OpKind::Call) continue;
    calls.push_back(std::string(ir::name_of(op.phase)) + " " + op.layer);
  }
  EXPECT_EQ(calls, (std::vector<std::string>{"forward layer.0", "forward layer.1",
                                             "backward layer.1", "backward layer.0"}));
  for (const ir::Op& op : g.function(g.find("layer.backward")).ops) {
    EXPECT_EQ(op.phase, ir::Phase::Backward);
  }
}

TEST(Gradient, with_symbolic_dimensions_is_bound_later) {
  const Graph later = ir::bind(differentiate(network(2, true, "batch")), {{"batch", 2}});
  EXPECT_EQ(ir::print_text(later), ir::print_text(differentiate(network(2, true))));
}

TEST(Gradient, of_values_used_twice_is_the_sum) {
  // f(x) = x y + sin(x), with x also passed twice to one call
  GradientCheck({noise("f64[3]", 1), noise("f64[3]", 2)}, [](Builder& b, const Values& x) {
    return Values{b.add(b.multiply(x[0], x[1]), b.unary(ElementFn::Sin, x[0]))};
  }).run();
  GradientCheck({noise("f64[3]", 1)}, [](Builder& b, const Values& x) {
    FunctionId product = b.graph().find("product");
    if (!product.valid()) {
      product = b.graph().add_function("product");
      Builder inner(b.graph(), product);
      const ValueId left = inner.input("a", type_named("f64[3]"));
      inner.output("y", inner.multiply(left, inner.input("b", type_named("f64[3]"))));
    }
    const ValueId square = b.call(product, {x[0], x[0]})[0];
    return b.call(product, {square, x[0]});
  }).run();
}

TEST(Gradient, of_functions_that_call_others_equals_differences) {
  // Functions three deep, several results, one of them unused, one the input itself.
  GradientCheck({noise("f64[3]", 3), noise("f64[3]", 4)}, [](Builder& b, const Values& x) {
    const TensorType type = type_named("f64[3]");
    const FunctionId leaf = b.graph().add_function(b.function().name + ".leaf");
    Builder l(b.graph(), leaf);
    const ValueId a = l.input("a", type);
    const ValueId c = l.input("b", type);
    const ValueId e = l.unary(ElementFn::Exp, l.multiply(a, c));
    l.output("e", e);
    l.output("b", c);
    l.output("unused", l.unary(ElementFn::Log, e));
    const FunctionId middle = b.graph().add_function(b.function().name + ".middle");
    Builder m(b.graph(), middle);
    const ValueId p = m.input("p", type);
    const ValueId q = m.input("q", type);
    const Values one = m.call(leaf, {p, q});
    const Values two = m.call(leaf, {one[0], one[1]});
    m.output("r", m.add(two[0], m.multiply(two[1], p)));
    return b.call(middle, {b.call(middle, {x[0], x[1]})[0], x[1]});
  }).run();
}

TEST(Gradient, does_no_work_for_what_is_frozen_or_data) {
  Graph graph = network(2, false);
  for (ir::Input& input : graph.entry().inputs) input.frozen = true;
  graph.entry().inputs[3].frozen = false;  // layer.1.w
  const Graph g = differentiate(graph);
  int products = 0;
  for (const ir::Op& op : g.entry().ops) {
    if (op.phase != ir::Phase::Backward) continue;
    products += op.kind == OpKind::DotGeneral;
    EXPECT_NE(op.layer, "layer.0");
  }
  EXPECT_EQ(products, 1);
  ASSERT_EQ(g.entry().outputs.size(), 2U);
  EXPECT_EQ(g.entry().outputs[1].name, "grad.layer.1.w");
}

TEST(Gradient, of_an_input_without_influence_is_zero) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId x = b.parameter("x", type_named("f64[2]"));
  const ValueId y = b.parameter("y", type_named("f64[2]"));
  b.parameter("unused", type_named("f64[2]"));
  // only the sign of y counts
  b.output("loss", b.reduce_sum(b.multiply(x, b.unary(ElementFn::Sign, y)), {0}));
  const auto out = reference::evaluate(
      differentiate(graph),
      std::vector{tensor("f64[2]", {1, 2}), tensor("f64[2]", {-3, 4}), tensor("f64[2]", {5, 6})});
  ASSERT_EQ(out.size(), 4U);
  EXPECT_EQ(out[1].floats, (std::vector<double>{-1, 1}));
  EXPECT_EQ(out[2].floats, (std::vector<double>{0, 0}));
  EXPECT_EQ(out[3].floats, (std::vector<double>{0, 0}));
}

std::string refusal(const Graph& graph, const GradientOptions& options = {}) {
  try {
    differentiate(graph, options);
  } catch (const InputError& e) {
    return e.what();
  }
  return "not refused";
}

void expect_says(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Gradient, names_every_op_without_a_rule_and_where_it_is) {
  Graph graph;
  graph.main = graph.add_function("main");
  const TensorType type = type_named("f32[4]");
  const FunctionId body = graph.add_function("body");
  Builder inner(graph, body);
  inner.output("x", inner.input("x", type));
  const FunctionId condition = graph.add_function("condition");
  Builder c(graph, condition);
  c.input("x", type);
  c.output("go", c.constant(0, {DType::Bool, {}}));
  Builder b(graph, graph.main);
  ValueId x = b.parameter("x", type);
  b.location = "net.hlo:3";
  x = b.emit1(OpKind::While, {x}, {{AttrKey::Condition, condition}, {AttrKey::Body, body}});
  b.location = "net.hlo:4";
  x = b.emit1(OpKind::CustomCall, {x}, {{AttrKey::Target, std::string("flash")}}, {type});
  b.location = "net.hlo:5";
  x = b.emit1(OpKind::Conditional, {b.constant(1, {DType::Bool, {}}), x},
              {{AttrKey::Branches, std::vector<FunctionId>{body, body}}});
  b.output("loss", b.reduce_sum(x, {0}));
  const std::string first = refusal(graph);
  expect_says(first, "conditional in main (net.hlo:5): no gradient rule");

  // Off the way from parameters to loss they do not matter.
  graph.entry().inputs[0].role = ir::Role::Data;
  const std::string ids = refusal(graph, {.output = "loss", .inputs = {"x"}});
  expect_says(ids, "net.hlo:5");
  EXPECT_EQ(refusal(graph), "not refused");
}

TEST(Gradient, refuses_what_is_not_a_float_scalar_or_not_there) {
  const Graph graph = network(1, false);
  expect_says(refusal(graph, {.output = "cost", .inputs = {}}), "no output \"cost\"");
  const std::string text = refusal(graph, {.output = "loss", .inputs = {"z", "w"}});
  expect_says(text, "no input \"z\"");
  expect_says(text, "no input \"w\"");
  Graph vector = graph;
  vector.entry().outputs[0].value = vector.entry().inputs[0].value;
  expect_says(refusal(vector), "output \"loss\" is f64[2,3]");
}

TEST(CollectiveGradient, is_the_collective_that_brings_cotangents_back) {
  const std::vector<std::pair<OpKind, ir::Attributes>> cases = {
      {OpKind::AllReduce, {{AttrKey::Fn, ElementFn::Add}, {AttrKey::Group, std::string("d")}}},
      {OpKind::AllGather,
       {{AttrKey::Dim, int64_t{0}},
        {AttrKey::Group, std::string("d")},
        {AttrKey::GroupSize, int64_t{1}}}},
      {OpKind::ReduceScatter,
       {{AttrKey::Dim, int64_t{0}},
        {AttrKey::Fn, ElementFn::Add},
        {AttrKey::Group, std::string("d")},
        {AttrKey::GroupSize, int64_t{1}}}},
      {OpKind::AllToAll,
       {{AttrKey::SplitDim, int64_t{0}},
        {AttrKey::ConcatDim, int64_t{1}},
        {AttrKey::Group, std::string("d")},
        {AttrKey::GroupSize, int64_t{1}}}},
      {OpKind::CollectivePermute,
       {{AttrKey::Group, std::string("d")}, {AttrKey::Pairs, ir::DimPairs{{0}, {0}}}}}};
  for (const auto& [kind, attrs] : cases) {  // alone, each is the identity
    GradientCheck({noise("f64[4,2]", 5)}, [&, k = kind, a = attrs](Builder& b, const Values& x) {
      return b.emit(k, x, a);
    }).run();
  }
}

TEST(CollectiveGradient, goes_from_shards_to_wholes_and_back) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId x = b.parameter("x", type_named("f32[8,6]"));
  const ir::Attributes group = {{AttrKey::Group, std::string("tensor")},
                                {AttrKey::GroupSize, int64_t{2}}};
  ir::Attributes gather = group;
  gather.set(AttrKey::Dim, int64_t{1});
  ir::Attributes exchange = group;
  exchange.set(AttrKey::SplitDim, int64_t{0});
  exchange.set(AttrKey::ConcatDim, int64_t{1});
  const ValueId y = b.emit1(OpKind::AllToAll, {b.emit1(OpKind::AllGather, {x}, gather)}, exchange);
  const ValueId z = b.emit1(
      OpKind::CollectivePermute, {y},
      {{AttrKey::Group, std::string("ring")}, {AttrKey::Pairs, ir::DimPairs{{0, 1}, {1, 2}}}});
  b.output("loss", b.reduce_sum(z, {0, 1}));
  const Graph g = differentiate(graph);
  ir::verify(g);
  std::vector<ir::Op> found;
  for (const ir::Op& op : g.entry().ops) {
    if (op.phase == ir::Phase::Backward && op.attrs.has(AttrKey::Group)) found.push_back(op);
  }
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].attrs.get<ir::DimPairs>(AttrKey::Pairs), (ir::DimPairs{{1, 2}, {0, 1}}));
  EXPECT_EQ(found[1].attrs.get<int64_t>(AttrKey::SplitDim), 1);
  EXPECT_EQ(found[2].kind, OpKind::ReduceScatter);
  const ir::Output& gradient = g.entry().outputs[1];
  EXPECT_EQ(g.entry().type_of(gradient.value), type_named("f32[8,6]"));
}

}  // namespace
}  // namespace wafer::autodiff
