#pragma once

#include <string>
#include <vector>

#include "wafer/ir/builder.h"
#include "wafer/reference/interpreter.h"

/// A type from its text, which must be right.
inline wafer::TensorType type_named(const std::string& text) {
  return wafer::TensorType::parse(text).value();
}

/// tensor("f64[2,3]", {1, 2, 3, 4, 5, 6}).
inline wafer::reference::Tensor tensor(const std::string& type, const std::vector<double>& values) {
  return wafer::reference::make_tensor(type_named(type), values);
}

/// Small whole numbers without a simple pattern: element i is (i * i + 3 * i) % modulus - shift.
inline wafer::reference::Tensor scrambled(const std::string& type, int64_t modulus, int64_t shift) {
  std::vector<double> values;
  for (int64_t i = 0; i < type_named(type).elements(); ++i) {
    values.push_back(static_cast<double>((i * i + 3 * i) % modulus - shift));
  }
  return tensor(type, values);
}

/// The results of one op on these operands, computed by the interpreter.
inline std::vector<wafer::reference::Tensor> run_op(
    wafer::ir::OpKind kind, const std::vector<wafer::reference::Tensor>& operands,
    wafer::ir::Attributes attrs = {}, const std::vector<std::string>& declared = {},
    const wafer::reference::Options& options = {}) {
  wafer::ir::Graph graph;
  graph.main = graph.add_function("main");
  wafer::ir::Builder b(graph, graph.main);
  std::vector<wafer::ir::ValueId> inputs;
  for (const auto& operand : operands) {
    inputs.push_back(b.input("in" + std::to_string(inputs.size()), operand.type));
  }
  std::vector<wafer::TensorType> types;
  for (const std::string& text : declared) types.push_back(type_named(text));
  int count = 0;
  for (wafer::ir::ValueId v : b.emit(kind, inputs, std::move(attrs), types)) {
    b.output("out" + std::to_string(count++), v);
  }
  return wafer::reference::evaluate(graph, operands, options);
}
