#include "wafer/ir/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "support/contains.h"
#include "support/op_samples.h"
#include "wafer/base/error.h"
#include "wafer/ir/verify.h"

namespace wafer::ir {
namespace {

/// A graph whose text is written below by hand.
Graph perceptron() {
  Graph graph;
  graph.name = "mlp";
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  b.location = "mlp.onnx:fc1";
  b.layer = "layer.0";
  b.scope = "fc1";
  const ValueId x = b.input("x", {DType::F16, {Dim::symbol("batch"), 4}});
  const ValueId w = b.parameter("fc1.weight", {DType::F16, {4, 3}});
  const ValueId y = b.unary(ElementFn::Tanh, b.matmul(x, w));
  b.phase = Phase::Optimizer;
  b.layer = b.scope = b.location = "";
  const ValueId step = b.multiply(w, 0.1);
  b.output("y", y);
  b.output("fc1.weight", step);
  b.function().inputs[1].donated_output = 1;
  b.function().inputs[1].frozen = true;
  return graph;
}

const char* const PerceptronText = R"(graph "mlp"

entry func @main {
  input %0 "x" : f16[batch,4]
  input %1 "fc1.weight" : f16[4,3] role(parameter) frozen donates(1)
  %2 = dot_general %0, %1 {contract = [1]x[0]} : f16[batch,3] layer("layer.0") scope("fc1") loc("mlp.onnx:fc1")
  %3 = tanh %2 : f16[batch,3] layer("layer.0") scope("fc1") loc("mlp.onnx:fc1")
  %4 = constant {value = 0.099975586} : f16[] phase(optimizer)
  %5 = broadcast_in_dim %4 {dims = []} : f16[4,3] phase(optimizer)
  %6 = multiply %1, %5 : f16[4,3] phase(optimizer)
  output "y" %3
  output "fc1.weight" %6
}
)";

TEST(PrintText, writes_one_op_a_line_with_types_and_places) {
  EXPECT_EQ(print_text(perceptron()), PerceptronText);
}

TEST(ParseText, reads_what_was_printed) {
  const Graph graph = parse_text(PerceptronText);
  EXPECT_TRUE(equal(graph, perceptron()));
  EXPECT_EQ(graph.entry().inputs[1].donated_output, 1);
  EXPECT_EQ(graph.entry().inputs[1].role, Role::Parameter);
}

TEST(ParseText, takes_names_comments_and_later_functions) {
  const Graph graph = parse_text(R"(
// A comment.
graph "calls"
entry func @main {
  input %x "x" : f32[2]   // named values
  %y = call %x {body = @"a layer"} : f32[2]
  output "y" %y
}
func @"a layer" {
  input %x "x" : f32[2]
  output "y" %x
}
)");
  EXPECT_EQ(graph.functions.size(), 2U);
  EXPECT_EQ(graph.entry().ops[0].attrs.get<FunctionId>(AttrKey::Body), FunctionId(1));
  EXPECT_TRUE(equal(parse_text(print_text(graph)), graph));
}

TEST(Equal, sees_each_difference) {
  const Graph graph = perceptron();
  const auto differs = [&](auto change) {
    Graph changed = graph;
    change(changed);
    return !equal(graph, changed);
  };
  EXPECT_FALSE(differs([](Graph&) {}));
  EXPECT_TRUE(differs([](Graph& g) { g.name = "other"; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().name = "other"; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().inputs[0].name = "other"; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().inputs[0].role = Role::Constant; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().inputs[1].frozen = false; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().inputs[1].donated_output = -1; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().ops[1].phase = Phase::Backward; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().ops[1].layer = "other"; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().ops[1].scope = "other"; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().ops[1].location = "other"; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().ops[1].attrs.set(AttrKey::Fn, ElementFn::Exp); }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().ops[4].operands[0] = ValueId(5); }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().values[3].type.dtype = DType::Bf16; }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().outputs[0].value = ValueId(2); }));
  EXPECT_TRUE(differs([](Graph& g) { g.entry().outputs[0].name = "other"; }));
  EXPECT_TRUE(differs([](Graph& g) { g.add_function("more"); }));
}

