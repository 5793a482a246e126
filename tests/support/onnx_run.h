#pragma once

// Imports a test model and computes it.

#include <gtest/gtest.h>

#include <map>

#include "support/onnx_model.h"
#include "wafer/base/error.h"
#include "wafer/importers/onnx.h"
#include "wafer/reference/interpreter.h"

namespace wafer::importers {

using Values = std::vector<double>;

inline std::vector<reference::Tensor> run_graph(const ir::Graph& graph,
                                                const std::map<std::string, Values>& inputs) {
  std::vector<reference::Tensor> tensors;
  for (const ir::Input& input : graph.entry().inputs) {
    const TensorType& type = graph.entry().type_of(input.value);
    tensors.push_back(reference::make_tensor(type, inputs.at(input.name)));
  }
  return reference::evaluate(graph, tensors);
}

inline Values values_of(const reference::Tensor& tensor) {
  if (is_float(tensor.type.dtype)) return tensor.floats;
  return {tensor.integers.begin(), tensor.integers.end()};
}

inline void expect_near(const Values& found, const Values& expected, double tolerance = 2e-5) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << i;
  }
}

/// The message of the error that an import ends with; empty when it does not.
inline std::string import_error(const TestModel& model, const OnnxOptions& options = {}) {
  try {
    import_onnx_bytes(model.bytes(), "m.onnx", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace wafer::importers
