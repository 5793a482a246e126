// Keys and defaults of each model_type, as configuration_<model_type>.py of transformers 4.51 and
// 5.24 have them.
#include "wafer/importers/huggingface_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "wafer/base/nearest.h"

namespace wafer::importers {
namespace {

using models::Activation;
using models::Head;
using models::Rotary;
using models::Size;
using models::TransformerSpec;

struct ActivationName {
  const char* name;
  Activation activation;
};
constexpr std::array<ActivationName, 10> Activations = {{
    {"gelu", Activation::Gelu},
    {"gelu_python", Activation::Gelu},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_fast", Activation::GeluTanh},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"gelu_accurate", Activation::GeluTanh},
    {"relu", Activation::Relu},
    {"silu", Activation::Silu},
    {"swish", Activation::Silu},
    {"tanh", Activation::Tanh},
}};

Activation read_activation(const Fields& config, const char* key, const char* otherwise) {
  const std::string name = config.text(key, otherwise);
  std::vector<std::string> names;
  for (const ActivationName& known : Activations) {
    if (name == known.name) return known.activation;
    names.emplace_back(known.name);
  }
  config.problem(
      key, fmt::format("expected one of {}, found {}", fmt::join(names, ", "), config.found(key)));
  return Activation::Gelu;
}

/// An option that would change the network in a way that is not supported.
void refuse(const Fields& config, const char* key, bool present, const char* remedy) {
  if (present)
    config.problem(key, fmt::format("{} is not supported; {}", config.found(key), remedy));
}

/// head_dim of Size's rule, where the file gives none.
void check_heads(const Fields& config, const TransformerSpec& spec, const char* hidden,
                 const char* heads) {
  if (spec.heads <= 0 || spec.head_dim > 0) return;
  config.problem(heads, fmt::format("{} does not divide {} {}", spec.heads, hidden, spec.hidden));
}

void read_scaling(const Fields& rope, Rotary& rotary) {
  using Kind = models::RopeScaling::Kind;
  models::RopeScaling& s = rotary.scaling;
  const char* key = rope.has("rope_type") ? "rope_type" : "type";
  const std::string type = rope.text(key, "default");
  if (type == "default") return;
  constexpr std::array<std::pair<const char*, Kind>, 4> Kinds = {{{"linear", Kind::Linear},
                                                                  {"dynamic", Kind::Dynamic},
                                                                  {"llama3", Kind::Llama3},
                                                                  {"yarn", Kind::Yarn}}};
  const auto* kind = std::find_if(Kinds.begin(), Kinds.end(),
                                  [&](const auto& known) { return type == known.first; });
  if (kind == Kinds.end()) {
    return rope.problem(key, fmt::format("expected default, linear, dynamic, llama3 or yarn, "
                                         "found {}",
                                         rope.found(key)));
  }
  s.kind = kind->second;
  s.factor = rope.number("factor");
  if (s.kind == Kind::Llama3) {
    s.low_frequency = rope.number("low_freq_factor");
    s.high_frequency = rope.number("high_freq_factor");
    s.original_positions = rope.integer("original_max_position_embeddings");
  }
  if (s.kind == Kind::Yarn) {
    s.beta_fast = rope.number("beta_fast", s.beta_fast);
    s.beta_slow = rope.number("beta_slow", s.beta_slow);
    s.original_positions = rope.integer_or_null("original_max_position_embeddings", 0);
    if (rope.has("attention_factor")) s.attention_factor = rope.number("attention_factor");
    refuse(rope, "mscale", rope.has("mscale"), "give attention_factor");
  }
}

/// Base, share of the head and scaling, under their names in transformers 4 or in 5.
Rotary read_rotary(const Fields& config, const TransformerSpec& spec, const char* base_key,
                   const char* share_key, double share) {
  Rotary rotary;
  rotary.theta = config.number(base_key, 10000);
  if (share_key != nullptr) share = config.number(share_key, share);
  if (const auto scaling = config.object("rope_scaling")) read_scaling(*scaling, rotary);
  if (const auto rope = config.object("rope_parameters")) {
    rotary.theta = rope->number("rope_theta", rotary.theta);
    if (share_key != nullptr) share = rope->number("partial_rotary_factor", share);
    read_scaling(*rope, rotary);
  }
  if (!(share > 0 && share <= 1)) {
    config.problem(share_key,
                   fmt::format("expected a share above 0 and at most 1, found {}", share));
    share = 1;
  }
  rotary.dims = static_cast<int64_t>(static_cast<double>(spec.head_dim) * share);
  return rotary;
}

TransformerSpec read_bert(const Fields& config) {
  const Size size{.layers = config.integer("num_hidden_layers", 12),
                  .hidden = config.integer("hidden_size", 768),
                  .heads = config.integer("num_attention_heads", 12),
                  .vocab = config.integer("vocab_size", 30522),
                  .positions = config.integer("max_position_embeddings", 512)};
  TransformerSpec spec = models::bert(size);
  check_heads(config, spec, "hidden_size", "num_attention_heads");
  spec.ffn = config.integer("intermediate_size", 3072);
  spec.token_types = config.integer("type_vocab_size", 2);
  spec.epsilon = config.number("layer_norm_eps", 1e-12);
  spec.activation = read_activation(config, "hidden_act", "gelu");
  spec.causal = config.boolean("is_decoder", false);
  spec.tied = config.boolean("tie_word_embeddings", true);
  const std::string positions = config.text("position_embedding_type", "absolute");
  refuse(config, "position_embedding_type", positions != "absolute", "only absolute is");
  refuse(config, "add_cross_attention", config.boolean("add_cross_attention", false),
         "only self-attention is");
  return spec;
}

/// What gpt2 and gptj have in common; either of two names for each size.
Size read_gpt_size(const Fields& config, const Size& defaults) {
  return {
      .layers = config.integer("n_layer", "num_hidden_layers", defaults.layers),
      .hidden = config.integer("n_embd", "hidden_size", defaults.hidden),
      .heads = config.integer("n_head", "num_attention_heads", defaults.heads),
      .vocab = config.integer("vocab_size", defaults.vocab),
      .positions = config.integer("n_positions", "max_position_embeddings", defaults.positions)};
}

void read_gpt_rest(const Fields& config, TransformerSpec& spec, bool tied) {
  check_heads(config, spec, "n_embd", "n_head");
  spec.ffn = config.integer_or_null("n_inner", spec.ffn);
  spec.epsilon = config.number("layer_norm_epsilon", 1e-5);
  spec.activation = read_activation(config, "activation_function", "gelu_new");
  spec.tied = config.boolean("tie_word_embeddings", tied);
}

TransformerSpec read_gpt2(const Fields& config) {
  TransformerSpec spec = models::gpt2(read_gpt_size(config, {12, 768, 12, 50257, 1024}));
  read_gpt_rest(config, spec, true);
  spec.scale_scores = config.boolean("scale_attn_weights", true);
  spec.scale_by_layer = config.boolean("scale_attn_by_inverse_layer_idx", false);
  refuse(config, "add_cross_attention", config.boolean("add_cross_attention", false),
         "only self-attention is");
  return spec;
}

TransformerSpec read_gptj(const Fields& config) {
  const Size size = read_gpt_size(config, {28, 4096, 16, 50400, 2048});
  TransformerSpec spec = models::gptj(size, config.integer("rotary_dim", 64));
  read_gpt_rest(config, spec, false);
  return spec;
}

TransformerSpec read_gpt_neox(const Fields& config) {
  const Size size{.layers = config.integer("num_hidden_layers", 44),
                  .hidden = config.integer("hidden_size", 6144),
                  .heads = config.integer("num_attention_heads", 64),
                  .vocab = config.integer("vocab_size", 50432),
                  .positions = config.integer("max_position_embeddings", 2048)};
  TransformerSpec spec = models::gpt_neox(size);
  check_heads(config, spec, "hidden_size", "num_attention_heads");
  spec.rotary = read_rotary(config, spec, "rotary_emb_base", "rotary_pct", 0.25);
  spec.ffn = config.integer("intermediate_size", 24576);
  spec.epsilon = config.number("layer_norm_eps", 1e-5);
  spec.activation = read_activation(config, "hidden_act", "gelu");
  spec.parallel = config.boolean("use_parallel_residual", true);
  spec.qkv_bias = spec.out_bias = config.boolean("attention_bias", true);
  spec.tied = config.boolean("tie_word_embeddings", false);
  return spec;
}

/// Defaults in which llama, mistral and qwen2 differ. kv_heads 0: as many as heads.
struct LlamaDefaults {
  Size size;
  int64_t kv_heads = 0, ffn = 0;
};

TransformerSpec read_llama_like(const Fields& config, const LlamaDefaults& defaults) {
  const Size size{.layers = config.integer("num_hidden_layers", defaults.size.layers),
                  .hidden = config.integer("hidden_size", defaults.size.hidden),
                  .heads = config.integer("num_attention_heads", defaults.size.heads),
                  .vocab = config.integer("vocab_size", defaults.size.vocab),
                  .positions = config.integer("max_position_embeddings", defaults.size.positions)};
  const bool as_heads = defaults.kv_heads == 0 || config.is_null("num_key_value_heads");
  const int64_t kv_default = as_heads ? size.heads : defaults.kv_heads;
  TransformerSpec spec =
      models::llama(size, config.integer_or_null("num_key_value_heads", kv_default),
                    config.integer("intermediate_size", defaults.ffn));
  if (config.has("head_dim")) spec.head_dim = config.integer("head_dim");
  check_heads(config, spec, "hidden_size", "num_attention_heads");
  spec.rotary = read_rotary(config, spec, "rope_theta", nullptr, 1);
  spec.epsilon = config.number("rms_norm_eps", 1e-6);
  spec.activation = read_activation(config, "hidden_act", "silu");
  spec.tied = config.boolean("tie_word_embeddings", false);
  return spec;
}

TransformerSpec read_llama(const Fields& config) {
  TransformerSpec spec = read_llama_like(config, {{32, 4096, 32, 32000, 2048}, 0, 11008});
  spec.qkv_bias = spec.out_bias = config.boolean("attention_bias", false);
  spec.mlp_bias = config.boolean("mlp_bias", false);
  return spec;
}

TransformerSpec read_mistral(const Fields& config) {
  TransformerSpec spec = read_llama_like(config, {{32, 4096, 32, 32000, 131072}, 8, 14336});
  if (!config.is_null("sliding_window")) {
    spec.window = {.size = config.integer("sliding_window", 4096), .first_layer = 0};
  }
  return spec;
}

/// The first layer with a window where full layers come before all others, as layer_types says.
int64_t first_windowed(const Fields& config, int64_t otherwise) {
  const std::vector<std::string> types = config.texts("layer_types");
  if (types.empty()) return otherwise;
  const auto first = std::find(types.begin(), types.end(), "sliding_attention");
  const auto is = [](const char* name) { return [name](const auto& t) { return t == name; }; };
  if (!std::all_of(types.begin(), first, is("full_attention")) ||
      !std::all_of(first, types.end(), is("sliding_attention"))) {
    config.problem("layer_types",
                   "expected full_attention of the first layers, sliding_attention of the rest");
  }
  return first - types.begin();
}

TransformerSpec read_qwen2(const Fields& config) {
  TransformerSpec spec = read_llama_like(config, {{32, 4096, 32, 151936, 32768}, 32, 22016});
  spec.qkv_bias = true;
  if (config.boolean("use_sliding_window", false) && !config.is_null("sliding_window")) {
    const int64_t first = first_windowed(config, config.integer("max_window_layers", 28));
    spec.window = {.size = config.integer("sliding_window", 4096), .first_layer = first};
  }
  return spec;
}

TransformerSpec read_vit(const Fields& config) {
  const models::Patches patches{.image = config.integer("image_size", 224),
                                .patch = config.integer("patch_size", 16),
                                .channels = config.integer("num_channels", 3)};
  const Size size{.layers = config.integer("num_hidden_layers", 12),
                  .hidden = config.integer("hidden_size", 768),
                  .heads = config.integer("num_attention_heads", 12),
                  .vocab = 0,
                  .positions = 1};
  TransformerSpec spec = models::vit(size, patches, 2);
  check_heads(config, spec, "hidden_size", "num_attention_heads");
  spec.ffn = config.integer("intermediate_size", 3072);
  spec.epsilon = config.number("layer_norm_eps", 1e-12);
  spec.activation = read_activation(config, "hidden_act", "gelu");
  spec.qkv_bias = config.boolean("qkv_bias", true);
  return spec;
}

TransformerSpec read_esm(const Fields& config) {
  const Size size{.layers = config.integer("num_hidden_layers", 12),
                  .hidden = config.integer("hidden_size", 768),
                  .heads = config.integer("num_attention_heads", 12),
                  .vocab = config.integer("vocab_size"),
                  .positions = config.integer("max_position_embeddings", 1026)};
  TransformerSpec spec = models::esm2(size);
  check_heads(config, spec, "hidden_size", "num_attention_heads");
  spec.ffn = config.integer("intermediate_size", 3072);
  spec.epsilon = config.number("layer_norm_eps", 1e-12);
  spec.activation = read_activation(config, "hidden_act", "gelu");
  spec.dropped_token = config.integer("mask_token_id");
  spec.tied = config.boolean("tie_word_embeddings", true);
  const std::string positions = config.text("position_embedding_type", "absolute");
  refuse(config, "position_embedding_type", positions != "rotary", "only rotary (ESM-2) is");
  refuse(config, "token_dropout", !config.boolean("token_dropout", false), "only true (ESM-2) is");
  refuse(config, "emb_layer_norm_before",
         config.has("emb_layer_norm_before") && config.boolean("emb_layer_norm_before", false),
         "only false (ESM-2) is");
  return spec;
}

constexpr Architecture Bert[] = {{"BertForPreTraining", Head::Pretraining, true},
                                 {"BertModel", Head::None, true},
                                 {"BertForMaskedLM", Head::MaskedLm},
                                 {"BertLMHeadModel", Head::LanguageModel},
                                 {"BertForNextSentencePrediction", Head::NextSentence, true},
                                 {"BertForSequenceClassification", Head::SequenceClassifier, true},
                                 {"BertForTokenClassification", Head::TokenClassifier},
                                 {"BertForQuestionAnswering", Head::QuestionAnswering}};
constexpr Architecture Gpt2[] = {{"GPT2LMHeadModel", Head::LanguageModel},
                                 {"GPT2Model", Head::None},
                                 {"GPT2ForSequenceClassification", Head::SequenceClassifier},
                                 {"GPT2ForTokenClassification", Head::TokenClassifier}};
constexpr Architecture GptJ[] = {{"GPTJForCausalLM", Head::LanguageModel},
                                 {"GPTJModel", Head::None},
                                 {"GPTJForSequenceClassification", Head::SequenceClassifier}};
constexpr Architecture GptNeoX[] = {{"GPTNeoXForCausalLM", Head::LanguageModel},
                                    {"GPTNeoXModel", Head::None},
                                    {"GPTNeoXForSequenceClassification", Head::SequenceClassifier}};
constexpr Architecture Llama[] = {{"LlamaForCausalLM", Head::LanguageModel},
                                  {"LlamaModel", Head::None},
                                  {"LlamaForSequenceClassification", Head::SequenceClassifier}};
constexpr Architecture Mistral[] = {{"MistralForCausalLM", Head::LanguageModel},
                                    {"MistralModel", Head::None},
                                    {"MistralForSequenceClassification", Head::SequenceClassifier}};
constexpr Architecture Qwen2[] = {{"Qwen2ForCausalLM", Head::LanguageModel},
                                  {"Qwen2Model", Head::None},
                                  {"Qwen2ForSequenceClassification", Head::SequenceClassifier}};
constexpr Architecture Vit[] = {{"ViTForImageClassification", Head::SequenceClassifier},
                                {"ViTModel", Head::None, true}};
constexpr Architecture Esm[] = {{"EsmForMaskedLM", Head::MaskedLm}};

constexpr Family Families[] = {
    {"bert", read_bert, Bert},    {"gpt2", read_gpt2, Gpt2},
    {"gptj", read_gptj, GptJ},    {"gpt_neox", read_gpt_neox, GptNeoX},
    {"llama", read_llama, Llama}, {"mistral", read_mistral, Mistral},
    {"qwen2", read_qwen2, Qwen2}, {"vit", read_vit, Vit},
    {"esm", read_esm, Esm},
};

}  // namespace

std::span<const Family> families() { return Families; }

}  // namespace wafer::importers
