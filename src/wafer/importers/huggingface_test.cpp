#include "wafer/importers/huggingface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "support/model_samples.h"
#include "wafer/base/error.h"
#include "wafer/reference/interpreter.h"

namespace wafer::importers {
namespace {

using models::BuildOptions;
using models::TransformerSpec;
using nlohmann::json;

TransformerSpec read(std::string_view text) {
  return std::get<TransformerSpec>(parse_huggingface(text, "config.json").network);
}

std::string error_of(std::string_view text) {
  try {
    parse_huggingface(text, "config.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// Samples of transformers networks, not those of torchvision.
std::vector<json> samples() {
  std::vector<json> result;
  for (const json& sample : model_samples::read("values.json")) {
    if (sample["config"].contains("model_type")) result.push_back(sample);
  }
  EXPECT_GT(result.size(), 25U);
  return result;
}

/// As transformers predicts: every position, where the sample names none.
BuildOptions options_of(const json& sample, bool train) {
  const json& inputs = sample["inputs"];
  const bool some = inputs.contains("masked_positions");
  return {.seq_len = sample["seq"].get<int64_t>(),
          .dtype = DType::F32,
          .train = train,
          .masked_tokens =
              some ? static_cast<int64_t>(inputs["masked_positions"].size()) / 2 : int64_t{0}};
}

/// Evaluates at batch 2 and compares with the sample.
void expect_equal(const ir::Graph& graph, const json& sample) {
  const ir::Graph bound = ir::bind(graph, {{"batch", 2}});
  model_samples::expect_outputs(
      bound, reference::evaluate(bound, model_samples::inputs(bound, sample)), sample);
}

TEST(HuggingFace, computes_what_transformers_computes) {
  for (const json& sample : samples()) {
    const std::string config = sample["config"].dump();
    SCOPED_TRACE(config);
    const models::ModelSpec spec = parse_huggingface(config, "config.json");
    expect_equal(models::build(spec, options_of(sample, false)), sample);
    if (!sample.contains("loss")) continue;
    expect_equal(models::build(spec, options_of(sample, true)), sample);
  }
}

TEST(HuggingFace, has_the_parameters_of_transformers_by_name_and_shape) {
  for (const json& sample : samples()) {
    const std::string config = sample["config"].dump();
    SCOPED_TRACE(config);
    const ir::Graph graph =
        models::build(parse_huggingface(config, "config.json"), options_of(sample, false));
    std::map<std::string, std::vector<int64_t>> expected, found;
    for (const json& p : sample["parameters"]) {
      expected[p[0].get<std::string>()] = p[1].get<std::vector<int64_t>>();
    }
    for (const ir::Input& input : graph.entry().inputs) {
      if (input.role != ir::Role::Parameter) continue;
      for (const Dim& d : graph.entry().type_of(input.value).shape) {
        found[input.name].push_back(d.value());
      }
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(HuggingFace, counts_the_parameters_that_transformers_counts) {
  for (const json& entry : model_samples::read("counts.json")) {
    const models::ModelSpec spec = parse_huggingface(entry["config"].dump(), "config.json");
    EXPECT_EQ(models::parameter_count(models::build(spec, {.train = false})),
              entry["parameters"].get<int64_t>())
        << entry["config"];
  }
}

TEST(HuggingFace, makes_the_built_in_models_of_their_published_configurations) {
  const std::map<std::string, std::string> configs = {
      {"bert-large", R"({"architectures": ["BertForSequenceClassification"], "model_type": "bert",
        "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
        "intermediate_size": 4096})"},
      {"bert-base-mlm", R"({"architectures": ["BertForPreTraining"], "model_type": "bert"})"},
      {"gpt2", R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2"})"},
      {"gptj-6b", R"({"architectures": ["GPTJForCausalLM"], "model_type": "gptj"})"},
      {"llama-7b", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama"})"},
      {"llama3.1-405b", R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "hidden_size": 16384, "intermediate_size": 53248, "num_hidden_layers": 126,
        "num_attention_heads": 128, "num_key_value_heads": 8, "vocab_size": 128256,
        "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "rope_theta": 500000.0,
        "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192, "rope_type": "llama3"}})"},
      {"mistral-7b", R"({"architectures": ["MistralForCausalLM"], "model_type": "mistral",
        "max_position_embeddings": 32768, "rms_norm_eps": 1e-05})"},
      {"vit-base", R"({"architectures": ["ViTForImageClassification"], "model_type": "vit",
        "num_labels": 1000})"},
  };
  for (const auto& [name, config] : configs) {
    ir::Graph imported = models::build(parse_huggingface(config, name));
    const ir::Graph named = models::build(name);
    EXPECT_EQ(imported.functions.size(), named.functions.size()) << name;
    for (size_t f = 0; f < named.functions.size(); ++f) {
      const ir::Function& a = imported.functions[f];
      const ir::Function& b = named.functions[f];
      ASSERT_EQ(a.ops.size(), b.ops.size()) << name;
      ASSERT_EQ(a.values.size(), b.values.size()) << name;
      for (size_t v = 0; v < b.values.size(); ++v) {
        ASSERT_EQ(a.values[v].type, b.values[v].type) << name;
      }
      for (size_t i = 0; i < b.ops.size(); ++i) {
        ASSERT_EQ(a.ops[i].kind, b.ops[i].kind) << name;
        if (b.ops[i].kind == ir::OpKind::Constant) continue;
        ASSERT_EQ(a.ops[i].attrs, b.ops[i].attrs) << name;
      }
    }
  }
}

TEST(HuggingFace, takes_the_family_own_head_where_none_is_named) {
  EXPECT_EQ(read(R"({"model_type": "bert"})").head, models::Head::Pretraining);
  EXPECT_EQ(read(R"({"model_type": "llama"})").head, models::Head::LanguageModel);
}

TEST(HuggingFace, keeps_windows_of_the_layers_that_have_them) {
  EXPECT_EQ(read(R"({"model_type": "mistral"})").window->size, 4096);
  EXPECT_FALSE(read(R"({"model_type": "mistral", "sliding_window": null})").window);
  EXPECT_FALSE(read(R"({"model_type": "qwen2", "sliding_window": 64})").window);
  const TransformerSpec spec = read(R"({"model_type": "qwen2", "use_sliding_window": true,
      "sliding_window": 64, "num_hidden_layers": 3, "layer_types":
      ["full_attention", "sliding_attention", "sliding_attention"]})");
  EXPECT_EQ(spec.window->size, 64);
  EXPECT_EQ(spec.window->first_layer, 1);
}

TEST(HuggingFace, reads_a_file_or_its_folder) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "huggingface_test_folder";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json") << R"({"model_type": "gpt2", "n_layer": 3})";
  EXPECT_EQ(std::get<TransformerSpec>(read_huggingface(folder).network).layers, 3);
  EXPECT_EQ(read_huggingface(folder / "config.json").name, (folder / "config.json").string());
  EXPECT_EQ(models::parameter_count(import_huggingface(folder)),
            124'439'808 - 9 * 7'087'872);  // gpt2 without nine of its layers of 12*768^2 + 13*768
  std::filesystem::remove_all(folder);
  EXPECT_THROW(read_huggingface(folder), InputError);
}

TEST(HuggingFace, names_the_key_at_fault) {
  const std::map<std::string, std::string> errors = {
      {R"({"model_type": "brt"})",
       "config.json: key model_type: expected one of bert, gpt2, gptj, gpt_neox, llama, mistral, "
       "qwen2, vit, esm, found \"brt\" (did you mean bert?)"},
      {R"({"hidden_size": 4})",
       "config.json: key model_type: expected one of bert, gpt2, gptj, gpt_neox, llama, mistral, "
       "qwen2, vit, esm, found none"},
      {R"({"model_type": "bert", "hidden_size": "768", "num_hidden_layers": 2.5})",
       "config.json\n"
       "  key num_hidden_layers: expected a whole number of at most 32 bits, found 2.5\n"
       "  key hidden_size: expected a whole number of at most 32 bits, found \"768\""},
      {R"({"model_type": "llama", "hidden_size": null})",
       "config.json\n"
       "  key hidden_size: expected a whole number of at most 32 bits, found null"},
      {R"({"model_type": "llama", "vocab_size": 99999999999999999999})",
       "config.json\n"
       "  key vocab_size: expected a whole number of at most 32 bits, found 1e+20"},
      {R"({"model_type": "gpt2", "activation_function": "gelu_quick"})",
       "config.json\n"
       "  key activation_function: expected one of gelu, gelu_python, gelu_new, gelu_fast, "
       "gelu_pytorch_tanh, gelu_accurate, relu, silu, swish, tanh, found \"gelu_quick\""},
      {R"({"model_type": "gpt2", "architectures": ["GPT2LMHead"]})",
       "config.json\n"
       "  key architectures: expected one of GPT2LMHeadModel, GPT2Model, "
       "GPT2ForSequenceClassification, GPT2ForTokenClassification, found [\"GPT2LMHead\"] "
       "(did you mean GPT2LMHeadModel?)"},
      {R"({"model_type": "gpt2", "architectures": "GPT2Model"})",
       "config.json\n  key architectures: expected a list of strings, found \"GPT2Model\""},
      {R"({"model_type": "gpt2", "n_embd": 24, "hidden_size": 32, "n_head": 4})",
       "config.json\n  key n_embd: 24 contradicts hidden_size 32"},
      {R"({"model_type": "gpt2", "n_embd": 10, "n_head": 3})",
       "config.json\n  key n_head: 3 does not divide n_embd 10"},
      {R"({"model_type": "gpt2", "n_layer": 0})",
       "config.json\n  layers must be between 1 and 10000, not 0"},
      {R"({"model_type": "gpt2", "n_head": 0})",
       "config.json\n  heads must be between 1 and 65536, not 0\n"
       "  kv_heads must be between 1 and 65536, not 0"},
      {R"({"model_type": "llama", "num_attention_heads": 8, "num_key_value_heads": 3})",
       "config.json\n  kv_heads 3 must divide heads 8"},
      {R"({"model_type": "qwen2", "hidden_size": 48, "num_attention_heads": 4})",
       "config.json\n  kv_heads 32 must divide heads 4"},
      {R"({"model_type": "bert", "position_embedding_type": "relative_key"})",
       "config.json\n  key position_embedding_type: \"relative_key\" is not supported; only "
       "absolute is"},
      {R"({"model_type": "gpt2", "add_cross_attention": true})",
       "config.json\n  key add_cross_attention: true is not supported; only self-attention is"},
      {R"({"model_type": "gpt2", "scale_attn_weights": "yes"})",
       "config.json\n  key scale_attn_weights: expected true or false, found \"yes\""},
      {R"({"model_type": "llama", "rope_scaling": {"type": "longrope", "factor": 2}})",
       "config.json\n  key rope_scaling.type: expected default, linear, dynamic, llama3 or yarn, "
       "found \"longrope\""},
      {R"({"model_type": "llama", "rope_scaling": {"type": "linear"}})",
       "config.json\n  key rope_scaling.factor: expected a number, found none"},
      {R"({"model_type": "llama", "rope_scaling": [1]})",
       "config.json\n  key rope_scaling: expected an object, found [1]"},
      {R"({"model_type": "llama", "rope_scaling": {"type": "yarn", "factor": 2, "beta_fast": -1}})",
       "config.json\n  the rotary beta_slow and beta_fast must ascend from above 0, not 1, -1"},
      {R"({"model_type": "gpt_neox", "rotary_pct": -1e300})",
       "config.json\n  key rotary_pct: expected a share above 0 and at most 1, found -1e+300"},
      {R"({"model_type": "esm", "mask_token_id": 32, "position_embedding_type": "rotary",
           "token_dropout": true})",
       "config.json\n  key vocab_size: expected a whole number of at most 32 bits, found none"},
      {R"({"model_type": "vit", "patch_size": 0})",
       "config.json\n  patch must be between 1 and 65536, not 0\n"
       "  an image of 224 pixels has no patch of 0"},
      {R"(["model_type"])", "config.json: expected a JSON object of configuration keys"},
  };
  for (const auto& [text, error] : errors) EXPECT_EQ(error_of(text), error) << text;
}

TEST(HuggingFace, refuses_what_is_not_json) {
  const std::string whole = R"({"model_type": "gpt2", "n_layer": 3})";
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_TRUE(error_of(whole.substr(0, length)).starts_with("config.json: not JSON: "));
  }
  EXPECT_TRUE(error_of(std::string(1 << 20, '[')).starts_with("config.json: not JSON: "));
  EXPECT_EQ(error_of(std::string((16 << 20) + 1, ' ')),
            "config.json: 16777217 bytes are no config.json; at most 16777216 are read");
}

TEST(HuggingFace, refuses_sizes_that_no_network_has) {
  for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size",
                          "num_attention_heads", "max_position_embeddings", "head_dim"}) {
    for (const char* size : {"-1", "0", "2147483647", "-2147483648"}) {
      const std::string text =
          std::string(R"({"model_type": "llama", ")") + key + "\": " + size + "}";
      if (std::string(key) == "vocab_size" && std::string(size) == "2147483647") continue;
      EXPECT_NE(error_of(text), "no error") << text;
    }
  }
}

}  // namespace
}  // namespace wafer::importers
