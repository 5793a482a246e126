#include <algorithm>

#include "wafer/models/spec.h"

namespace wafer::models {
namespace {

/// Longer contexts than this were reached by stretching a network trained on shorter ones.
constexpr int64_t LongestDefault = 8192;

/// 0 where heads do not divide hidden: check() tells.
int64_t head_width(const Size& size) {
  return size.heads > 0 && size.hidden % size.heads == 0 ? size.hidden / size.heads : 0;
}

TransformerSpec sized(Naming naming, const Size& size) {
  TransformerSpec spec;
  spec.naming = naming;
  spec.layers = size.layers;
  spec.hidden = size.hidden;
  spec.heads = spec.kv_heads = size.heads;
  spec.head_dim = head_width(size);
  spec.ffn = 4 * size.hidden;
  spec.vocab = size.vocab;
  spec.max_positions = size.positions;
  spec.default_seq = std::min(size.positions, LongestDefault);
  return spec;
}

}  // namespace

TransformerSpec bert(const Size& size, Head head) {
  TransformerSpec spec = sized(Naming::Bert, size);
  spec.default_seq = std::min<int64_t>(size.positions, 128);  // of the published measurements
  spec.token_types = 2;
  spec.epsilon = 1e-12;
  spec.post_norm = spec.embedding_norm = true;
  spec.final_norm = false;
  spec.causal = false;
  spec.padding_mask = true;
  spec.head = head;
  spec.head_bias = true;
  spec.pooler = true;
  return spec;
}

TransformerSpec gpt2(const Size& size) {
  TransformerSpec spec = sized(Naming::Gpt2, size);
  spec.activation = Activation::GeluTanh;
  return spec;
}

TransformerSpec gptj(const Size& size, int64_t rotary_dims) {
  TransformerSpec spec = sized(Naming::GptJ, size);
  spec.learned_positions = false;
  spec.rotary = Rotary{.dims = rotary_dims, .theta = 10000, .interleaved = true, .scaling = {}};
  spec.activation = Activation::GeluTanh;
  spec.parallel = spec.shared_norm = true;
  spec.qkv_bias = spec.out_bias = false;
  spec.tied = false;
  spec.head_bias = true;
  return spec;
}

TransformerSpec gpt_neox(const Size& size, double rotary_share) {
  TransformerSpec spec = sized(Naming::GptNeoX, size);
  spec.learned_positions = false;
  const auto dims = static_cast<int64_t>(static_cast<double>(spec.head_dim) * rotary_share);
  spec.rotary = Rotary{.dims = dims, .theta = 10000, .interleaved = false, .scaling = {}};
  spec.parallel = true;
  spec.tied = false;
  return spec;
}

TransformerSpec llama(const Size& size, int64_t kv_heads, int64_t ffn, double theta) {
  TransformerSpec spec = sized(Naming::Llama, size);
  spec.kv_heads = kv_heads;
  spec.ffn = ffn;
  spec.learned_positions = false;
  spec.rotary = Rotary{.dims = spec.head_dim, .theta = theta, .interleaved = false, .scaling = {}};
  spec.norm = Norm::RmsNorm;
  spec.activation = Activation::Silu;
  spec.gated = true;
  spec.qkv_bias = spec.out_bias = spec.mlp_bias = false;
  spec.tied = false;
  return spec;
}

TransformerSpec esm2(const Size& size) {
  TransformerSpec spec = sized(Naming::Esm, size);
  spec.default_seq = std::max<int64_t>(1, size.positions - 2);  // two rows were never positions
  spec.learned_positions = false;
  spec.rotary = Rotary{.dims = spec.head_dim, .theta = 10000, .interleaved = false, .scaling = {}};
  spec.dropped_token = 32;  // <mask> of the published alphabet
  spec.causal = false;
  spec.padding_mask = true;
  spec.head = Head::MaskedLm;
  spec.head_bias = true;
  spec.contact_head = true;
  return spec;
}

TransformerSpec vit(const Size& size, const Patches& patches, int64_t classes) {
  TransformerSpec spec = sized(Naming::Vit, size);
  spec.patches = patches;
  spec.epsilon = 1e-12;
  spec.causal = false;
  spec.head = Head::SequenceClassifier;
  spec.labels = classes;
  return spec;
}

}  // namespace wafer::models
