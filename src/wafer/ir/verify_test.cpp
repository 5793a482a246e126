#include "wafer/ir/verify.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/ir/builder.h"

namespace wafer::ir {
namespace {

/// y = tanh(x), z = x + x, with x donated to z.
Graph legal() {
  Graph graph;
  graph.name = "g";
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  b.location = "m.onnx:node";
  const ValueId x = b.input("x", {DType::F32, {2}});
  b.output("y", b.unary(ElementFn::Tanh, x));
  b.output("z", b.add(x, x));
  b.function().inputs[0].donated_output = 1;
  return graph;
}

/// What verify says of the legal graph after the change.
template <typename Change>
std::string refusal(Change change) {
  Graph graph = legal();
  change(graph, graph.entry());
  try {
    verify(graph);
    return "no problem";
  } catch (const InputError& e) {
    return e.what();
  }
}

TEST(Verify, accepts_a_legal_graph) {
  EXPECT_EQ(refusal([](Graph&, Function&) {}), "no problem");
}

TEST(Verify, names_graph_function_value_and_location) {
  const std::string text =
      refusal([](Graph&, Function& f) { f.ops[0].attrs.set(AttrKey::Fn, ElementFn::Not); });
  EXPECT_TRUE(contains(text, "graph \"g\" is not valid"));
  EXPECT_TRUE(contains(text,
                       "@main: %1 (m.onnx:node): elementwise: not takes integers or bool, not "
                       "f32[2] [ELT3]"));
}

TEST(Verify, tells_all_problems) {
  const std::string text = refusal([](Graph&, Function& f) {
    f.ops[0].attrs.set(AttrKey::Fn, ElementFn::Not);
    f.ops[1].attrs.set(AttrKey::Fn, ElementFn::And);
  });
  EXPECT_TRUE(contains(text, "%1"));
  EXPECT_TRUE(contains(text, "%2"));
}

TEST(Verify, wants_main_to_be_a_function) {  // GRF1
  EXPECT_TRUE(contains(refusal([](Graph& g, Function&) { g.main = FunctionId(7); }), "[GRF1]"));
}

TEST(Verify, wants_function_names_to_be_unique) {  // GRF2
  EXPECT_TRUE(contains(refusal([](Graph& g, Function&) { g.add_function("main"); }), "[GRF2]"));
  EXPECT_TRUE(contains(refusal([](Graph& g, Function&) { g.add_function(""); }), "[GRF2]"));
}

TEST(Verify, refuses_recursion) {  // GRF3
  const std::string text = refusal([](Graph& g, Function&) {
    const FunctionId a = g.add_function("a");
    const FunctionId b = g.add_function("b");
    Builder(g, a).call(b, {});
    Builder(g, b).call(a, {});
  });
  EXPECT_TRUE(contains(text, "calls itself; recursion has no plan [GRF3]"));
}

TEST(Verify, wants_names_of_inputs_and_outputs_to_be_unique) {  // FUN1
  EXPECT_TRUE(contains(refusal([](Graph&, Function& f) { f.add_input("x", {}); }),
                       "two inputs have the name \"x\" [FUN1]"));
  EXPECT_TRUE(contains(refusal([](Graph&, Function& f) { f.outputs[1].name = "y"; }),
                       "two outputs have the name \"y\" [FUN1]"));
}

TEST(Verify, wants_each_value_to_be_defined_once) {  // FUN2
  EXPECT_TRUE(contains(
      refusal([](Graph&, Function& f) { f.ops[1].results[0] = f.ops[0].results[0]; }), "[FUN2]"));
  EXPECT_TRUE(
      contains(refusal([](Graph&, Function& f) { f.ops[1].results[0] = ValueId(99); }), "[FUN2]"));
}

TEST(Verify, wants_operands_to_be_defined_before_use) {  // FUN3
  EXPECT_TRUE(
      contains(refusal([](Graph&, Function& f) { f.ops[0].operands[0] = f.ops[1].results[0]; }),
               "operand %2 is not defined before its use [FUN3]"));
  EXPECT_TRUE(
      contains(refusal([](Graph&, Function& f) { f.outputs[0].value = ValueId(); }), "[FUN3]"));
}

TEST(Verify, wants_declared_types_to_be_inferred_ones) {  // TYPE2
  EXPECT_TRUE(contains(refusal([](Graph&, Function& f) { f.values[1].type.shape = {3}; }),
                       "result 0 is f32[2], but declared as f32[3] [TYPE2]"));
  EXPECT_TRUE(contains(refusal([](Graph&, Function& f) {
                         f.ops[0].results.clear();
                         f.outputs[0].value = ValueId(0);
                       }),
                       "has 1 results; found 0 [TYPE2]"));
}

TEST(Verify, refuses_negative_dimensions) {  // TYPE3
  EXPECT_TRUE(contains(refusal([](Graph&, Function& f) { f.add_input("n", {DType::F32, {-2}}); }),
                       "[TYPE3]"));
}

TEST(Verify, refuses_values_whose_bytes_cannot_be_counted) {  // TYPE4
  constexpr int64_t Big = int64_t{1} << 31;
  const auto with_input = [](Shape shape) {
    return refusal([&](Graph&, Function& f) { f.add_input("n", {DType::F32, std::move(shape)}); });
  };
  EXPECT_EQ(with_input({Big, Big / 4}), "no problem");  // 2^60 elements of 4 bytes
  EXPECT_TRUE(contains(with_input({Big, Big / 2}), "[TYPE4]"));
}

TEST(Verify, wants_donated_memory_to_fit) {  // DON1
  EXPECT_TRUE(
      contains(refusal([](Graph&, Function& f) { f.inputs[0].donated_output = 2; }), "[DON1]"));
  EXPECT_TRUE(
      contains(refusal([](Graph&, Function& f) { f.inputs[0].donated_output = -2; }), "[DON1]"));
  EXPECT_TRUE(contains(refusal([](Graph&, Function& f) {
                         f.add_input("other", {DType::F32, {3}});
                         f.inputs[1].donated_output = 0;
                       }),
                       "output \"y\" (f32[2]) cannot take the memory of input \"other\" (f32[3])"));
  EXPECT_TRUE(contains(refusal([](Graph&, Function& f) {  // two inputs for one output
                         f.add_input("other", {DType::F32, {2}});
                         f.inputs[1].donated_output = 1;
                       }),
                       "[DON1]"));
}

}  // namespace
}  // namespace wafer::ir
