#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace wafer::models {

/// How a published family names its parameters, stores its matrices and joins its projections;
/// what a network computes is in the other fields of its spec.
enum class Naming : uint8_t { Bert, Gpt2, GptJ, GptNeoX, Llama, Esm, Vit };
enum class Norm : uint8_t { LayerNorm, RmsNorm };
enum class Activation : uint8_t { Gelu, GeluTanh, Relu, Silu, Tanh };

/// What stands on the last layer, and the loss in training.
enum class Head : uint8_t {
  None,                ///< the hidden states (and the pooled first token), no loss
  LanguageModel,       ///< the next token at every position
  MaskedLm,            ///< the token at masked positions
  Pretraining,         ///< MaskedLm, and whether the second sentence follows the first (BERT)
  SequenceClassifier,  ///< one label a sequence or image
  NextSentence,        ///< the second half of Pretraining alone
  TokenClassifier,     ///< one label a token
  QuestionAnswering,   ///< first and last token of the answer
};

/// Frequencies of a rotary embedding beyond the plain theta^(-2i/dims).
struct RopeScaling {
  enum class Kind : uint8_t { None, Linear, Dynamic, Llama3, Yarn };
  Kind kind = Kind::None;
  double factor = 1;
  double low_frequency = 1, high_frequency = 4;  ///< Llama3: bounds, in turns per original context
  double beta_fast = 32, beta_slow = 1;          ///< Yarn: the same bounds, named as in its paper
  std::optional<double> attention_factor;        ///< Yarn: multiplies cos and sin
  int64_t original_positions = 0;                ///< context of the first training
};

/// Rotary positions of queries and keys. **Source:** Su et al., arXiv:2104.09864.
struct Rotary {
  int64_t dims = 0;  ///< the first dims of each head turn, the rest stays
  double theta = 10000;
  bool interleaved = false;  ///< pairs (0,1), (2,3), ... as GPT-J; else (0, dims/2), ...
  RopeScaling scaling;
};

/// Keys further back than `size` - 1 tokens are hidden, in layers from `first_layer` on.
struct SlidingWindow {
  int64_t size = 0;
  int64_t first_layer = 0;
};

/// An image cut into square patches, each one token, after one class token.
struct Patches {
  int64_t image = 224, patch = 16, channels = 3;
  int64_t tokens() const { return (image / patch) * (image / patch) + 1; }
};

/// A transformer, encoder or decoder. Plain values; check() tells what does not go together.
struct TransformerSpec {
  Naming naming = Naming::Gpt2;
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0;
  int64_t max_positions = 0;  ///< rows of the learned position table; context of the published
  int64_t default_seq = 0;    ///< tokens per sequence where the user names none
  bool learned_positions = true;
  bool resizable_positions = false;  ///< the position table follows the sequence (free forms)
  int64_t token_types = 0;           ///< rows of the segment table; 0: none
  std::optional<Rotary> rotary;
  std::optional<Patches> patches;        ///< images in place of tokens
  std::optional<int64_t> dropped_token;  ///< ESM-2: id whose embedding is zeroed and compensated

  Norm norm = Norm::LayerNorm;
  double epsilon = 1e-5;
  bool post_norm = false;  ///< norms after the residual additions (BERT), not before
  bool embedding_norm = false;
  bool final_norm = true;
  bool parallel = false;     ///< attention and MLP read the same input (GPT-J, GPT-NeoX)
  bool shared_norm = false;  ///< and the same norm (GPT-J)

  bool causal = true;
  bool padding_mask = false;  ///< has the input attention_mask
  bool qkv_bias = true, out_bias = true;
  bool scale_scores = true;     ///< by 1/sqrt(head_dim)
  bool scale_by_layer = false;  ///< and by 1/(layer + 1)
  std::optional<SlidingWindow> window;

  Activation activation = Activation::Gelu;
  bool gated = false;  ///< down(act(gate(x)) * up(x))
  bool mlp_bias = true;

  Head head = Head::LanguageModel;
  bool tied = true;  ///< the output matrix is the embedding
  bool head_bias = false;
  bool pooler = false;  ///< tanh(dense(first token)), as BERT
  int64_t labels = 2;   ///< classes of a classifier

  bool contact_head = false;  ///< ESM-2: a published regression that takes no part in training
};

/// ResNet with bottleneck blocks; the stride of a stage is on its first 3x3 (version 1.5).
/// **Source:** He et al., arXiv:1512.03385, Table 1.
struct ResNetSpec {
  std::vector<int64_t> blocks;  ///< of each stage
  int64_t width = 64;           ///< channels of the stem
  int64_t channels = 3, image = 224, classes = 1000;
  double epsilon = 1e-5;
};

struct ModelSpec {
  std::string name;
  std::variant<TransformerSpec, ResNetSpec> network;
};

/// Throws InputError with every fault: counts that are not positive or beyond any use, heads that
/// do not divide, tables that contradict each other. `name` begins the message.
void check(const ModelSpec& spec);

/// The published families by shape; everything else as published. Fields may be changed after. The
/// default sequence is the context, but 128 for BERT and at most 8192 for the others.
struct Size {
  int64_t layers = 0, hidden = 0, heads = 0, vocab = 0, positions = 0;
};
TransformerSpec bert(const Size& size, Head head = Head::SequenceClassifier);
TransformerSpec gpt2(const Size& size);
TransformerSpec gptj(const Size& size, int64_t rotary_dims = 64);
TransformerSpec gpt_neox(const Size& size, double rotary_share = 0.25);
/// ffn: width of the gated MLP.
TransformerSpec llama(const Size& size, int64_t kv_heads, int64_t ffn, double theta = 10000);
TransformerSpec esm2(const Size& size);
TransformerSpec vit(const Size& size, const Patches& patches, int64_t classes);

}  // namespace wafer::models
