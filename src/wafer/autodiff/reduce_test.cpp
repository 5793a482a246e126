// Gradients of reductions, windows, running reductions and sorting, against differences.
#include <gtest/gtest.h>

#include <cmath>

#include "support/gradient_check.h"
#include "wafer/base/error.h"
#include "wafer/ir/infer.h"
#include "wafer/reference/interpreter.h"

namespace wafer::autodiff {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::Builder;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;
using ir::ValueId;
using reference::Tensor;
using Values = std::vector<ValueId>;

constexpr double Inf = HUGE_VAL;

Values reduced(Builder& b, ValueId x, ElementFn fn, const Ints& dims) {
  return {b.reduce(fn, x, dims)};
}

TEST(ReduceGradient, equals_differences) {
  const Tensor x = noise("f64[2,3,4]", 1);
  for (const Ints& dims : {Ints{0}, Ints{1}, Ints{2}, Ints{0, 2}, Ints{2, 0}, Ints{0, 1, 2}}) {
    for (ElementFn fn :
         {ElementFn::Add, ElementFn::Multiply, ElementFn::Maximum, ElementFn::Minimum}) {
      SCOPED_TRACE(std::string(ir::name_of(fn)));
      GradientCheck({x}, [=](Builder& b, const Values& v) {
        return reduced(b, v[0], fn, dims);
      }).run();
    }
  }
}

TEST(ReduceGradient, of_products_is_right_where_factors_are_zero) {
  GradientCheck({tensor("f64[3,3]", {2, 0, 3, 0, 5, 0, 1, 2, 3})}, [](Builder& b, const Values& v) {
    return reduced(b, v[0], ElementFn::Multiply, {1});
  }).run();
}

TEST(ReduceGradient, of_a_sum_goes_to_its_initial_value_too) {
  GradientCheck({noise("f64[2,3]", 2), noise("f64[]", 3)}, [](Builder& b, const Values& v) {
    return b.emit(OpKind::Reduce, v, {{AttrKey::Fn, ElementFn::Add}, {AttrKey::Dims, Ints{1}}});
  }).run();
}

TEST(ReduceGradient, of_products_counts_the_initial_value) {
  GradientCheck({noise("f64[2,3]", 2)}, [](Builder& b, const Values& v) {
    return b.emit(OpKind::Reduce, {v[0], b.scalar(3, DType::F64)},
                  {{AttrKey::Fn, ElementFn::Multiply}, {AttrKey::Dims, Ints{1}}});
  }).run();
}

TEST(ReduceGradient, of_equal_extremes_is_shared_evenly) {
  // torch.tensor([[1., 5, 5, 2]]).amax(1).backward() gives [0, 0.5, 0.5, 0]
  ir::Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId x = b.input("x", type_named("f64[4]"));
  b.output("loss", b.reduce(ElementFn::Maximum, x, {0}));
  const auto out = reference::evaluate(differentiate(graph, {.output = "loss", .inputs = {"x"}}),
                                       std::vector{tensor("f64[4]", {1, 5, 5, 2})});
  EXPECT_EQ(out[1].floats, (std::vector<double>{0, 0.5, 0.5, 0}));
}

/// sum of x over its columns by a function @body(a, b) = b + a.
ir::Graph reduced_by_body(bool plain) {
  ir::Graph graph;
  graph.main = graph.add_function("main");
  const ir::FunctionId body = graph.add_function("body");
  Builder r(graph, body);
  const TensorType scalar{DType::F64, {}};
  const ValueId left = r.input("a", scalar);
  const ValueId right = r.input("b", scalar);
  const ValueId sum = r.add(right, left);
  r.output("sum", plain ? sum : r.unary(ElementFn::Tanh, sum));
  Builder b(graph, graph.main);
  b.location = "net.hlo:7";
  const ValueId x = b.input("x", type_named("f64[2,3]"));
  const ValueId rows = b.emit1(OpKind::Reduce, {x, b.scalar(0, DType::F64)},
                               {{AttrKey::Dims, Ints{1}}, {AttrKey::Body, body}});
  b.output("loss", b.reduce_sum(b.multiply(rows, rows), {0}));
  return graph;
}

TEST(ReduceGradient, sees_the_function_that_a_body_is) {
  const auto g = differentiate(reduced_by_body(true), {.output = "loss", .inputs = {"x"}});
  const auto out = reference::evaluate(g, std::vector{tensor("f64[2,3]", {1, 2, 3, 4, 5, 6})});
  // d/dx of the square of a row's sum: twice the sum
  EXPECT_EQ(out[1].floats, (std::vector<double>{12, 12, 12, 30, 30, 30}));
}

TEST(ReduceGradient, of_other_bodies_is_refused_with_place) {
  try {
    differentiate(reduced_by_body(false), {.output = "loss", .inputs = {"x"}});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("reduce in main (net.hlo:7)"), std::string::npos);
  }
}

Attributes window(Ints size, Ints strides, Ints low, Ints high) {
  return {{AttrKey::Window, std::move(size)},
          {AttrKey::Strides, std::move(strides)},
          {AttrKey::PaddingLow, std::move(low)},
          {AttrKey::PaddingHigh, std::move(high)}};
}

