// Attention and RotaryEmbedding of the standard domain (opset 23).
#include <array>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/importers/onnx_formulas.h"
#include "wafer/importers/onnx_ops.h"

namespace wafer::importers {

using ir::ElementFn;

namespace {

/// Input i as [B, heads, positions, width].
Term heads_of(OnnxCall& c, size_t i, const char* attribute) {
  const Term& x = c.in(i);
  return x.rank() == 4 ? x : split_heads(c.fold, x, c.integer(attribute));
}

/// 0 where key j <= query i, else -infinity: [S, T].
Term lower_triangle(Folder& f, const Dim& s, const Dim& t, DType dtype) {
  const TensorType square{DType::I32, {s, t}};
  const Term seen = f.binary(ElementFn::LessEqual, f.iota(square, 1), f.iota(square, 0));
  return f.select(seen, f.scalar(0, dtype), f.scalar(-HUGE_VAL, dtype));
}

/// Scores that are bent by softcap have no composite: softmax(cap tanh(q k^T scale / cap) + bias)
/// v.
Term capped_attention(Folder& f, const Term& q, const Term& k, const Term& v, double cap,
                      const AttentionOptions& options) {
  const auto group = divide_exact(q.dim(1), k.dim(1));
  if (!group) throw InputError("query heads do not divide over key heads");
  const auto repeated = [&](const Term& x) {
    const Shape apart = {x.dim(0), x.dim(1), *group, x.dim(2), x.dim(3)};
    return f.reshape(f.broadcast_to(unsqueeze(f, x, 2), apart),
                     {x.dim(0), x.dim(1) * *group, x.dim(2), x.dim(3)});
  };
  Term scores = matmul(f, q, f.transpose_last(repeated(k)));
  scores = f.unary(ElementFn::Tanh, f.multiply(scores, options.scale / cap));
  scores = f.multiply(scores, cap);
  if (options.causal) {
    scores = f.add(scores, lower_triangle(f, q.dim(2), k.dim(2), q.dtype()));
  }
  if (options.bias) scores = f.add(scores, *options.bias);
  return matmul(f, softmax(f, scores), repeated(v));
}

std::optional<Term> bias_of(OnnxCall& c, DType dtype) {
  if (!c.has(3)) return std::nullopt;
  const Term& mask = c.in(3);
  return mask.dtype() == DType::Bool ? mask_bias(c.fold, mask, -HUGE_VAL, dtype) : mask;
}

Terms attention_op(OnnxCall& c) {
  Folder& f = c.fold;
  if (c.wants(3)) c.refuse("the product of queries and keys as output 3");
  c.refuse_input(6, "nonpad_kv_seqlen");
  const Term q = heads_of(c, 0, "q_num_heads");
  Term k = heads_of(c, 1, "kv_num_heads");
  Term v = heads_of(c, 2, "kv_num_heads");
  const bool cached = c.has(4) && c.has(5);
  if (cached) {
    k = f.concatenate({c.in(4), k}, 2);
    v = f.concatenate({c.in(5), v}, 2);
  }
  const double width = static_cast<double>(q.dim(3).value());
  AttentionOptions options{.scale = c.real("scale", 1 / std::sqrt(width)),
                           .causal = c.integer("is_causal", 0) != 0,
                           .bias = bias_of(c, q.dtype())};
  // Without a cache queries and keys are counted from the same first position.
  if (options.causal && !cached && q.dim(2) != k.dim(2)) {
    const Term triangle = lower_triangle(f, q.dim(2), k.dim(2), q.dtype());
    options.bias = options.bias ? f.add(*options.bias, triangle) : triangle;
    options.causal = false;
  }
  const double cap = c.real("softcap", 0);
  if (cap != 0 && options.causal && q.dim(2) != k.dim(2)) c.refuse("softcap with a cache");
  const Term y =
      cap == 0 ? attention(f, q, k, v, options) : capped_attention(f, q, k, v, cap, options);
  return {c.in(0).rank() == 4 ? y : merge_heads(f, y), k, v};
}

/// cos or sin of each position: rows of the cache [P, R / 2] by position_ids [B, S], or the cache
/// [B, S, R / 2] itself; [B, 1, S, R / 2].
Term angles(OnnxCall& c, size_t i) {
  const Term rows = c.has(3) ? gather(c.fold, c.in(i), c.in(3), 0) : c.in(i);
  if (rows.rank() != 3) c.refuse("its caches do not go with its positions");
  return unsqueeze(c.fold, rows, 1);
}

Terms rotary_op(OnnxCall& c) {
  const Term& x = c.in(0);
  const int64_t turned_width = c.integer("rotary_embedding_dim", 0);
  if (turned_width != 0 && c.in(1).shape().back() * Dim(2) != Dim(turned_width)) {
    c.refuse("rotary_embedding_dim other than the width of its caches");
  }
  const Term heads = x.rank() == 4 ? x : split_heads(c.fold, x, c.integer("num_heads"));
  const Term turned =
      rotate(c.fold, heads, angles(c, 1), angles(c, 2), c.integer("interleaved", 0) != 0);
  return {x.rank() == 4 ? turned : merge_heads(c.fold, turned)};
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"Attention", attention_op},
    {"RotaryEmbedding", rotary_op},
});

}  // namespace

std::span<const OnnxOp> onnx_attention_ops() { return Ops; }

}  // namespace wafer::importers
