// Attention.
#include <algorithm>
#include <cmath>

#include "wafer/importers/mask_pattern.h"
#include "wafer/importers/match.h"
#include "wafer/importers/recognize.h"
#include "wafer/ir/rewrite.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::Builder;
using ir::DimPairs;
using ir::ElementFn;
using ir::Ints;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

using Values = std::vector<ValueId>;

/// Something that is added to the scores: floats, or bools that tell which are seen.
struct Mask {
  ValueId value;              ///< of the shape of the scores
  double hidden = -HUGE_VAL;  ///< what a bool adds where it is false
  bool negated = false;       ///< a bool that tells which are hidden
};

struct Parts {
  ValueId query, key, value;
  double scale = 1;
  std::vector<Mask> masks;
  bool key_transposed = false;  ///< key is [.., D, T]
};

/// Batch dimensions 0, 1, .. of both, one contracted dimension each.
bool is_batched(const Op& dot, size_t batch_dims, const DimPairs& contract) {
  const auto batch = dot.attrs.get_or<DimPairs>(AttrKey::Batch, {});
  Ints expected;
  for (size_t d = 0; d < batch_dims; ++d) expected.push_back(static_cast<int64_t>(d));
  return batch == DimPairs{expected, expected} &&
         dot.attrs.get<DimPairs>(AttrKey::Contract) == contract;
}

/// v before it is stretched along dimensions of 1.
ValueId unstretched(const Match& m, ValueId v) {
  const Op* broadcast = m.maker(v, OpKind::BroadcastInDim);
  if (broadcast == nullptr) return v;
  const ValueId x = broadcast->operands[0];
  const bool same_rank = m.rank(x) == m.rank(v);
  const Ints& dims = broadcast->attrs.get<Ints>(AttrKey::Dims);
  return same_rank && std::is_sorted(dims.begin(), dims.end()) ? x : v;
}

/// The summands of a mask.
void add_mask(const Match& m, ValueId v, std::vector<Mask>& masks) {
  if (const Op* sum = m.maker(unstretched(m, v), ElementFn::Add)) {
    add_mask(m, sum->operands[0], masks);
    add_mask(m, sum->operands[1], masks);
    return;
  }
  masks.push_back({.value = v});
}

/// Walks from the operand of the softmax to the product of queries and keys.
class ScoreWalk {
 public:
  ScoreWalk(const Match& m, Parts& parts) : m_(m), parts_(parts) {}

  /// The product, or null.
  const Op* product(ValueId v) {
    for (int steps = 0; steps < 12; ++steps) {
      if (const Op* dot = m_.maker(v, OpKind::DotGeneral)) return dot;
      const std::optional<ValueId> next = step(v);
      if (!next) return nullptr;
      v = *next;
    }
    return nullptr;
  }

 private:
  std::optional<ValueId> step(ValueId v) {
    if (const Op* convert = m_.maker(v, OpKind::Convert)) return convert->operands[0];
    if (const Op* product = m_.maker(v, ElementFn::Multiply)) {
      for (size_t side : {0, 1}) {
        const auto factor = m_.splat(product->operands[1 - side]);
        if (factor) return scaled(*factor, product->operands[side]);
      }
    }
    if (const Op* quotient = m_.maker(v, ElementFn::Divide)) {
      const auto factor = m_.splat(quotient->operands[1]);
      return factor ? scaled(1 / *factor, quotient->operands[0]) : std::nullopt;
    }
    if (const Op* sum = m_.maker(v, ElementFn::Add)) return masked_sum(*sum);
    if (const Op* select = m_.maker(v, ElementFn::Select)) return masked_select(*select);
    return std::nullopt;
  }

  std::optional<ValueId> scaled(double factor, ValueId v) {
    scale_after_ *= factor;
    parts_.scale *= factor;
    return v;
  }

  /// A mask that is scaled together with the scores is left alone; no exporter writes that.
  std::optional<ValueId> masked_sum(const Op& sum) {
    if (scale_after_ != 1) return std::nullopt;
    for (size_t side : {0, 1}) {
      if (!leads_to_product(sum.operands[side], 0)) continue;
      add_mask(m_, sum.operands[1 - side], parts_.masks);
      return sum.operands[side];
    }
    return std::nullopt;
  }

  /// Hidden scores replaced by a number that is as good as -infinity.
  std::optional<ValueId> masked_select(const Op& select) {
    for (size_t side : {1, 2}) {
      const auto hidden = m_.splat(select.operands[3 - side]);
      if (!hidden || *hidden > LargestHidden) continue;
      parts_.masks.push_back(
          {.value = select.operands[0], .hidden = *hidden, .negated = side == 2});
      return select.operands[side];
    }
    return std::nullopt;
  }

  bool leads_to_product(ValueId v, int depth) const {
    const Op* op = m_.maker(v);
    if (op == nullptr || depth > 8) return false;
    if (op->kind == OpKind::DotGeneral) return true;
    if (op->kind != OpKind::Elementwise && op->kind != OpKind::Convert) return false;
    return std::any_of(op->operands.begin(), op->operands.end(),
                       [&](ValueId x) { return leads_to_product(x, depth + 1); });
  }

