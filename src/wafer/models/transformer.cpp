#include <fmt/format.h>

#include "wafer/base/error.h"
#include "wafer/models/heads.h"
#include "wafer/models/layer.h"
#include "wafer/models/names.h"
#include "wafer/models/networks.h"

namespace wafer::models {
namespace {

using ir::ElementFn;

/// Added to the scores of what is hidden: no weight is left after softmax, and every 16-bit type
/// holds it. **Source:** BERT's own code (google-research/bert, modeling.py).
constexpr double Hidden = -10000;

/// ESM-2 trained with this share of its tokens replaced by <mask>: 15 % chosen, 80 % of them
/// masked.
/// **Source:** mask_ratio_train of its own code (facebookresearch/esm, esm/model/esm2.py).
constexpr double MaskedInTraining = 0.15 * 0.8;

class TransformerBuilder {
 public:
  TransformerBuilder(Builder& b, const TransformerSpec& spec, const BuildOptions& options)
      : b_(b), spec_(spec), options_(options), names_(names_of(spec.naming)) {
    seq_ = sequence_length({.name = b.graph().name, .network = spec}, options);
  }

  void build() {
    ValueId x = spec_.patches ? embed_patches() : embed_tokens();
    x = layers(x);
    if (spec_.final_norm) {
      const Scope scope(b_, "final_norm");
      x = normalize(b_, x, names_.final_norm, spec_.norm, spec_.epsilon);
    }
    if (spec_.contact_head) contact_head();
    const int64_t masked =
        options_.masked_tokens < 0 ? masked_tokens_for(seq_) : options_.masked_tokens;
    build_head(b_, spec_,
               {.hidden = x, .word_table = words_, .masked = masked, .train = options_.train});
  }

 private:
  ValueId embed_tokens() {
    const Scope scope(b_, "embeddings");
    const TensorType ids_type{DType::I32, {batch_, seq_}};
    const ValueId ids = b_.input("input_ids", ids_type);
    const ValueId types = spec_.token_types > 0 ? b_.input("token_type_ids", ids_type) : ValueId();
    if (spec_.padding_mask) attended_ = b_.convert(b_.input("attention_mask", ids_type), dtype());
    words_ = parameter(names_.word, ".weight", {spec_.vocab, spec_.hidden});
    ValueId x = b_.take_rows(words_, ids);
    if (spec_.dropped_token) x = drop_masked(x, ids);
    if (spec_.learned_positions) x = b_.add(x, positions());
    if (types.valid()) {
      const ValueId table =
          parameter(names_.token_types, ".weight", {spec_.token_types, spec_.hidden});
      x = b_.add(x, b_.take_rows(table, types));
    }
    if (spec_.embedding_norm) {
      x = normalize(b_, x, names_.embedding_norm, spec_.norm, spec_.epsilon);
    }
    return x;
  }

  /// [seq, hidden]: the first rows of the position table.
  ValueId positions() {
    const int64_t rows = std::max(spec_.max_positions, seq_);
    const ValueId table = parameter(names_.positions, "", {rows, spec_.hidden});
    return rows == seq_ ? table : slice_dim(b_, table, 0, 0, seq_);
  }

  /// Zeroes the embeddings of masked and of padding tokens, and scales the others as if as many
  /// were masked as in training.
  ValueId drop_masked(ValueId x, ValueId ids) {
    const Scope scope(b_, "dropped_tokens");
    const DType exact = dtype() == DType::F64 ? DType::F64 : DType::F32;
    const auto mask_id = b_.scalar(static_cast<double>(*spec_.dropped_token), DType::I32);
    const ValueId masked = b_.binary(ElementFn::Equal, ids, mask_id);
    const ValueId masked_count = b_.reduce_sum(b_.convert(masked, exact), {1});
    const ValueId length = b_.reduce_sum(b_.convert(attended_, exact), {1});
    const ValueId share = b_.divide(masked_count, length);
    const ValueId kept = b_.add(b_.unary(ElementFn::Negate, share), 1.0);
    const ValueId factor = b_.divide(b_.scalar(1 - MaskedInTraining, exact), kept);
    const ValueId column = b_.reshape(b_.convert(factor, dtype()), {batch_, 1, 1});
    const ValueId zero = b_.scalar(0, dtype());
    x = b_.select(b_.reshape(masked, {batch_, seq_, 1}), zero, x);
    x = b_.multiply(x, column);
    return b_.multiply(x, b_.reshape(attended_, {batch_, seq_, 1}));
  }

  /// pixel_values [B, C, I, I] -> [B, 1 + patches, hidden].
  ValueId embed_patches() {
    const Scope scope(b_, "embeddings");
    const Patches& p = *spec_.patches;
    const int64_t grid = p.image / p.patch;
    const ValueId pixels =
        b_.input("pixel_values", {dtype(), {batch_, p.channels, p.image, p.image}});
    const ValueId cls = b_.parameter("vit.embeddings.cls_token", {dtype(), {1, 1, spec_.hidden}});
    const ValueId table = parameter(names_.positions, "", {1, seq_, spec_.hidden});
    const ValueId kernel =
        parameter(names_.word, ".weight", {spec_.hidden, p.channels, p.patch, p.patch});
    const ValueId bias = parameter(names_.word, ".bias", {spec_.hidden});
    const ValueId cut = convolve(b_, pixels, kernel, {.stride = p.patch, .padding = 0});
    const ValueId patches =
        b_.transpose(b_.reshape(cut, {batch_, spec_.hidden, grid * grid}), {0, 2, 1});
    const ValueId tokens =
        b_.concatenate({b_.broadcast_to(cls, {batch_, 1, spec_.hidden}), b_.add(patches, bias)}, 1);
    return b_.add(tokens, table);
  }