TEST(Equal, does_not_mind_how_values_are_numbered) {
  Graph graph = perceptron();
  Function& f = graph.entry();  // an input made last has the highest number, but is printed first
  f.add_input("late", {DType::F32, {}});
  std::swap(f.inputs[0], f.inputs[2]);
  EXPECT_TRUE(equal(parse_text(print_text(graph)), graph));
}

/// One op of every sort, and marks on each, in a main of its own.
Graph graph_of(const std::vector<size_t>& chosen, const std::vector<std::string>& words) {
  Graph graph;
  graph.name = words[0];
  const SampleFunctions functions = add_sample_functions(graph);
  const std::vector<OpSample> samples = op_samples(functions);
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  for (size_t index : chosen) {
    const OpSample& sample = samples[index % samples.size()];
    const size_t n = b.function().ops.size();
    b.phase = static_cast<Phase>(n % 3);
    b.layer = words[n % words.size()];
    b.scope = words[(n + 1) % words.size()];
    b.location = words[(n + 2) % words.size()];
    emit_sample(b, sample);
  }
  for (size_t i = 0; i < b.function().inputs.size(); ++i) {
    Input& input = b.function().inputs[i];
    input.name = fmt::format("{} {}", words[i % words.size()], i);
    input.role = static_cast<Role>(i % 4);
    input.frozen = i % 5 == 0;
  }
  return graph;
}

TEST(OpSamples, round_trip_as_text) {
  Graph scratch;
  const size_t count = op_samples(add_sample_functions(scratch)).size();
  for (size_t i = 0; i < count; ++i) {
    const Graph graph = graph_of({i}, {"a \"b\"\\\n\x01", "", "\xc3\xa9//"});
    const std::string text = print_text(graph);
    EXPECT_TRUE(equal(parse_text(text), graph)) << text;
  }
}

RC_GTEST_PROP(Text, parse_of_print_is_the_graph, ()) {
  const auto chosen = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, 1000));
  const auto words = *rc::gen::nonEmpty<std::vector<std::string>>();
  const Graph graph = graph_of(chosen, words);
  RC_ASSERT(equal(parse_text(print_text(graph)), graph));
}

/// The problems that parse_text tells, one a line.
std::string refusal(const std::string& text) {
  try {
    parse_text(text, "t.ir");
    return "no problem";
  } catch (const InputError& e) {
    return e.what();
  }
}

/// A main with these lines, which begin at line 3.
std::string refusal_of_body(const std::string& lines) {
  return refusal("graph \"g\"\nentry func @main {\n" + lines + "}\n");
}

TEST(ParseText, says_where_a_line_is_wrong) {
  EXPECT_TRUE(contains(refusal("func"), "t.ir:1:1: a graph begins with: graph \"name\""));
  EXPECT_TRUE(contains(refusal_of_body("  %0 = frobnicate : f32[2]\n"),
                       "t.ir:3:8: there is no op \"frobnicate\""));
  EXPECT_TRUE(contains(refusal_of_body("  %0 = iota {dim 0} : i32[2]\n"),
                       "t.ir:3:18: expected '='; found \"0} : i32[2]\""));
  EXPECT_TRUE(contains(refusal_of_body("  %0 = iota {dom = 0} : i32[2]\n"),
                       "t.ir:3:14: there is no attribute \"dom\""));
  EXPECT_TRUE(contains(refusal_of_body("  %0 = iota {dim = 0} : i33[2]\n"),
                       "t.ir:3:25: \"i33[2]\" is not a type such as f32[2,3]"));
  EXPECT_TRUE(contains(refusal_of_body("  %0 = iota {dim = 99999999999999999999} : i32[2]\n"),
                       "t.ir:3:20: expected a whole number; found 99999999999999999999"));
  EXPECT_TRUE(contains(refusal_of_body("  %0 = constant {value = [1, x]} : i32[2]\n"),
                       "t.ir:3:26: x is no i32"));
  EXPECT_TRUE(contains(refusal_of_body("  input %0 \"x : f32[2]\n"),
                       "t.ir:3:12: the string has no closing quote on its line"));
  EXPECT_TRUE(contains(refusal_of_body("  output \"y\" %7\n"),
                       "t.ir:3:14: no value %7 is defined before this line"));
  EXPECT_TRUE(contains(refusal_of_body("  %0 = call {body = @f} : f32[2]\n"),
                       "t.ir:3:21: there is no function @f"));
  EXPECT_TRUE(contains(refusal_of_body("  %0 = iota {dim = 0} : i32[2] loc(\"a\") 3\n"),
                       "t.ir:3:41: expected phase(..), layer(..), scope(..) or loc(..)"));
}