  const Match& m_;
  Parts& parts_;
  double scale_after_ = 1;
};

/// v without factors that are numbers, which go to the scale.
ValueId unscaled(const Match& m, ValueId v, double& scale) {
  const Factors f = factors_of(m, v, 4);
  if (f.values.size() != 1) return v;
  scale *= f.number;
  return f.values[0];
}

/// The softmax that makes v, whose NaN of rows without a key may be replaced by 0.
const Op* softmax_of(const Match& m, ValueId v) {
  v = m.unconverted(v);
  if (const Op* select = m.maker(v, ElementFn::Select)) {
    const Op* is_nan = m.maker(select->operands[0], ElementFn::IsNan);
    const bool cleans = is_nan != nullptr && is_nan->operands[0] == select->operands[2] &&
                        m.splat(select->operands[1]) == 0.0;
    if (!cleans) return nullptr;
    v = m.unconverted(select->operands[2]);
  }
  return m.maker(v, OpKind::Softmax);
}

std::optional<Parts> match_parts(const Match& m, const Values& operands, const Op& root) {
  const int64_t rank = m.rank(operands[0]);
  if (rank != 3 && rank != 4) return std::nullopt;
  const auto batch = static_cast<size_t>(rank - 2);
  if (!is_batched(root, batch, {{rank - 1}, {rank - 2}})) return std::nullopt;
  const Op* softmax = softmax_of(m, operands[0]);
  if (softmax == nullptr) return std::nullopt;
  Parts parts;
  parts.value = operands[1];
  const Op* product = ScoreWalk(m, parts).product(softmax->operands[0]);
  if (product == nullptr || m.rank(product->results[0]) != rank) return std::nullopt;
  if (is_batched(*product, batch, {{rank - 1}, {rank - 2}})) {
    parts.key_transposed = true;
  } else if (!is_batched(*product, batch, {{rank - 1}, {rank - 1}})) {
    return std::nullopt;
  }
  parts.query = unscaled(m, product->operands[0], parts.scale);
  parts.key = unscaled(m, product->operands[1], parts.scale);
  return parts;
}

/// x [.., A, B] -> [.., B, A]; a transpose is changed instead of transposed again.
ValueId exchange_last(Builder& b, ValueId x) {
  const Match m(b.function());
  Ints permutation;
  for (int64_t d = 0; d < m.rank(x); ++d) permutation.push_back(d);
  if (const Op* transpose = m.maker(x, OpKind::Transpose)) {
    permutation = transpose->attrs.get<Ints>(AttrKey::Permutation);
    x = transpose->operands[0];
  }
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  const bool same = std::is_sorted(permutation.begin(), permutation.end());
  return same ? x : b.transpose(x, permutation);
}

/// x [B, Hk, T, D] of v [B, Hk G, T, D], which repeats each head G times in a row; else v.
ValueId ungrouped(const Match& m, ValueId v) {
  const Op* reshape = m.maker(v, OpKind::Reshape);
  if (reshape == nullptr || m.rank(v) != 4) return v;
  const Op* repeat = m.maker(reshape->operands[0], OpKind::BroadcastInDim);
  if (repeat == nullptr || m.rank(reshape->operands[0]) != 5) return v;
  const ValueId x = repeat->operands[0];
  const Ints dims = repeat->attrs.get<Ints>(AttrKey::Dims);
  if (dims == Ints{0, 1, 3, 4} && m.shape(x)[1] != m.shape(v)[1]) return x;
  // The same, with the repeated dimension of 1 still in place.
  const bool column = dims == Ints{0, 1, 2, 3, 4} && m.shape(x)[2] == Dim(1);
  if (!column) return v;
  const Op* inner = m.maker(x, OpKind::Reshape);
  return inner != nullptr && m.rank(inner->operands[0]) == 4 ? inner->operands[0] : v;
}

/// v of shape [B, S, X] as [B, 1, S, X].
ValueId with_head(Builder& b, ValueId v) {
  Shape shape = b.shape_of(v);
  if (shape.size() == 4) return v;
  shape.insert(shape.begin() + 1, Dim(1));
  return b.reshape(v, shape);
}

/// A mask of scores of this rank as it is before it is broadcast to them, in four dimensions.
ValueId narrow_mask(Builder& b, ValueId v, size_t rank) {
  const Match m(b.function());
  ValueId from = v;
  Shape narrow = m.shape(v);
  Ints dims;
  for (int64_t d = 0; d < m.rank(v); ++d) dims.push_back(d);
  if (const Op* broadcast = m.maker(v, OpKind::BroadcastInDim)) {
    from = broadcast->operands[0];
    dims = broadcast->attrs.get<Ints>(AttrKey::Dims);
    std::fill(narrow.begin(), narrow.end() - 1, Dim(1));
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] + 1 < m.rank(v)) narrow[static_cast<size_t>(dims[i])] = m.shape(from)[i];
    }
  }
  const size_t missing = rank - narrow.size();
  narrow.insert(narrow.begin(), missing, Dim(1));
  for (int64_t& d : dims) d += static_cast<int64_t>(missing);
  const bool same = narrow == b.shape_of(from);
  return with_head(b, same ? from : b.broadcast_in_dim(from, narrow, dims));
}

