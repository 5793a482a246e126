#include <gtest/gtest.h>

#include "support/gradient_check.h"
#include "wafer/autodiff/rules.h"
#include "wafer/reference/interpreter.h"

namespace wafer::autodiff {
namespace {

using ir::AttrKey;
using ir::Builder;
using ir::ElementFn;
using ir::OpKind;
using ir::ValueId;
using reference::Tensor;
using Values = std::vector<ValueId>;

void check(ElementFn fn, std::vector<Tensor> inputs, std::vector<size_t> by = {}) {
  SCOPED_TRACE(std::string(ir::name_of(fn)));
  GradientCheck(std::move(inputs), [fn](Builder& b, const Values& x) {
    return Values{b.emit1(OpKind::Elementwise, x, {{AttrKey::Fn, fn}})};
  }).run(std::move(by));
}

TEST(ElementwiseGradient, of_one_operand_equals_differences) {
  for (ElementFn fn :
       {ElementFn::Abs, ElementFn::Negate, ElementFn::Exp, ElementFn::Expm1, ElementFn::Sin,
        ElementFn::Cos, ElementFn::Tanh, ElementFn::Logistic, ElementFn::Erf, ElementFn::Sign,
        ElementFn::Floor, ElementFn::Ceil, ElementFn::Round}) {
    check(fn, {noise("f64[2,3]", 1)});
  }
}

TEST(ElementwiseGradient, of_one_positive_operand_equals_differences) {
  for (ElementFn fn : {ElementFn::Log, ElementFn::Log1p, ElementFn::Sqrt, ElementFn::Rsqrt,
                       ElementFn::Reciprocal}) {
    check(fn, {noise("f64[2,3]", 2, 0.5, 3)});
  }
}

TEST(ElementwiseGradient, of_two_operands_equals_differences) {
  for (ElementFn fn : {ElementFn::Add, ElementFn::Subtract, ElementFn::Multiply, ElementFn::Divide,
                       ElementFn::Maximum, ElementFn::Minimum, ElementFn::Atan2}) {
    const Tensor a = noise("f64[2,3]", 3);
    const Tensor b = noise("f64[2,3]", 4, 0.5, 1.5);
    check(fn, {a, b});
    check(fn, {a, b}, {0});
    check(fn, {a, b}, {1});
  }
  check(ElementFn::Remainder, {noise("f64[8]", 5, -7, 7), noise("f64[8]", 6, 1, 2)});
  check(ElementFn::Power, {noise("f64[8]", 7, 0.5, 2), noise("f64[8]", 8, -2, 2)});
}

TEST(ElementwiseGradient, of_powers_is_finite_at_zero) {
  // d(x^2)/dx = 2x and d(x^0)/dx = 0, also at x = 0
  check(ElementFn::Power, {tensor("f64[3]", {0, -2, 0}), tensor("f64[3]", {2, 3, 0})}, {0});
}

TEST(ElementwiseGradient, of_select_goes_to_what_was_chosen) {
  check(ElementFn::Select,
        {tensor("bool[4]", {1, 0, 0, 1}), noise("f64[4]", 9), noise("f64[4]", 10)});
}

TEST(ElementwiseGradient, of_clamp_goes_to_the_bound_that_holds) {
  check(ElementFn::Clamp, {tensor("f64[4]", {0, 0, 0, 2}), tensor("f64[4]", {-1, 0.5, 3, 0.5}),
                           tensor("f64[4]", {1, 1, 1, 1})});
}

/// The gradients of the sum of fn(x, y).
std::vector<Tensor> gradients(ElementFn fn, const Tensor& x, const Tensor& y,
                              const std::vector<std::string>& by) {
  ir::Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId a = b.input("x", x.type);
  const ValueId c = b.input("y", y.type);
  b.output("loss", b.reduce_sum(b.binary(fn, a, c), {0}));
  auto outputs = reference::evaluate(differentiate(graph, {.output = "loss", .inputs = by}),
                                     std::vector{x, y});
  outputs.erase(outputs.begin());
  return outputs;
}

TEST(ElementwiseGradient, of_relu_at_zero_is_zero) {
  // torch.relu(torch.tensor([-1., 0., 2.])).sum().backward() gives [0, 0, 1]
  const Tensor x = tensor("f64[3]", {-1, 0, 2});
  const Tensor zero = tensor("f64[3]", {0, 0, 0});
  const std::vector<double> expected = {0, 0, 1};
  EXPECT_EQ(gradients(ElementFn::Maximum, x, zero, {"x"})[0].floats, expected);
}

TEST(ElementwiseGradient, of_equal_operands_of_a_maximum_is_shared) {
  // torch.maximum(x, y).sum().backward() for x = y gives 0.5 to each
  const Tensor x = tensor("f64[2]", {1, 3});
  const Tensor y = tensor("f64[2]", {1, 2});
  const auto g = gradients(ElementFn::Maximum, x, y, {"x", "y"});
  EXPECT_EQ(g[0].floats, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(g[1].floats, (std::vector<double>{0.5, 0}));
}

TEST(ElementwiseGradient, every_function_of_floats_is_checked_or_has_none) {
  // Integers, bool and steps: the derivative is zero wherever there is one.
  for (int i = 0; i < ir::ElementFnCount; ++i) {
    const auto fn = static_cast<ElementFn>(i);
    ir::Op op;
    op.kind = OpKind::Elementwise;
    op.attrs = {{AttrKey::Fn, fn}};
    const bool step = fn == ElementFn::Sign || fn == ElementFn::Floor || fn == ElementFn::Ceil ||
                      fn == ElementFn::Round;
    const bool bits = fn == ElementFn::Not || fn == ElementFn::IsFinite || fn == ElementFn::IsNan ||
                      (fn >= ElementFn::And && fn <= ElementFn::GreaterEqual);
    const size_t first = fn == ElementFn::Select ? 1 : 0;
    for (size_t k = first; k < static_cast<size_t>(ir::arity_of(fn)); ++k) {
      EXPECT_EQ(propagates(op, k), !step && !bits) << ir::name_of(fn) << " by " << k;
    }
  }
}

TEST(ConvertGradient, comes_back_in_the_type_of_the_operand) {
  GradientCheck({noise("f64[5]", 11)}, [](Builder& b, const Values& x) {
    const ValueId narrow = b.convert(x[0], DType::F32);
    return Values{b.multiply(narrow, narrow)};
  }).run();
}

}  // namespace
}  // namespace wafer::autodiff