  ValueId layers(ValueId x) {
    const LayerContext full = context(false);
    const LayerContext windowed = windowed_layers() ? context(true) : full;
    const int64_t first_windowed = windowed_layers() ? spec_.window->first_layer : spec_.layers;
    ir::FunctionId full_layer, windowed_layer;
    for (int64_t i = 0; i < spec_.layers; ++i) {
      const bool inside = i >= first_windowed;
      ir::FunctionId& layer = inside ? windowed_layer : full_layer;
      const LayerContext& read = inside ? windowed : full;
      if (!layer.valid()) layer = layer_function(inside ? "windowed_layer" : "layer", x, read);
      b_.layer = fmt::format("layer.{}", i);
      x = call_with_parameters(b_, layer, fmt::format("{}{}.", names_.layer, i),
                               operands(x, read, i));
      b_.layer.clear();
    }
    return x;
  }

  bool windowed_layers() const { return spec_.window && spec_.window->size < seq_; }

  LayerContext context(bool windowed) {
    if (spec_.rotary && !tables_) {
      tables_ = rotary_tables(b_, *spec_.rotary, spec_.max_positions, seq_, dtype());
    }
    if (spec_.padding_mask && !padding_.valid()) padding_ = padding_mask();
    LayerContext result{.mask = padding_, .rotary = tables_, .scale = {}};
    if (windowed) {
      const ValueId window = window_mask();
      result.mask = padding_.valid() ? b_.add(padding_, window) : window;
    }
    return result;
  }

  /// [B, 1, 1, S]: 0 where attention_mask is 1, Hidden where it is 0.
  ValueId padding_mask() {
    const Scope scope(b_, "padding_mask");
    const ValueId missing = b_.multiply(b_.add(attended_, -1.0), -Hidden);
    return b_.reshape(missing, {batch_, 1, 1, seq_});
  }

  /// [1, 1, S, S]: Hidden where the key stands `size` or more before the query.
  ValueId window_mask() {
    const Scope scope(b_, "window_mask");
    const wafer::Shape square = {1, 1, seq_, seq_};
    const ValueId query = b_.iota({DType::I32, square}, 2);
    const ValueId key = b_.iota({DType::I32, square}, 3);
    const ValueId size = b_.scalar(static_cast<double>(spec_.window->size), DType::I32);
    const ValueId near = b_.binary(ElementFn::Less, b_.subtract(query, key), size);
    const ValueId zero = b_.scalar(0, dtype());
    return b_.select(near, zero, b_.scalar(Hidden, dtype()));
  }

  /// The operands of a layer besides parameters, in the order of layer_function's inputs.
  std::vector<ValueId> operands(ValueId x, const LayerContext& read, int64_t index) {
    std::vector<ValueId> result = {x};
    if (read.mask.valid()) result.push_back(read.mask);
    if (read.rotary) result.insert(result.end(), {read.rotary->cos, read.rotary->sin});
    if (spec_.scale_by_layer) {
      result.push_back(b_.scalar(1.0 / static_cast<double>(index + 1), dtype()));
    }
    return result;
  }

  ir::FunctionId layer_function(const char* name, ValueId x, const LayerContext& outer) {
    const TensorType x_type = b_.type_of(x);
    const ir::FunctionId id = b_.graph().add_function(name);
    Builder inner(b_.graph(), id);
    const ValueId inner_x = inner.input("x", x_type);
    LayerContext read;
    if (outer.mask.valid()) read.mask = inner.input("mask", b_.type_of(outer.mask));
    if (outer.rotary) {
      const ValueId cos = inner.input("cos", b_.type_of(outer.rotary->cos));
      read.rotary = {cos, inner.input("sin", b_.type_of(outer.rotary->sin))};
    }
    if (spec_.scale_by_layer) read.scale = inner.input("scale", {dtype(), {}});
    inner.output("y", transformer_layer(inner, spec_, inner_x, read));
    return id;
  }

  /// Parameters that the published network counts and the graph does not read: no gradient.
  void contact_head() {
    parameter("esm.contact_head.regression", ".weight", {1, spec_.layers * spec_.heads});
    parameter("esm.contact_head.regression", ".bias", {1});
    auto& inputs = b_.function().inputs;
    for (size_t i = inputs.size() - 2; i < inputs.size(); ++i) inputs[i].frozen = true;
  }

  ValueId parameter(std::string_view name, const char* suffix, wafer::Shape shape) {
    return b_.parameter(std::string(name) + suffix, {dtype(), std::move(shape)});
  }

  DType dtype() const { return options_.dtype; }

  Builder& b_;
  const TransformerSpec& spec_;
  const BuildOptions& options_;
  const Names& names_;
  const Dim batch_ = Dim::symbol(std::string(ir::BatchSymbol));
  int64_t seq_ = 0;
  ValueId words_;     ///< [vocab, hidden]
  ValueId attended_;  ///< [B, S]: 1 for a token, 0 for padding
  ValueId padding_;   ///< padding_mask()
  std::optional<RotaryTables> tables_;
};

}  // namespace

void build_transformer(Builder& b, const TransformerSpec& spec, const BuildOptions& options) {
  TransformerBuilder(b, spec, options).build();
}

}  // namespace wafer::models
