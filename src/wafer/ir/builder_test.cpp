#include "wafer/ir/builder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "wafer/base/error.h"
#include "wafer/ir/verify.h"

namespace wafer::ir {
namespace {

struct Fixture {
  Graph graph;
  Builder b;
  Fixture() : graph(), b(started(graph), graph.main) {}

 private:
  static Graph& started(Graph& graph) {
    graph.main = graph.add_function("main");
    return graph;
  }
};

TensorType type(const std::string& text) { return TensorType::parse(text).value(); }

/// The literal of the constant that made the value.
const Literal& literal_of(Builder& b, ValueId v) {
  const Function& f = b.function();
  return *f.op(f.values[v.index].producer).attrs.get<LiteralRef>(AttrKey::Value);
}

TEST(Builder, types_a_perceptron) {
  Fixture f;
  const ValueId x = f.b.input("x", type("f32[batch,4]"));
  const ValueId w = f.b.parameter("w", type("f32[4,3]"));
  const ValueId bias = f.b.parameter("b", type("f32[3]"));
  const ValueId y = f.b.unary(ElementFn::Tanh, f.b.add(f.b.matmul(x, w), bias));
  EXPECT_EQ(f.b.type_of(y), type("f32[batch,3]"));
  EXPECT_EQ(f.b.type_of(f.b.reduce_mean(y, {0, 1})), type("f32[]"));
  EXPECT_EQ(f.graph.entry().inputs[1].role, Role::Parameter);
  EXPECT_THROW(f.b.matmul(w, x), InputError);
  verify(f.graph);
}

TEST(Builder, stretches_operands_as_numpy_does) {
  Fixture f;
  const ValueId a = f.b.input("a", type("f32[batch,1,3]"));
  const ValueId b = f.b.input("b", type("f32[5,3]"));
  EXPECT_EQ(f.b.type_of(f.b.add(a, b)), type("f32[batch,5,3]"));
  EXPECT_EQ(f.b.type_of(f.b.multiply(a, 2.0)), type("f32[batch,1,3]"));
  const ValueId p = f.b.input("p", type("bool[3]"));
  EXPECT_EQ(f.b.type_of(f.b.select(p, a, b)), type("f32[batch,5,3]"));
  EXPECT_THROW(f.b.add(a, f.b.input("c", type("f32[4]"))), InputError);
}

TEST(Builder, rounds_constants_to_their_type) {
  Fixture f;
  // The float nearest to 0.1 (IEEE 754: 0x3DCCCCCD).
  EXPECT_EQ(literal_of(f.b, f.b.scalar(0.1, DType::F32)).floats,
            std::vector<double>{0.100000001490116119384765625});
  EXPECT_EQ(literal_of(f.b, f.b.scalar(300, DType::I8)).integers, std::vector<int64_t>{127});
  EXPECT_EQ(literal_of(f.b, f.b.scalar(1e30, DType::U64)).integers, std::vector<int64_t>{-1});
}

TEST(Builder, reduces_from_the_neutral_element) {
  const auto initial = [](ElementFn fn, const std::string& of) {
    Fixture f;
    f.b.reduce(fn, f.b.input("x", type(of)), {0});
    const Literal& literal = literal_of(f.b, f.graph.entry().ops.back().operands[1]);
    return literal.floats.empty() ? static_cast<double>(literal.integers[0]) : literal.floats[0];
  };
  EXPECT_EQ(initial(ElementFn::Add, "f16[2]"), 0);
  EXPECT_EQ(initial(ElementFn::Multiply, "f16[2]"), 1);
  EXPECT_EQ(initial(ElementFn::Maximum, "f16[2]"), -HUGE_VAL);
  EXPECT_EQ(initial(ElementFn::Minimum, "i32[2]"), 2147483647);
  EXPECT_EQ(initial(ElementFn::Maximum, "i8[2]"), -128);
  EXPECT_EQ(initial(ElementFn::Maximum, "bool[2]"), 0);
  EXPECT_EQ(initial(ElementFn::Minimum, "bool[2]"), 1);
  EXPECT_EQ(initial(ElementFn::And, "u8[2]"), 255);
  EXPECT_EQ(initial(ElementFn::And, "i8[2]"), -1);
  EXPECT_EQ(initial(ElementFn::And, "bool[2]"), 1);
  EXPECT_EQ(initial(ElementFn::Minimum, "u64[2]"), -1);  // the bits of the largest
  EXPECT_EQ(initial(ElementFn::Or, "bool[2]"), 0);
}

TEST(Builder, takes_rows_of_any_width) {
  Fixture f;
  const ValueId indices = f.b.input("i", type("i32[batch,seq]"));
  const ValueId table = f.b.input("t", type("f32[100,width]"));
  EXPECT_EQ(f.b.type_of(f.b.take_rows(table, indices)), type("f32[batch,seq,width]"));
}

TEST(Builder, marks_ops_with_where_it_stands) {
  Fixture f;
  const ValueId x = f.b.input("x", type("f32[2]"));
  f.b.phase = Phase::Backward;
  f.b.layer = "layer.3";
  f.b.scope = "mlp";
  f.b.location = "m.onnx:7";
  f.b.softmax(x);
  const Op& op = f.graph.entry().ops.back();
  EXPECT_EQ(op.phase, Phase::Backward);
  EXPECT_EQ(op.layer + op.scope + op.location, "layer.3mlpm.onnx:7");
}

}  // namespace
}  // namespace wafer::ir
