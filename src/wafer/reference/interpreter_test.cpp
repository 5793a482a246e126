#include "wafer/reference/interpreter.h"

#include <gtest/gtest.h>

#include "support/run_op.h"
#include "wafer/base/error.h"

namespace wafer::reference {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::Builder;
using ir::ElementFn;
using ir::FunctionId;
using ir::Graph;
using ir::Ints;
using ir::OpKind;
using ir::ValueId;

using Floats = std::vector<double>;

Graph with_main() {
  Graph graph;
  graph.main = graph.add_function("main");
  return graph;
}

/// What evaluate() says when it refuses with an E.
template <typename E>
std::string refusal(const Graph& graph, const std::vector<Tensor>& inputs,
                    const Options& options = {}) {
  try {
    evaluate(graph, inputs, options);
  } catch (const E& e) {
    return e.what();
  }
  return "not refused";
}

/// f(x, y) = x y + y, called as f(f(2, 3), 10).
TEST(Call, computes_the_function_for_its_operands) {
  Graph graph = with_main();
  const FunctionId f = graph.add_function("f");
  Builder inner(graph, f);
  const TensorType type{DType::F64, {}};
  const ValueId x = inner.input("x", type);
  const ValueId y = inner.input("y", type);
  inner.output("r", inner.add(inner.multiply(x, y), y));
  Builder b(graph, graph.main);
  const ValueId first = b.call(f, {b.input("a", type), b.input("b", type)})[0];
  b.output("r", b.call(f, {first, b.scalar(10, DType::F64)})[0]);
  // 2 * 3 + 3 = 9; 9 * 10 + 10 = 100
  EXPECT_EQ(evaluate(graph, std::vector{tensor("f64[]", {2}), tensor("f64[]", {3})})[0].floats,
            Floats{100});
}

/// Counts i up by one and doubles x while i < n.
Graph doubling_loop() {
  Graph graph = with_main();
  const TensorType count{DType::I32, {}};
  const TensorType type{DType::F64, {}};
  const FunctionId condition = graph.add_function("condition");
  Builder c(graph, condition);
  const ValueId i = c.input("i", count);
  const ValueId n = c.input("n", count);
  c.input("x", type);
  c.output("go", c.binary(ElementFn::Less, i, n));
  const FunctionId body = graph.add_function("body");
  Builder l(graph, body);
  l.output("i", l.add(l.input("i", count), 1.0));
  l.output("n", l.input("n", count));
  const ValueId x = l.input("x", type);
  l.output("x", l.add(x, x));
  Builder b(graph, graph.main);
  b.location = "loop.txt:7";
  const auto results =
      b.emit(OpKind::While, {b.input("i", count), b.input("n", count), b.input("x", type)},
             {{AttrKey::Condition, condition}, {AttrKey::Body, body}});
  b.output("x", results[2]);
  return graph;
}

TEST(While, runs_its_body_as_long_as_the_condition_holds) {
  const auto run = [](double i, double n, double x) {
    return evaluate(doubling_loop(), std::vector{tensor("i32[]", {i}), tensor("i32[]", {n}),
                                                 tensor("f64[]", {x})})[0]
        .floats;
  };
  EXPECT_EQ(run(0, 5, 3), Floats{96});  // 3 * 2^5
  EXPECT_EQ(run(5, 5, 3), Floats{3});
}

TEST(While, that_does_not_end_is_refused) {
  // i wraps around before it reaches n
  const std::vector inputs = {tensor("i32[]", {0}), tensor("i32[]", {2147483647}),
                              tensor("f64[]", {0})};
  const std::string text = refusal<CapacityError>(doubling_loop(), inputs, {.max_operations = 1e5});
  EXPECT_NE(text.find("more than 100000 operations"), std::string::npos) << text;
}

Graph choice(DType index, int branches) {
  Graph graph = with_main();
  std::vector<FunctionId> ids;
  for (int i = 0; i < branches; ++i) {
    ids.push_back(graph.add_function("branch" + std::to_string(i)));
    Builder branch(graph, ids.back());
    branch.output("y", branch.multiply(branch.input("x", {DType::F64, {}}), i + 1.0));
  }
  Builder b(graph, graph.main);
  b.output("y",
           b.emit1(OpKind::Conditional, {b.input("i", {index, {}}), b.input("x", {DType::F64, {}})},
                   {{AttrKey::Branches, ids}}));
  return graph;
}

TEST(Conditional, bool_chooses_the_first_branch_if_true) {
  const Graph graph = choice(DType::Bool, 2);
  const Tensor x = tensor("f64[]", {10});
  EXPECT_EQ(evaluate(graph, std::vector{tensor("bool[]", {1}), x})[0].floats, Floats{10});
  EXPECT_EQ(evaluate(graph, std::vector{tensor("bool[]", {0}), x})[0].floats, Floats{20});
}

TEST(Conditional, index_chooses_its_branch_and_the_last_one_where_there_is_none) {
  const Graph graph = choice(DType::I32, 3);
  const Tensor x = tensor("f64[]", {10});
  const auto run = [&](double i) {
    return evaluate(graph, std::vector{tensor("i32[]", {i}), x})[0].floats[0];
  };
  EXPECT_EQ(run(0), 10);
  EXPECT_EQ(run(1), 20);
  EXPECT_EQ(run(7), 30);
  EXPECT_EQ(run(-1), 30);
}

/// A body that reduces values and places together to the largest value and where it is.
TEST(Reduce, body_folds_several_operands_together) {
  Graph graph = with_main();
  const FunctionId body = graph.add_function("larger");
  Builder r(graph, body);
  const TensorType value{DType::F64, {}};
  const TensorType place{DType::I32, {}};
  const ValueId a = r.input("a", value);
  const ValueId i = r.input("i", place);
  const ValueId c = r.input("c", value);
  const ValueId j = r.input("j", place);
  const ValueId keep = r.binary(ElementFn::GreaterEqual, a, c);
  r.output("value", r.select(keep, a, c));
  r.output("place", r.select(keep, i, j));
  Builder b(graph, graph.main);
  const ValueId x = b.input("x", type_named("f64[2,3]"));
  const auto results = b.emit(
      OpKind::Reduce,
      {x, b.iota(type_named("i32[2,3]"), 1), b.scalar(-9, DType::F64), b.scalar(0, DType::I32)},
      {{AttrKey::Dims, Ints{1}}, {AttrKey::Body, body}});
  b.output("value", results[0]);
  b.output("place", results[1]);
  const auto out = evaluate(graph, std::vector{tensor("f64[2,3]", {1, 5, 2, 7, 0, 7})});
  EXPECT_EQ(out[0].floats, (Floats{5, 7}));
  EXPECT_EQ(out[1].integers, (std::vector<int64_t>{1, 0}));
}

TEST(Composite, is_computed_by_its_decomposition) {
  // torch.nn.functional.softmax(torch.tensor([0., 1., 2.]), -1)
  const Tensor y = run_op(OpKind::Softmax, {tensor("f64[3]", {0, 1, 2})})[0];
  const Floats expected = {0.09003057317038046, 0.24472847105479764, 0.6652409557748218};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(y.floats[i], expected[i], 1e-15);
}

TEST(Collective, of_a_single_replica_is_identity) {
  const Tensor x = tensor("f64[2]", {1, 2});
  const Attributes group = {{AttrKey::Group, std::string("data")}};
  Attributes sum = group;
  sum.set(AttrKey::Fn, ElementFn::Add);
  EXPECT_EQ(run_op(OpKind::AllReduce, {x}, sum)[0], x);
  Attributes gather = group;
  gather.set(AttrKey::Dim, int64_t{0});
  gather.set(AttrKey::GroupSize, int64_t{1});
  EXPECT_EQ(run_op(OpKind::AllGather, {x}, gather)[0], x);
}

TEST(Collective, of_several_replicas_is_refused) {
  const Tensor x = tensor("f64[2]", {1, 2});
  const Attributes gather = {{AttrKey::Dim, int64_t{0}},
                             {AttrKey::Group, std::string("data")},
                             {AttrKey::GroupSize, int64_t{4}}};
  EXPECT_THROW(run_op(OpKind::AllGather, {x}, gather), InputError);
  const Attributes shift = {{AttrKey::Group, std::string("ring")},
                            {AttrKey::Pairs, ir::DimPairs{{0, 1}, {1, 0}}}};
  EXPECT_THROW(run_op(OpKind::CollectivePermute, {x}, shift), InputError);
}

TEST(Evaluate, names_the_target_of_a_custom_call_and_where_it_is) {
  Graph graph = with_main();
  Builder b(graph, graph.main);
  b.location = "net.hlo:12";
  b.output("y", b.emit1(OpKind::CustomCall, {}, {{AttrKey::Target, std::string("flash")}},
                        {{DType::F32, {}}}));
  const std::string text = refusal<InputError>(graph, {});
  EXPECT_NE(text.find("\"flash\""), std::string::npos) << text;
  EXPECT_NE(text.find("net.hlo:12"), std::string::npos) << text;
}

TEST(Evaluate, names_unbound_dimensions) {
  Graph graph = with_main();
  Builder b(graph, graph.main);
  b.output("y", b.input("x", type_named("f32[batch,4]")));
  const std::string text = refusal<InputError>(graph, {tensor("f32[1,4]", {1, 2, 3, 4})});
  EXPECT_NE(text.find("--dim NAME=VALUE for batch"), std::string::npos) << text;
}

TEST(Evaluate, refuses_inputs_that_do_not_match_all_at_once) {
  Graph graph = with_main();
  Builder b(graph, graph.main);
  const ValueId left = b.input("left", type_named("f32[2]"));
  b.output("y", b.add(left, b.input("right", type_named("f32[2]"))));
  const std::string text =
      refusal<InputError>(graph, {tensor("f32[3]", {1, 2, 3}), tensor("i32[2]", {1, 2})});
  EXPECT_NE(text.find("(left) is f32[2]; found f32[3]"), std::string::npos) << text;
  EXPECT_NE(text.find("(right) is f32[2]; found i32[2]"), std::string::npos) << text;
}

TEST(Evaluate, refuses_constants_whose_elements_were_left_out) {
  Graph graph = with_main();
  Builder b(graph, graph.main);
  b.output("y", b.literal({.type = type_named("f32[8]"),
                           .splat = false,
                           .elided = true,
                           .floats = {},
                           .integers = {}}));
  const std::string text = refusal<InputError>(graph, {});
  EXPECT_NE(text.find("f32[8]"), std::string::npos) << text;
}

TEST(Evaluate, refuses_sizes_that_do_not_fit_before_making_them) {
  Graph graph = with_main();
  Builder b(graph, graph.main);
  b.location = "big.onnx:expand";
  const Shape shape = {Dim(int64_t{1} << 20), Dim(int64_t{1} << 20)};
  b.output("y", b.broadcast_to(b.scalar(1, DType::F32), shape));
  const std::string text = refusal<CapacityError>(graph, {});
  EXPECT_NE(text.find("big.onnx:expand"), std::string::npos) << text;
}

TEST(Evaluate, counts_only_values_that_are_still_needed) {
  Graph graph = with_main();
  Builder b(graph, graph.main);
  ValueId x = b.input("x", type_named("f64[100]"));
  for (int i = 0; i < 20; ++i) x = b.unary(ElementFn::Negate, x);
  b.output("y", x);
  const Floats ones(100, 1.0);
  EXPECT_EQ(evaluate(graph, std::vector{tensor("f64[100]", ones)}, {.max_elements = 250})[0].floats,
            ones);
  EXPECT_EQ(refusal<CapacityError>(graph, {tensor("f64[100]", ones)}, {.max_elements = 150})
                .substr(0, 19),
            "elementwise in main");
}

TEST(EvaluateOp, folds_one_op) {
  Graph graph = with_main();
  Builder b(graph, graph.main);
  const ValueId x = b.input("x", type_named("i64[2]"));
  b.add(x, x);
  const std::vector<TensorType> types = {type_named("i64[2]")};
  const Tensor value = tensor("i64[2]", {3, 4});
  EXPECT_EQ(evaluate_op(graph, graph.entry().ops[0], types, std::vector{value, value})[0],
            tensor("i64[2]", {6, 8}));
}

TEST(Literal, of_a_tensor_is_a_splat_where_all_elements_are_alike) {
  const ir::Literal literal = literal_of(tensor("f32[3]", {2, 2, 2}));
  EXPECT_TRUE(literal.splat);
  EXPECT_EQ(tensor_of(literal), tensor("f32[3]", {2, 2, 2}));
  EXPECT_FALSE(literal_of(tensor("f32[2]", {0.0, -0.0})).splat);
  EXPECT_EQ(tensor_of(literal_of(tensor("i8[2]", {1, 2}))), tensor("i8[2]", {1, 2}));
}

}  // namespace
}  // namespace wafer::reference
