#include "wafer/models/layer.h"

#include <cmath>

#include "wafer/models/names.h"

namespace wafer::models {
namespace {

/// Queries [B, Hq, S, D], keys and values [B, Hk, S, D].
struct Projections {
  ValueId query, key, value;
};

class LayerBuilder {
 public:
  LayerBuilder(Builder& b, const TransformerSpec& spec, const LayerContext& context)
      : b_(b), spec_(spec), names_(names_of(spec.naming)), context_(context) {}

  ValueId build(ValueId x) {
    if (spec_.parallel) return parallel(x);
    if (spec_.post_norm) {
      x = norm(residual(x, attention(x)), names_.attention_norm);
      return norm(residual(x, mlp(x)), names_.mlp_norm);
    }
    x = residual(x, attention(norm(x, names_.attention_norm)));
    return residual(x, mlp(norm(x, names_.mlp_norm)));
  }

 private:
  ValueId parallel(ValueId x) {
    const ValueId attended = norm(x, names_.attention_norm);
    const ValueId fed = spec_.shared_norm ? attended : norm(x, names_.mlp_norm);
    const ValueId attention_part = attention(attended);
    return residual(x, residual(attention_part, mlp(fed)));
  }

  ValueId residual(ValueId x, ValueId y) {
    const Scope scope(b_, "residual");
    return b_.add(x, y);
  }

  ValueId norm(ValueId x, std::string_view name) {
    const Scope scope(b_, name == names_.mlp_norm ? "mlp/norm" : "attention/norm");
    return normalize(b_, x, name, spec_.norm, spec_.epsilon);
  }

  ValueId project(ValueId x, const char* scope_name, std::string_view name, int64_t out,
                  bool bias) {
    const Scope scope(b_, scope_name);
    return linear(b_, x, name, out, {.bias = bias, .in_out = names_.matrices_in_out});
  }

  ValueId attention(ValueId x) {
    const Scope scope(b_, "attention");
    Projections p = names_.qkv.empty() ? separate(x) : joined(x);
    if (context_.rotary) {
      p.query = rotate(b_, p.query, *spec_.rotary, *context_.rotary);
      p.key = rotate(b_, p.key, *spec_.rotary, *context_.rotary);
    }
    if (context_.scale.valid()) p.query = b_.multiply(p.query, context_.scale);
    const double scale =
        spec_.scale_scores ? 1 / std::sqrt(static_cast<double>(spec_.head_dim)) : 1;
    const ValueId y = b_.attention(p.query, p.key, p.value, context_.mask, scale, spec_.causal);
    return project(merge_heads(y), "out", names_.out, spec_.hidden, spec_.out_bias);
  }

  Projections separate(ValueId x) {
    const int64_t query = spec_.heads * spec_.head_dim;
    const int64_t key = spec_.kv_heads * spec_.head_dim;
    const ValueId q = project(x, "query", names_.query, query, spec_.qkv_bias);
    const ValueId k = project(x, "key", names_.key, key, spec_.qkv_bias);
    const ValueId v = project(x, "value", names_.value, key, spec_.qkv_bias);
    return {split_heads(q, spec_.heads), split_heads(k, spec_.kv_heads),
            split_heads(v, spec_.kv_heads)};
  }

  Projections joined(ValueId x) {
    const int64_t width = spec_.heads * spec_.head_dim;
    const ValueId qkv = project(x, "query_key_value", names_.qkv, 3 * width, spec_.qkv_bias);
    if (!names_.qkv_by_head) {
      const auto third = [&](int64_t i) {
        return split_heads(slice_dim(b_, qkv, 2, i * width, (i + 1) * width), spec_.heads);
      };
      const ValueId q = third(0), k = third(1);
      return {q, k, third(2)};
    }
    const ValueId by_head = split_heads(qkv, spec_.heads);  // [B, H, S, 3D]
    const auto third = [&](int64_t i) {
      return slice_dim(b_, by_head, 3, i * spec_.head_dim, (i + 1) * spec_.head_dim);
    };
    const ValueId q = third(0), k = third(1);
    return {q, k, third(2)};
  }

  /// [B, S, heads * D] -> [B, heads, S, D].
  ValueId split_heads(ValueId x, int64_t heads) {
    const wafer::Shape shape = b_.shape_of(x);
    const int64_t width = shape[2].value() / heads;
    return b_.transpose(b_.reshape(x, {shape[0], shape[1], heads, width}), {0, 2, 1, 3});
  }

  /// [B, heads, S, D] -> [B, S, heads * D].
  ValueId merge_heads(ValueId y) {
    const wafer::Shape shape = b_.shape_of(y);
    return b_.reshape(b_.transpose(y, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
  }

  ValueId mlp(ValueId x) {
    const Scope scope(b_, "mlp");
    ValueId inner = project(x, spec_.gated ? "gate" : "up", spec_.gated ? names_.gate : names_.up,
                            spec_.ffn, spec_.mlp_bias);
    {
      const Scope activation(b_, "activation");
      inner = activate(b_, inner, spec_.activation);
    }
    if (spec_.gated) {
      inner = b_.multiply(inner, project(x, "up", names_.up, spec_.ffn, spec_.mlp_bias));
    }
    return project(inner, "down", names_.down, spec_.hidden, spec_.mlp_bias);
  }

  Builder& b_;
  const TransformerSpec& spec_;
  const Names& names_;
  const LayerContext& context_;
};

}  // namespace

ValueId transformer_layer(Builder& b, const TransformerSpec& spec, ValueId x,
                          const LayerContext& context) {
  return LayerBuilder(b, spec, context).build(x);
}

}  // namespace wafer::models