/// The conditions that v = a and b and .. says.
void split_conditions(const Match& m, ValueId v, std::vector<ValueId>& all) {
  const Op* both = m.maker(unstretched(m, v), ElementFn::And);
  if (both == nullptr) return all.push_back(v);
  for (ValueId condition : both->operands) {
    split_conditions(m, condition, all);
  }
}

/// A condition as floats to add, in four dimensions.
ValueId bias_of_condition(Builder& b, ValueId narrow, const Mask& mask, DType dtype) {
  const ValueId zero = b.scalar(0, dtype);
  const ValueId hidden = b.scalar(mask.hidden, dtype);
  return mask.negated ? b.select(narrow, hidden, zero) : b.select(narrow, zero, hidden);
}

struct Masks {
  bool causal = false;
  ValueId bias;  ///< invalid: none
};

class MaskReader {
 public:
  /// For scores of this type and rank, of this many keys.
  MaskReader(Builder& b, DType dtype, size_t rank, const Dim& keys)
      : b_(b), dtype_(dtype), rank_(rank), keys_(keys) {}

  Masks read(const std::vector<Mask>& masks) {
    for (const Mask& mask : masks) read(mask);
    return result_;
  }

 private:
  void read(const Mask& mask) {
    if (b_.type_of(mask.value).dtype == DType::Bool) return read_bool(mask);
    const Match m(b_.function());
    if (is_causal_mask(b_.function(), mask.value)) {
      result_.causal = true;
      return;
    }
    // A float that a bool chooses: the bool may hold the causal part.
    const Op* select = m.maker(unstretched(m, mask.value), ElementFn::Select);
    if (select != nullptr && m.splat(select->operands[1]) == 0.0) {
      const auto hidden = m.splat(select->operands[2]);
      if (hidden && *hidden <= LargestHidden) {
        return read_bool({.value = select->operands[0], .hidden = *hidden});
      }
    }
    add(narrow_mask(b_, mask.value, rank_));
  }

  void read_bool(const Mask& mask) {
    std::vector<ValueId> conditions = {mask.value};
    if (!mask.negated) {
      conditions.clear();
      const Match m(b_.function());
      split_conditions(m, mask.value, conditions);
    }
    for (ValueId condition : conditions) {
      if (!mask.negated && is_causal_mask(b_.function(), condition)) {
        result_.causal = true;
      } else {
        const ValueId narrow = narrow_mask(b_, condition, rank_);
        add(bias_of_condition(b_, narrow, mask, dtype_));
      }
    }
  }

  void add(ValueId bias) {
    bias = over_keys(b_.convert(bias, dtype_));
    result_.bias = result_.bias.valid() ? b_.add(result_.bias, bias) : bias;
  }

  /// A mask may say the same of all keys; a bias has each of them.
  ValueId over_keys(ValueId bias) {
    Shape shape = b_.shape_of(bias);
    if (shape.back() == keys_) return bias;
    shape.back() = keys_;
    return b_.broadcast_in_dim(bias, shape, {0, 1, 2, 3});
  }

  Builder& b_;
  DType dtype_;
  size_t rank_;
  Dim keys_;
  Masks result_;
};

std::optional<Values> match_attention(Builder& b, const Op& root, const Values& operands,
                                      const TensorType& type) {
  auto parts = match_parts(Match(b.function()), operands, root);
  if (!parts) return std::nullopt;
  ValueId key = parts->key_transposed ? exchange_last(b, parts->key) : parts->key;
  key = unscaled(Match(b.function()), key, parts->scale);
  if (!std::isfinite(parts->scale)) return std::nullopt;
  const ValueId q = with_head(b, parts->query);
  key = with_head(b, ungrouped(Match(b.function()), key));
  const ValueId value = with_head(b, ungrouped(Match(b.function()), parts->value));
  const Shape& q_shape = b.shape_of(q);
  const Shape& k_shape = b.shape_of(key);
  const Shape& v_shape = b.shape_of(value);
  if (k_shape[1] != v_shape[1] || k_shape[2] != v_shape[2] || q_shape[3] != k_shape[3]) {
    return std::nullopt;
  }
  for (ValueId v : {q, key, value}) {
    if (b.type_of(v).dtype != type.dtype) return std::nullopt;
  }
  const Masks masks = MaskReader(b, type.dtype, type.shape.size(), k_shape[2]).read(parts->masks);
  const ValueId y = b.attention(q, key, value, masks.bias, parts->scale, masks.causal);
  return Values{b.reshape(y, type.shape)};
}

}  // namespace

ir::Graph recognize_attention(const ir::Graph& graph) {
  return ir::rewrite(graph,
                     [](Builder& b, const Op& op, const Values& operands,
                        const std::vector<TensorType>& types) -> std::optional<Values> {
                       if (op.kind != OpKind::DotGeneral) return std::nullopt;
                       return match_attention(b, op, operands, types[0]);
                     });
}

}  // namespace wafer::importers
