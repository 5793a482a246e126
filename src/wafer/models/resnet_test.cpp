#include <gtest/gtest.h>

#include "support/model_samples.h"
#include "wafer/models/models.h"
#include "wafer/reference/interpreter.h"

namespace wafer::models {
namespace {

using nlohmann::json;

/// Evaluates at batch 2 and compares with the sample.
void expect_equal(const ir::Graph& graph, const json& sample) {
  const ir::Graph bound = ir::bind(graph, {{"batch", 2}});
  model_samples::expect_outputs(
      bound, reference::evaluate(bound, model_samples::inputs(bound, sample)), sample);
}

TEST(ResNet, computes_what_torchvision_computes) {
  for (const json& sample : model_samples::read("values.json")) {
    const json& config = sample["config"];
    if (config["architectures"][0] != "ResNet") continue;
    ModelSpec spec{.name = "small", .network = ResNetSpec()};
    auto& resnet = std::get<ResNetSpec>(spec.network);
    resnet.blocks = config["blocks"].get<std::vector<int64_t>>();
    resnet.width = config["width"].get<int64_t>();
    resnet.image = config["image"].get<int64_t>();
    resnet.classes = config["classes"].get<int64_t>();
    expect_equal(build(spec, {.dtype = DType::F32, .train = false}), sample);
    expect_equal(build(spec, {.dtype = DType::F32, .train = true}), sample);
    return;
  }
  FAIL() << "values.json has no sample of a ResNet";
}

}  // namespace
}  // namespace wafer::models
