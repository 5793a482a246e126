#include <fmt/format.h>

#include "wafer/base/error.h"
#include "wafer/models/models.h"
#include "wafer/models/networks.h"

namespace wafer::models {
namespace {

constexpr int64_t MostTokens = 1 << 24;

void check_dtype(DType dtype) {
  if (is_float(dtype) && size_in_bytes(dtype) >= 2) return;
  throw InputError(
      fmt::format("a network is built in f64, f32, f16, bf16 or cb16, not in {}", name_of(dtype)));
}

/// What a head cannot do in training.
void check_training(const std::string& name, const TransformerSpec& spec) {
  if (spec.head == Head::None) {
    throw InputError(name + ": has no head and so no loss to train; infer, or give it a head");
  }
  if (spec.head == Head::SequenceClassifier && spec.labels == 1) {
    throw InputError(name + ": one label is a regression, which has no loss here; use two or more");
  }
}

void check_masked(const std::string& name, const BuildOptions& options, int64_t seq_len) {
  if (options.masked_tokens >= -1 && options.masked_tokens <= seq_len) return;
  throw InputError(fmt::format("{}: {} masked tokens do not fit a sequence of {}", name,
                               options.masked_tokens, seq_len));
}

int64_t fixed_length(const std::string& name, int64_t tokens, int64_t asked) {
  if (asked == 0 || asked == tokens) return tokens;
  throw InputError(
      fmt::format("{}: has no sequence length to choose; an image is {} token{}, not {}", name,
                  tokens, tokens == 1 ? "" : "s", asked));
}

}  // namespace

int64_t masked_tokens_for(int64_t seq_len) { return (5 * seq_len + 31) / 32; }

int64_t sequence_length(const ModelSpec& spec, const BuildOptions& options) {
  const auto* s = std::get_if<TransformerSpec>(&spec.network);
  if (s == nullptr) return fixed_length(spec.name, 1, options.seq_len);
  if (s->patches) return fixed_length(spec.name, s->patches->tokens(), options.seq_len);
  const int64_t length = options.seq_len == 0 ? s->default_seq : options.seq_len;
  if (length < 1 || length > MostTokens) {
    throw InputError(
        fmt::format("{}: a sequence has 1 to {} tokens, not {}", spec.name, MostTokens, length));
  }
  if (s->learned_positions && !s->resizable_positions && length > s->max_positions) {
    throw InputError(fmt::format(
        "{0}: a sequence of {1} tokens, but only {2} learned positions; use at most {2}, or "
        "a model made for more (as gpt2:seq={1})",
        spec.name, length, s->max_positions));
  }
  return length;
}

ir::Graph build(const ModelSpec& spec, const BuildOptions& options) {
  check(spec);
  check_dtype(options.dtype);
  const int64_t seq_len = sequence_length(spec, options);
  check_masked(spec.name, options, seq_len);
  ir::Graph graph;
  graph.name = spec.name;
  graph.main = graph.add_function("main");
  ir::Builder b(graph, graph.main);
  if (const auto* transformer = std::get_if<TransformerSpec>(&spec.network)) {
    if (options.train) check_training(spec.name, *transformer);
    build_transformer(b, *transformer, options);
  } else {
    build_resnet(b, std::get<ResNetSpec>(spec.network), options);
  }
  return graph;
}

ir::Graph build(std::string_view text, const BuildOptions& options) {
  return build(parse(text), options);
}

int64_t parameter_count(const ir::Graph& graph) {
  int64_t count = 0;
  const ir::Function& main = graph.entry();
  for (const ir::Input& input : main.inputs) {
    if (input.role == ir::Role::Parameter) count += main.type_of(input.value).elements();
  }
  return count;
}

std::optional<int64_t> encoder_parameters(const ModelSpec& spec) {
  const auto* transformer = std::get_if<TransformerSpec>(&spec.network);
  if (transformer == nullptr || transformer->naming != Naming::Bert) return std::nullopt;
  ModelSpec encoder = spec;
  std::get<TransformerSpec>(encoder.network).head = Head::None;
  return parameter_count(build(encoder, {.train = false}));
}

}  // namespace wafer::models