std::vector<Attributes> windows() {  // of a [2, 5, 7]
  return {window({1, 2, 3}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}),
          window({1, 3, 2}, {1, 2, 3}, {0, 1, 0}, {0, 1, 2}),
          window({1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}),
          window({2, 2, 2}, {1, 2, 2}, {1, 0, -1}, {0, 0, -1}),
          window({1, 2, 2}, {1, 3, 3}, {0, 0, 0}, {0, 0, 0})};
}

TEST(ReduceWindowGradient, equals_differences) {
  for (const Attributes& attrs : windows()) {
    for (const auto& [fn, initial] :
         {std::pair(ElementFn::Add, 0.0), std::pair(ElementFn::Maximum, -Inf),
          std::pair(ElementFn::Minimum, Inf)}) {
      SCOPED_TRACE(std::string(ir::name_of(fn)));
      GradientCheck({noise("f64[2,5,7]", 4)}, [&, f = fn, i = initial](Builder& b,
                                                                       const Values& v) {
        Attributes with_fn = attrs;
        with_fn.set(AttrKey::Fn, f);
        return b.emit(OpKind::ReduceWindow, {v[0], b.scalar(i, DType::F64)}, with_fn);
      }).run();
    }
  }
}

TEST(SelectAndScatterGradient, equals_differences) {
  for (const Attributes& attrs : windows()) {
    const std::vector<TensorType> pooled = ir::infer_types(
        {}, OpKind::ReduceWindow, {type_named("f64[2,5,7]"), type_named("f64[]")}, [&] {
          Attributes with_fn = attrs;
          with_fn.set(AttrKey::Fn, ElementFn::Maximum);
          return with_fn;
        }());
    GradientCheck(
        {noise("f64[2,5,7]", 5), noise(pooled[0].text(), 6), noise("f64[]", 7)},
        [&](Builder& b, const Values& v) { return b.emit(OpKind::SelectAndScatter, v, attrs); })
        .run();
  }
}

TEST(SelectAndScatterGradient, takes_the_first_of_equals) {
  ir::Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId x = b.input("x", type_named("f64[4]"));
  const ValueId source = b.input("source", type_named("f64[2]"));
  const ValueId y = b.emit1(OpKind::SelectAndScatter, {x, source, b.scalar(0, DType::F64)},
                            window({2}, {2}, {0}, {0}));
  const ValueId weight = b.literal(reference::literal_of(tensor("f64[4]", {1, 2, 3, 4})));
  b.output("loss", b.reduce_sum(b.multiply(y, weight), {0}));
  const auto out =
      reference::evaluate(differentiate(graph, {.output = "loss", .inputs = {"source"}}),
                          std::vector{tensor("f64[4]", {5, 5, 0, 1}), tensor("f64[2]", {1, 1})});
  EXPECT_EQ(out[1].floats, (std::vector<double>{1, 4}));
}

TEST(CumulativeGradient, equals_differences) {
  for (ElementFn fn :
       {ElementFn::Add, ElementFn::Multiply, ElementFn::Maximum, ElementFn::Minimum}) {
    for (int variant = 0; variant < 8; ++variant) {
      const bool exclusive = (variant & 1) != 0;
      const bool reverse = (variant & 2) != 0;
      const int64_t dim = (variant & 4) != 0 ? 0 : 1;
      SCOPED_TRACE(std::string(ir::name_of(fn)) + " variant " + std::to_string(variant));
      GradientCheck({noise("f64[5,6]", 8)}, [=](Builder& b, const Values& v) {
        const ValueId y = b.emit1(OpKind::Cumulative, {v[0]},
                                  {{AttrKey::Fn, fn},
                                   {AttrKey::Dim, dim},
                                   {AttrKey::Exclusive, exclusive},
                                   {AttrKey::Reverse, reverse}});
        // Where nothing has run yet, an extreme is infinite: cut it off.
        return Values{b.unary(ElementFn::Tanh, y)};
      }).run();
    }
  }
}

TEST(CumulativeGradient, of_products_is_right_where_factors_are_zero) {
  GradientCheck({tensor("f64[6]", {2, 0, 3, 0, 5, 7})}, [](Builder& b, const Values& v) {
    return b.emit(OpKind::Cumulative, {v[0]},
                  {{AttrKey::Fn, ElementFn::Multiply}, {AttrKey::Dim, int64_t{0}}});
  }).run();
}

TEST(SortGradient, goes_back_to_where_elements_came_from) {
  for (bool descending : {false, true}) {
    for (int64_t dim : {0, 1}) {
      GradientCheck({noise("f64[4,3]", 9), noise("f64[4,3]", 10)}, [=](Builder& b,
                                                                       const Values& v) {
        return b.emit(OpKind::Sort, v, {{AttrKey::Dim, dim}, {AttrKey::Descending, descending}});
      }).run();
    }
  }
}

}  // namespace
}  // namespace wafer::autodiff
