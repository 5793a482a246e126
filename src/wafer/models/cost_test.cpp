// Work and structure of the built-in models, as ir counts them.
#include <gtest/gtest.h>

#include "wafer/ir/cost.h"
#include "wafer/ir/text.h"
#include "wafer/ir/verify.h"
#include "wafer/models/models.h"

namespace wafer::models {
namespace {

/// Of the forward pass of one sequence or image.
ir::Cost forward_cost(std::string_view name, const BuildOptions& options = {.train = false}) {
  const ir::Graph graph = ir::bind(build(name, options), {{"batch", 1}});
  return ir::cost_of(graph, graph.main);
}

TEST(Cost, is_six_n_and_attention_for_gpt3) {
  // N in matrices: 96 layers of 12 * 12288^2 and the head of 50257 * 12288.
  const double n = 96.0 * 12 * 12288 * 12288 + 50257.0 * 12288;
  const double tokens = 2048;
  const double training = 6 * n * tokens + 12.0 * 96 * tokens * tokens * 12288;
  const ir::Cost forward = forward_cost("gpt3-175b");
  EXPECT_DOUBLE_EQ(3 * forward.product.value, training);
  EXPECT_NEAR(3 * forward.total().value / training, 1, 0.01);
}

TEST(Cost, is_six_n_and_attention_for_bert) {
  // 24 layers of 12 * 1024^2 at each of 128 tokens; pooler and classifier once a sequence.
  const double per_token = 24.0 * 12 * 1024 * 1024, once = 1024.0 * 1024 + 2 * 1024;
  const double training = 6 * (per_token * 128 + once) + 12.0 * 24 * 128 * 128 * 1024;
  const ir::Cost forward = forward_cost("bert-large");
  EXPECT_DOUBLE_EQ(3 * forward.product.value, training);
  EXPECT_NEAR(3 * forward.total().value / training, 1, 0.01);
}

TEST(Cost, of_a_masked_head_is_that_of_its_positions) {
  // Beyond the encoder: 20 times dense 1024^2 and decoder 30522 * 1024; pooler and two labels.
  const double head = 20 * (1024.0 * 1024 + 30522.0 * 1024) + 1024.0 * 1024 + 2 * 1024;
  const double body = 128 * 24.0 * 12 * 1024 * 1024 + 2.0 * 24 * 128 * 128 * 1024;
  EXPECT_DOUBLE_EQ(forward_cost("bert-large-mlm").product.value, 2 * (body + head));
}

TEST(Cost, shares_keys_among_query_heads) {
  // llama3-8b: per layer q and o of 4096^2, k and v of 4096 * 1024, three of 4096 * 14336.
  const double layer = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336;
  const double tokens = 512;
  const double forward =
      2 * tokens * (32 * layer + 128256.0 * 4096) + 4.0 * 32 * tokens * tokens * 4096;
  const BuildOptions options{.seq_len = 512, .train = false};
  EXPECT_DOUBLE_EQ(forward_cost("llama3-8b", options).product.value, forward);
}

TEST(Cost, of_vision_networks_is_that_of_torchvision) {
  // Giga multiply-adds of one image, "_ops" of torchvision 0.23: resnet50 4.089, vit_b_16 17.564.
  EXPECT_NEAR(forward_cost("resnet50").product.value / 2e9, 4.089, 0.001);
  EXPECT_NEAR(forward_cost("vit-base").product.value / 2e9, 17.564, 0.02);
}

TEST(Structure, of_every_model_is_sound) {
  for (const CatalogEntry& entry : catalog()) {
    for (const bool train : {true, false}) {
      const ir::Graph graph = build(entry.spec, {.train = train});
      EXPECT_NO_THROW(ir::verify(graph)) << entry.spec.name;
      EXPECT_EQ(ir::unbound_symbols(graph), std::vector<std::string>{"batch"});
    }
  }
}

TEST(Structure, survives_its_text_form) {
  for (const char* name : {"bert-large-mlm", "gptj-6b", "mistral-7b", "resnet50", "esm2-35m"}) {
    const ir::Graph graph = build(name);
    EXPECT_TRUE(ir::equal(ir::parse_text(ir::print_text(graph)), graph)) << name;
  }
}

TEST(Structure, labels_scopes_of_a_layer) {
  const ir::Graph graph = build("bert-base");
  std::vector<std::string> scopes;
  for (const ir::Op& op : graph.function(graph.find("layer")).ops) {
    if (scopes.empty() || scopes.back() != op.scope) scopes.push_back(op.scope);
  }
  const std::vector<std::string> expected = {"attention/query", "attention/key", "attention/value",
                                             "attention",       "attention/out", "residual",
                                             "attention/norm",  "mlp/up",        "mlp/activation",
                                             "mlp/down",        "residual",      "mlp/norm"};
  EXPECT_EQ(scopes, expected);
}

}  // namespace
}  // namespace wafer::models
