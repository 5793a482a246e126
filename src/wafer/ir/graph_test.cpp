#include "wafer/ir/graph.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/ir/builder.h"
#include "wafer/ir/verify.h"

namespace wafer::ir {
namespace {

/// main calls outer three times, outer calls inner twice; all on f32[batch,seq].
Graph nested() {
  Graph graph;
  const TensorType type{DType::F32, {Dim::symbol("batch"), Dim::symbol("seq")}};
  const auto chain = [&](const char* name, int times, FunctionId callee) {
    const FunctionId id = graph.add_function(name);
    Builder b(graph, id);
    ValueId x = b.input("x", type);
    for (int i = 0; i < times; ++i) {
      x = callee.valid() ? b.call(callee, {x})[0] : b.unary(ElementFn::Exp, x);
    }
    b.output("y", b.multiply(x, 0.5));
    return id;
  };
  const FunctionId inner = chain("inner", 1, {});
  const FunctionId outer = chain("outer", 2, inner);
  graph.main = chain("main", 3, outer);
  return graph;
}

TEST(Graph, finds_functions_by_name) {
  const Graph graph = nested();
  EXPECT_EQ(graph.find("outer"), FunctionId(1));
  EXPECT_FALSE(graph.find("other").valid());
}

TEST(Bind, replaces_symbols_everywhere) {
  const Graph graph = nested();
  EXPECT_EQ(unbound_symbols(graph), (std::vector<std::string>{"batch", "seq"}));
  const Graph half = bind(graph, {{"seq", 128}, {"other", 3}});
  EXPECT_EQ(unbound_symbols(half), std::vector<std::string>{"batch"});
  const Graph bound = bind(half, {{"batch", 4}});
  EXPECT_TRUE(unbound_symbols(bound).empty());
  EXPECT_EQ(bound.entry().type_of(bound.entry().outputs[0].value).text(), "f32[4,128]");
  verify(bound);
}

TEST(Bind, replaces_symbols_of_literals) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  b.output("one", b.constant(1, {DType::F32, {Dim::symbol("batch")}}));
  verify(bind(graph, {{"batch", 4}}));
}

TEST(Bind, refuses_what_is_no_count) {
  try {
    bind(nested(), {{"batch", 0}});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_TRUE(contains(e.what(), "dimension batch must be at least 1, not 0"));
  }
}

TEST(CalleesFirst, puts_each_function_after_those_it_calls) {
  Graph graph = nested();
  std::swap(graph.functions[0].name, graph.functions[1].name);
  EXPECT_EQ(callees_first(graph),
            (std::vector<FunctionId>{FunctionId(0), FunctionId(1), FunctionId(2)}));
  EXPECT_EQ(callees_first(graph, FunctionId(1)),
            (std::vector<FunctionId>{FunctionId(0), FunctionId(1)}));
}

TEST(RunCounts, multiply_along_calls) {
  EXPECT_EQ(run_counts(nested()), (std::vector<double>{6, 3, 1}));
}

TEST(Attributes, are_found_by_key_and_sorted) {
  Attributes attrs{{AttrKey::Scale, 0.5}, {AttrKey::Causal, true}};
  EXPECT_EQ(attrs.begin()->first, AttrKey::Causal);
  EXPECT_EQ(attrs.get<double>(AttrKey::Scale), 0.5);
  EXPECT_EQ(attrs.get_or<int64_t>(AttrKey::Dim, 7), 7);
  EXPECT_FALSE(attrs.has(AttrKey::Dim));
  attrs.set(AttrKey::Scale, 2.0);
  EXPECT_EQ(attrs.get<double>(AttrKey::Scale), 2.0);
  EXPECT_THROW(attrs.get<int64_t>(AttrKey::Scale), InternalError);
  EXPECT_THROW(attrs.get<int64_t>(AttrKey::Dim), InternalError);
}

TEST(Attributes, compare_literals_by_their_elements) {
  const auto of = [](double x) {
    Literal literal;
    literal.floats = {x};
    return Attributes{{AttrKey::Value, std::make_shared<const Literal>(literal)}};
  };
  EXPECT_TRUE(of(1) == of(1));
  EXPECT_FALSE(of(1) == of(2));
  EXPECT_FALSE(of(0.0) == of(-0.0));
  EXPECT_TRUE(of(std::nan("")) == of(-std::nan("")));
}

TEST(Names, are_read_back) {
  for (int i = 0; i < OpKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_EQ(op_kind_named(name_of(kind)), kind);
  }
  for (int i = 0; i < ElementFnCount; ++i) {
    const auto fn = static_cast<ElementFn>(i);
    EXPECT_EQ(element_fn_named(name_of(fn)), fn);
    EXPECT_FALSE(op_kind_named(name_of(fn)).has_value()) << "text form writes both in one place";
  }
  for (int i = 0; i < AttrKeyCount; ++i) {
    const auto key = static_cast<AttrKey>(i);
    EXPECT_EQ(attr_key_named(name_of(key)), key);
  }
  EXPECT_FALSE(op_kind_named("frobnicate").has_value());
}

TEST(ElementFn, takes_one_to_three_operands) {
  EXPECT_EQ(arity_of(ElementFn::IsNan), 1);
  EXPECT_EQ(arity_of(ElementFn::Add), 2);
  EXPECT_EQ(arity_of(ElementFn::GreaterEqual), 2);
  EXPECT_EQ(arity_of(ElementFn::Select), 3);
}

}  // namespace
}  // namespace wafer::ir
