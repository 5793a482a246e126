#pragma once

// Runs a graph on the samples that tests/scripts/model_samples.py made with transformers and
// torchvision: weights and pixels by the same hash, inputs and expected outputs from the file.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "wafer/ir/graph.h"
#include "wafer/reference/tensor.h"

namespace model_samples {

/// The entries of a file of tests/data/models.
inline nlohmann::json read(const std::string& file) {
  const std::string path = WAFER_SOURCE_DIR "/tests/data/models/" + file;
  std::ifstream stream(path);
  EXPECT_TRUE(stream) << path;
  return nlohmann::json::parse(stream);
}

/// hashed() of the script: numbers in [-1, 1).
inline std::vector<double> hashed(const std::string& name, int64_t count) {
  uint32_t seed = 2166136261;
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 16777619U;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t x = static_cast<uint32_t>(i) + seed;
    x = (x ^ (x >> 16)) * 0x7feb352dU;
    x = (x ^ (x >> 15)) * 0x846ca68bU;
    x = x ^ (x >> 16);
    values.push_back(static_cast<double>(x) / 2147483648.0 - 1);
  }
  return values;
}

inline bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// weight() of the script, and what it gives running statistics.
inline std::vector<double> weight(const std::string& name, const wafer::TensorType& type) {
  std::vector<double> values = hashed(name, type.elements());
  const bool about_one =
      ends_with(name, "running_var") || (type.rank() == 1 && ends_with(name, "weight"));
  for (double& v : values) v = 0.3 * v + (about_one ? 1 : 0);
  return values;
}

inline std::vector<double> value_of(const wafer::ir::Input& input, const wafer::TensorType& type,
                                    const nlohmann::json& sample) {
  if (input.role != wafer::ir::Role::Data) return weight(input.name, type);
  if (input.name == "pixel_values") return hashed("pixels", type.elements());
  return sample["inputs"].at(input.name).get<std::vector<double>>();
}

/// A value for each input of main; the graph is bound.
inline std::vector<wafer::reference::Tensor> inputs(const wafer::ir::Graph& graph,
                                                    const nlohmann::json& sample) {
  std::vector<wafer::reference::Tensor> result;
  for (const wafer::ir::Input& input : graph.entry().inputs) {
    const wafer::TensorType& type = graph.entry().type_of(input.value);
    result.push_back(wafer::reference::make_tensor(type, value_of(input, type, sample)));
  }
  return result;
}

/// Outputs of main (the loss is one) against those of the sample, to 1e-6: transformers computes
/// some steps in f32.
inline void expect_outputs(const wafer::ir::Graph& graph,
                           const std::vector<wafer::reference::Tensor>& outputs,
                           const nlohmann::json& sample) {
  ASSERT_FALSE(outputs.empty());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.entry().outputs[i].name;
    const auto expected = name == "loss" ? std::vector<double>{sample["loss"].get<double>()}
                                         : sample["outputs"].at(name).get<std::vector<double>>();
    ASSERT_EQ(outputs[i].floats.size(), expected.size()) << name;
    double worst = 0;
    for (size_t j = 0; j < expected.size(); ++j) {
      worst = std::max(worst, std::abs(outputs[i].floats[j] - expected[j]));
    }
    EXPECT_LT(worst, 1e-6) << name;
  }
}

}  // namespace model_samples