TEST(ParseText, says_where_a_type_rule_is_broken) {
  EXPECT_TRUE(
      contains(refusal_of_body("  input %0 \"x\" : f32[2]\n"
                               "  %1 = tanh %0 : f32[3]\n"),
               "t.ir:4:3: elementwise: result 0 is f32[2], but declared as f32[3] [TYPE2]"));
}

TEST(ParseText, tells_several_problems_but_not_their_consequences) {
  const std::string text = refusal_of_body(
      "  %0 = frobnicate : f32[2]\n"
      "  %1 = tanh %0 : f32[2]\n"
      "  %2 = tanh %1 : f32[2]\n"
      "  %3 = tanh %4 : f32[2]\n");
  EXPECT_TRUE(contains(text, "t.ir:3:8:"));
  EXPECT_TRUE(contains(text, "t.ir:6:13:"));
  EXPECT_FALSE(contains(text, "t.ir:4:"));
  EXPECT_FALSE(contains(text, "t.ir:5:"));
}

TEST(ParseText, refuses_a_graph_without_entry_or_end) {
  EXPECT_TRUE(contains(refusal("graph \"g\"\n"), "no function is marked entry"));
  EXPECT_TRUE(contains(refusal("graph \"g\"\nentry func @f {\n"), "no closing }"));
  EXPECT_TRUE(contains(refusal("graph \"g\"\nentry func @f {\n}\nentry func @g {\n}\n"),
                       "t.ir:4:1: the graph has an entry already"));
  EXPECT_TRUE(contains(refusal("graph \"g\"\nentry func @f {\n}\nfunc @f {\n}\n"),
                       "t.ir:4:1: there is a function @f already"));
}

TEST(ParseText, stands_a_chain_of_many_calls) {
  constexpr int Depth = 50'000;
  std::string text = "graph \"deep\"\nentry func @f0 {\n}\n";
  for (int i = 1; i < Depth; ++i) {
    text += fmt::format("func @f{} {{\n  call {{body = @f{}}}\n}}\n", i, i - 1);
  }
  EXPECT_EQ(parse_text(text).functions.size(), static_cast<size_t>(Depth));
}

TEST(ParseText, refuses_recursion) {
  EXPECT_TRUE(contains(refusal("graph \"g\"\nentry func @f {\n  call {body = @f}\n}\n"),
                       "function @f calls itself"));
}

TEST(ParseText, survives_every_prefix_and_every_changed_character) {
  const std::string text = PerceptronText;
  for (size_t i = 0; i < text.size(); ++i) {
    static_cast<void>(refusal(text.substr(0, i)));
    for (char c : {'\0', '%', '[', '"', '9', '\n'}) {
      std::string changed = text;
      changed[i] = c;
      static_cast<void>(refusal(changed));
    }
  }
}

}  // namespace
}  // namespace wafer::ir
