// Gradients and training steps of whole built-in models.
#include <gtest/gtest.h>

#include <cmath>

#include "support/gradient_check.h"
#include "wafer/autodiff/training_step.h"
#include "wafer/ir/verify.h"
#include "wafer/models/models.h"
#include "wafer/reference/interpreter.h"

namespace wafer::autodiff {
namespace {

using ir::Graph;
using ir::Role;
using reference::Tensor;

/// Inputs for a small language model: token ids and labels below `vocab`, masks of ones, parameters
/// around zero (norms around one).
std::vector<Tensor> inputs_of(const Graph& graph, int64_t vocab) {
  std::vector<Tensor> inputs;
  const ir::Function& main = graph.entry();
  for (const ir::Input& input : main.inputs) {
    const TensorType& type = main.type_of(input.value);
    const uint64_t seed = inputs.size();
    if (is_float(type.dtype)) {
      const bool norm = input.name.find("norm.weight") != std::string::npos ||
                        input.name.find("ln_") != std::string::npos;
      inputs.push_back(norm ? noise(type.text(), seed, 0.5, 1.5) : noise(type.text(), seed));
    } else if (input.name == "attention_mask") {
      inputs.push_back(tensor(type.text(), std::vector<double>(type.elements(), 1)));
    } else {
      inputs.push_back(scrambled(type.text(), input.name == "token_type_ids" ? 2 : vocab, 0));
    }
  }
  return inputs;
}

/// Two elements of each parameter's gradient against differences.
void check_model(const std::string& name, int64_t vocab) {
  SCOPED_TRACE(name);
  const Graph forward = ir::bind(models::build(name, {.dtype = DType::F64}), {{"batch", 2}});
  const Graph gradient = differentiate(forward);
  ir::verify(gradient);
  std::vector<Tensor> inputs = inputs_of(forward, vocab);
  const auto outputs = reference::evaluate(gradient, inputs);
  const auto loss = [&] { return reference::evaluate(forward, inputs)[0].floats[0]; };
  EXPECT_TRUE(std::isfinite(outputs[0].floats[0]));
  size_t next = forward.entry().outputs.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (forward.entry().inputs[i].role != Role::Parameter) continue;
    const Tensor& found = outputs[next++];
    ASSERT_EQ(found.type, inputs[i].type);
    const size_t size = found.floats.size();
    for (size_t e : {size / 3, size - 1}) {
      constexpr double H = 1e-5;
      double& x = inputs[i].floats[e];
      const double at = x;
      x = at + H;
      const double above = loss();
      x = at - H;
      const double below = loss();
      x = at;
      EXPECT_NEAR(found.floats[e], (above - below) / (2 * H), 1e-8)
          << forward.entry().inputs[i].name << " element " << e;
    }
  }
  EXPECT_EQ(next, outputs.size());
}

TEST(ModelGradient, equals_differences) {
  check_model("gpt:layers=2,hidden=8,heads=2,vocab=11,seq=4", 11);
  check_model("bert:layers=2,hidden=8,heads=2,vocab=13,seq=4", 2);
  check_model("llama:layers=2,hidden=16,heads=4,kv_heads=2,vocab=11,seq=4", 11);
}

TEST(ModelTrainingStep, verifies_for_every_family_and_trains_every_parameter) {
  for (const char* name :
       {"bert-base", "bert-base-mlm", "gpt2", "gpt3-175b", "gptj-6b", "llama2-7b", "llama3-8b",
        "mistral-7b", "vit-base", "resnet50", "esm2-35m"}) {
    SCOPED_TRACE(name);
    const Graph forward = models::build(name);
    const Graph step = training_step(forward);
    ir::verify(step);
    for (const ir::Input& input : step.entry().inputs) {
      // ESM-2's contact head is not part of its language model's loss.
      if (input.role != Role::Parameter || input.name.find("contact_head") != std::string::npos) {
        continue;
      }
      EXPECT_GE(input.donated_output, 0) << input.name;
    }
  }
}

TEST(ModelTrainingStep, grows_by_calls_alone_with_the_number_of_layers) {
  const auto step = [](const char* name) { return training_step(models::build(name)); };
  const Graph few = step("gpt:layers=4,hidden=64,heads=2,vocab=100");
  const Graph many = step("gpt:layers=96,hidden=64,heads=2,vocab=100");
  ASSERT_EQ(few.functions.size(), many.functions.size());
  for (size_t i = 0; i < few.functions.size(); ++i) {
    if (few.functions[i].name == "main") continue;
    EXPECT_EQ(few.functions[i].ops.size(), many.functions[i].ops.size());
  }
  // A layer more: a call forward, one backward, and an update of each of its 12 parameters.
  EXPECT_EQ(many.entry().ops.size() - few.entry().ops.size(), 92U * (2 + 12));
}

}  // namespace
}  // namespace wafer::autodiff
