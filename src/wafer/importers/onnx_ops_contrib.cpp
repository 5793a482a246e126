// The com.microsoft ops that ONNX Runtime's transformer tools write, in terms of others.
// **Source:** microsoft/onnxruntime, docs/ContribOperators.md.
#include <array>
#include <cmath>

#include "wafer/importers/onnx_formulas.h"
#include "wafer/importers/onnx_norm.h"
#include "wafer/importers/onnx_ops.h"

namespace wafer::importers {

using ir::ElementFn;
using ir::Ints;

namespace {

/// What masked positions get added where mask_filter_value is not given.
constexpr double DefaultFilter = -10000;

Terms bias_gelu(OnnxCall& c) { return {gelu(c.fold, c.fold.add(c.in(0), c.weight(1)), false)}; }
Terms gelu_op(OnnxCall& c) { return {gelu(c.fold, c.in(0), false)}; }

Terms fast_gelu(OnnxCall& c) {
  const Term x = c.has(1) ? c.fold.add(c.in(0), c.weight(1)) : c.in(0);
  return {gelu(c.fold, x, true)};
}

Terms quick_gelu(OnnxCall& c) { return {swish(c.fold, c.in(0), c.real("alpha", 1.702))}; }

Terms fused_matmul(OnnxCall& c) {
  c.require("transBatchA", 0);
  c.require("transBatchB", 0);
  Folder& f = c.fold;
  const auto operand = [&](size_t i, std::string_view attribute) {
    const Term& x = c.in(i).rank() == 2 ? c.weight(i) : c.in(i);
    return c.integer(attribute, 0) != 0 && x.rank() > 1 ? f.transpose_last(x) : x;
  };
  const Term product = matmul(f, operand(0, "transA"), operand(1, "transB"));
  return {f.multiply(product, c.real("alpha", 1))};
}

/// Output 3 of the skip norms is what they normalise.
Terms skip_results(const Term& y, const Term& sum) { return {y, y, y, sum}; }

Term skip_sum(OnnxCall& c, size_t bias) {
  if (c.wants(1) || c.wants(2)) c.refuse("mean and deviation as outputs");
  const Term sum = c.fold.add(c.in(0), c.in(1));
  return c.has(bias) ? c.fold.add(sum, c.weight(bias)) : sum;
}

Terms skip_layer_norm(OnnxCall& c) {
  const Term sum = skip_sum(c, 4);
  const Dim size = sum.shape().back();
  const Term bias = c.has(3) ? norm_row(c, 3, size) : c.fold.constant(0, {sum.dtype(), {size}});
  const Term y = layer_norm(c.fold, sum, norm_row(c, 2, size), bias, c.real("epsilon", 1e-12));
  return skip_results(y, sum);
}

Terms skip_rms_norm(OnnxCall& c) {
  const Term sum = skip_sum(c, 3);
  const Term scale = norm_row(c, 2, sum.shape().back());
  return skip_results(rms_norm(c.fold, sum, scale, c.real("epsilon", 1e-12)), sum);
}

Term position_rows(OnnxCall& c, const Term& table, const Dim& length) {
  if (c.has(8)) return gather(c.fold, table, c.in(8), 0);
  return c.fold.slice_dim(table, 0, 0, length.value());
}

/// Inputs: ids [B, S], segment ids, tables of words, positions and segments, gamma, beta, mask,
/// position ids.
Terms embed_layer_norm(OnnxCall& c) {
  Folder& f = c.fold;
  const Term& ids = c.in(0);
  if (ids.rank() != 2) c.refuse("needs ids [batch, positions]");
  Term sum = gather(f, c.weight(2), ids, 0);
  sum = f.add(sum, position_rows(c, c.weight(3), ids.dim(1)));
  if (c.has(1) && c.has(4)) sum = f.add(sum, gather(f, c.weight(4), c.in(1), 0));
  const Dim size = sum.shape().back();
  const Term y =
      layer_norm(f, sum, norm_row(c, 5, size), norm_row(c, 6, size), c.real("epsilon", 1e-12));
  Term lengths = f.constant(0, {DType::I32, {ids.dim(0)}});
  if (c.has(7)) lengths = f.reduce(ElementFn::Add, f.convert(c.in(7), DType::I32), {1});
  return {y, lengths, sum};
}

/// mask_index as a bias of the scores [B, H, S, T]: [B, T] or [B, S, T] of 0 and 1, or [B] lengths.
std::optional<Term> mask_of(OnnxCall& c, size_t i, const Dim& batch, const Dim& t, DType dtype) {
  if (!c.has(i)) return std::nullopt;
  Folder& f = c.fold;
  const double filter = c.real("mask_filter_value", DefaultFilter);
  Term mask = c.in(i);
  if (mask.rank() == 1 && mask.dim(0) == batch) {
    const Term places = f.iota({mask.dtype(), {batch, t}}, 1);
    mask = f.binary(ElementFn::Less, places, f.reshape(mask, {batch, 1}));
  }
  if (mask.rank() != 2 && mask.rank() != 3) c.refuse("a mask " + c.in(i).type.text());
  if (mask.shape().back() != t) c.refuse("a mask of another length than its keys");
  const Dim rows = mask.rank() == 3 ? mask.dim(1) : Dim(1);
  return mask_bias(f, f.reshape(mask, {mask.dim(0), 1, rows, t}), filter, dtype);
}

void add_bias(Folder& f, AttentionOptions& options, const Term& bias) {
  options.bias = options.bias ? f.add(*options.bias, bias) : bias;
}

double scale_of(const OnnxCall& c, const Term& q) {
  const double given = c.real("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(q.dim(3).value()));
}

/// Half i of a cache [2, B, H, P, D].
Term cache_half(Folder& f, const Term& cache, int64_t i) {
  const Shape shape(cache.shape().begin() + 1, cache.shape().end());
  return f.reshape(f.slice_dim(cache, 0, i, i + 1), shape);
}

Ints attention_widths(const OnnxCall& c, const Term& product) {
  Ints given = c.ints("qkv_hidden_sizes");
  if (given.size() == 3) return given;
  const auto third = divide_exact(product.shape().back(), Dim(3));
  if (!third || !given.empty()) c.refuse("the widths of q, k and v");
  return Ints(3, third->value());
}

/// Attention of x [B, S, D] with weights [D, 3 D] of queries, keys and values.
Terms attention_op(OnnxCall& c) {
  Folder& f = c.fold;
  c.require("do_rotary", 0);
  c.require("past_present_share_buffer", 0);
  const int64_t heads = c.integer("num_heads");
  std::optional<Term> bias;
  if (c.has(2)) bias = c.weight(2);
  const Term product = linear(f, c.in(0), c.weight(1), bias);
  const Terms parts = split_last(f, product, attention_widths(c, product));
  const Term q = split_heads(f, parts[0], heads);
  Term k = split_heads(f, parts[1], heads);
  Term v = split_heads(f, parts[2], heads);
  if (c.has(4)) {
    if (c.in(4).rank() != 5) c.refuse("a cache " + c.in(4).type.text());
    k = f.concatenate({cache_half(f, c.in(4), 0), k}, 2);
    v = f.concatenate({cache_half(f, c.in(4), 1), v}, 2);
  }
  AttentionOptions options{.scale = scale_of(c, q),
                           .causal = c.integer("unidirectional", 0) != 0,
                           .bias = mask_of(c, 3, q.dim(0), k.dim(2), q.dtype())};
  if (c.has(5)) add_bias(f, options, c.in(5));
  Terms results = {merge_heads(f, attention(f, q, k, v, options))};
  if (c.wants(1)) results.push_back(f.concatenate({unsqueeze(f, k, 0), unsqueeze(f, v, 0)}, 0));
  return results;
}

/// Inputs: query, key, value, bias [3 D], key padding mask, bias of the scores, past key and value.
Terms multi_head_attention(OnnxCall& c) {
  Folder& f = c.fold;
  if (!c.has(1) || !c.has(2)) c.refuse("queries, keys and values packed into one input");
  const int64_t heads = c.integer("num_heads");
  Terms parts = {c.in(0), c.in(1), c.in(2)};
  if (c.has(3)) {
    Ints widths;
    for (const Term& part : parts) widths.push_back(part.shape().back().value());
    const Terms biases = split_last(f, c.weight(3), widths);
    for (size_t i = 0; i < 3; ++i) {
      if (parts[i].rank() == 3) parts[i] = f.add(parts[i], biases[i]);
    }
  }
  for (Term& part : parts) {
    if (part.rank() != 4) part = split_heads(f, part, heads);
  }
  if (c.has(6) && c.has(7)) {
    parts[1] = f.concatenate({c.in(6), parts[1]}, 2);
    parts[2] = f.concatenate({c.in(7), parts[2]}, 2);
  }
  const Term& q = parts[0];
  AttentionOptions options{.scale = scale_of(c, q),
                           .causal = c.integer("unidirectional", 0) != 0,
                           .bias = mask_of(c, 4, q.dim(0), parts[1].dim(2), q.dtype())};
  if (c.has(5)) add_bias(f, options, c.in(5));
  return {merge_heads(f, attention(f, q, parts[1], parts[2], options)), parts[1], parts[2]};
}

/// q, k, v from three inputs, or from one that packs them.
Terms grouped_parts(OnnxCall& c, int64_t heads, int64_t key_heads) {
  Folder& f = c.fold;
  Terms parts;
  if (c.has(1) && c.has(2)) {
    parts = {c.in(0), c.in(1), c.in(2)};
  } else {
    const auto width = divide_exact(c.in(0).shape().back(), Dim(heads + 2 * key_heads));
    if (!width) c.refuse("heads do not divide the packed width");
    const int64_t w = width->value();
    parts = split_last(f, c.in(0), {heads * w, key_heads * w, key_heads * w});
  }
  return {split_heads(f, parts[0], heads), split_heads(f, parts[1], key_heads),
          split_heads(f, parts[2], key_heads)};
}

/// Causal attention with fewer key heads; sequences are taken as full (seqlens_k tells of padding).
Terms grouped_query_attention(OnnxCall& c) {
  Folder& f = c.fold;
  for (const char* name : {"local_window_size", "smooth_softmax", "qk_output"}) {
    c.require(name, std::string_view(name) == "local_window_size" ? -1 : 0);
  }
  if (c.real("softcap", 0) != 0) c.refuse("softcap");
  Terms parts = grouped_parts(c, c.integer("num_heads"), c.integer("kv_num_heads"));
  const Dim length = parts[0].dim(2);
  const Dim past = c.has(3) ? c.in(3).dim(2) : Dim(0);
  if (c.integer("do_rotary", 0) != 0) {
    const int64_t from = past.value();
    const auto rows = [&](size_t i) {
      return f.slice_dim(c.in(i), 0, from, from + length.value());
    };
    const bool interleaved = c.integer("rotary_interleaved", 0) != 0;
    for (size_t i = 0; i < 2; ++i) parts[i] = rotate(f, parts[i], rows(7), rows(8), interleaved);
  }
  if (c.has(3) && c.has(4)) {
    parts[1] = f.concatenate({c.in(3), parts[1]}, 2);
    parts[2] = f.concatenate({c.in(4), parts[2]}, 2);
  }
  AttentionOptions options{.scale = scale_of(c, parts[0]), .causal = true, .bias = {}};
  if (c.has(10)) add_bias(f, options, c.in(10));
  return {merge_heads(f, attention(f, parts[0], parts[1], parts[2], options)), parts[1], parts[2]};
}

/// Rows of the cache for each position: position_ids [B, S], or [1], the first position of all.
Term rotary_rows(OnnxCall& c, const Term& cache, const Dim& length) {
  Folder& f = c.fold;
  Term positions = c.in(1);
  if (positions.shape() == Shape{1} && length != Dim(1)) {
    positions = f.add(f.iota({positions.dtype(), {length}}, 0), positions);
  }
  const Term rows = gather(f, cache, positions, 0);
  return rows.rank() == 3 ? unsqueeze(f, rows, 1) : rows;
}

/// Inputs: x, position ids, caches of cos and sin.
Terms rotary_embedding(OnnxCall& c) {
  Folder& f = c.fold;
  c.require("is_packed_batching", 0);
  if (c.real("scale", 1) != 1) c.refuse("scale");
  const int64_t turned_width = c.integer("rotary_embedding_dim", 0);
  if (turned_width != 0 && c.in(2).shape().back() * Dim(2) != Dim(turned_width)) {
    c.refuse("rotary_embedding_dim other than the width of its caches");
  }
  const Term& x = c.in(0);
  Term heads = x;
  int64_t count = c.integer("num_heads", 0);
  if (x.rank() == 3) {
    if (count == 0) {  // the cache is as wide as half a head
      const auto whole = divide_exact(x.dim(2), Dim(2) * c.in(2).shape().back());
      if (!whole) c.refuse("its caches do not go with its width");
      count = whole->value();
    }
    heads = split_heads(f, x, count);
  }
  if (heads.rank() != 4) c.refuse("needs [batch, positions, width]");
  const Dim length = heads.dim(2);
  const Term turned = rotate(f, heads, rotary_rows(c, c.in(2), length),
                             rotary_rows(c, c.in(3), length), c.integer("interleaved", 0) != 0);
  return {x.rank() == 3 ? merge_heads(f, turned) : turned};
}

Terms simplified_layer_norm(OnnxCall& c) {
  return find_onnx_handler("", "SimplifiedLayerNormalization")(c);
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"Attention", attention_op},
    {"BiasGelu", bias_gelu},
    {"EmbedLayerNormalization", embed_layer_norm},
    {"FastGelu", fast_gelu},
    {"FusedMatMul", fused_matmul},
    {"Gelu", gelu_op},
    {"GroupQueryAttention", grouped_query_attention},
    {"MultiHeadAttention", multi_head_attention},
    {"QuickGelu", quick_gelu},
    {"RotaryEmbedding", rotary_embedding},
    {"SimplifiedLayerNormalization", simplified_layer_norm},
    {"SkipLayerNormalization", skip_layer_norm},
    {"SkipSimplifiedLayerNormalization", skip_rms_norm},
});

}  // namespace

std::span<const OnnxOp> onnx_contrib_ops() { return Ops; }

}  // namespace wafer::importers
