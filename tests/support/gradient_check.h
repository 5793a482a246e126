#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "support/run_op.h"
#include "wafer/autodiff/gradient.h"
#include "wafer/ir/verify.h"
#include "wafer/reference/random.h"

/// Floats without a pattern in [low, high), from a stream that `seed` names.
inline wafer::reference::Tensor noise(const std::string& type, uint64_t seed, double low = -1,
                                      double high = 1) {
  wafer::reference::Tensor t = wafer::reference::zeros(type_named(type));
  for (size_t i = 0; i < t.floats.size(); ++i) {
    t.floats[i] = wafer::reference::random_uniform(seed, i, low, high);
  }
  return t;
}

/// Holds differentiate() against central differences, in f64.
class GradientCheck {
 public:
  using Values = std::vector<wafer::ir::ValueId>;
  using Body = std::function<Values(wafer::ir::Builder&, const Values&)>;

  /// `body` computes the results that are checked from inputs of the types of `inputs`. The loss is
  /// the sum of all elements of all float results, each times a weight of its own.
  GradientCheck(std::vector<wafer::reference::Tensor> inputs, Body body)
      : inputs_(std::move(inputs)), body_(std::move(body)) {}

  /// By the float inputs of these indices (default: all), with the body in main and in a function
  /// that main calls.
  void run(std::vector<size_t> by = {}) {
    if (by.empty()) {
      for (size_t i = 0; i < inputs_.size(); ++i) {
        if (!inputs_[i].floats.empty()) by.push_back(i);
      }
    }
    const wafer::ir::Graph inlined = forward(false);
    for (size_t i : by) expected_.push_back(differences(inlined, i));
    compare(inlined, by, "inline");
    compare(forward(true), by, "called");
  }

  wafer::ir::Graph forward(bool called) const {
    using namespace wafer;
    ir::Graph graph;
    graph.main = graph.add_function("main");
    ir::Builder b(graph, graph.main);
    const Values inputs = add_inputs(b);
    Values results;
    if (called) {
      const ir::FunctionId f = graph.add_function("f");
      ir::Builder inner(graph, f);
      const Values made = body_(inner, add_inputs(inner));
      for (ir::ValueId v : made) inner.output("r" + std::to_string(v.index), v);
      results = b.call(f, inputs);
    } else {
      results = body_(b, inputs);
    }
    b.output("loss", weighted_sum(b, results));
    return graph;
  }

 private:
  Values add_inputs(wafer::ir::Builder& b) const {
    Values values;
    for (const auto& t : inputs_) {
      values.push_back(b.input("x" + std::to_string(values.size()), t.type));
    }
    return values;
  }

  static wafer::ir::ValueId weighted_sum(wafer::ir::Builder& b, const Values& results) {
    using namespace wafer;
    ir::ValueId sum = b.scalar(0, DType::F64);
    uint64_t seed = 99;
    for (ir::ValueId v : results) {
      const TensorType type = b.type_of(v);
      if (!is_float(type.dtype)) continue;
      const auto weights = noise(TensorType{DType::F64, type.shape}.text(), seed++, 0.5, 2);
      const ir::ValueId w = b.literal(reference::literal_of(weights));
      ir::Ints dims;
      for (int d = 0; d < type.rank(); ++d) dims.push_back(d);
      sum = b.add(sum, b.reduce_sum(b.multiply(b.convert(v, DType::F64), w), dims));
    }
    return sum;
  }

  /// (f(x + h) - f(x - h)) / 2h for each element of input i.
  std::vector<double> differences(const wafer::ir::Graph& graph, size_t i) const {
    constexpr double H = 1e-5;
    std::vector<double> result;
    auto moved = inputs_;
    for (double& x : moved[i].floats) {
      const double at = x;
      x = at + H;
      const double above = wafer::reference::evaluate(graph, moved)[0].floats[0];
      x = at - H;
      const double below = wafer::reference::evaluate(graph, moved)[0].floats[0];
      x = at;
      result.push_back((above - below) / (2 * H));
    }
    return result;
  }

  void compare(const wafer::ir::Graph& graph, const std::vector<size_t>& by, const char* where) {
    wafer::autodiff::GradientOptions options;
    for (size_t i : by) options.inputs.push_back("x" + std::to_string(i));
    const wafer::ir::Graph gradient = wafer::autodiff::differentiate(graph, options);
    wafer::ir::verify(gradient);
    const auto outputs = wafer::reference::evaluate(gradient, inputs_);
    ASSERT_EQ(outputs.size(), by.size() + 1);
    for (size_t k = 0; k < by.size(); ++k) {
      ASSERT_EQ(outputs[k + 1].type, inputs_[by[k]].type);
      for (size_t e = 0; e < expected_[k].size(); ++e) {
        const double expected = expected_[k][e];
        EXPECT_NEAR(outputs[k + 1].floats[e], expected, 1e-7 * std::max(1.0, std::abs(expected)))
            << where << ", input " << by[k] << ", element " << e;
      }
    }
  }

  std::vector<wafer::reference::Tensor> inputs_;
  Body body_;
  std::vector<std::vector<double>> expected_;
};
