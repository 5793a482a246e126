// Decompositions of softmax, gelu, attention and cross-entropy.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "wafer/ir/composites.h"

namespace wafer::ir {
namespace {

constexpr double InverseRoot2 = 1 / std::numbers::sqrt2;
/// **Source:** Hendrycks and Gimpel, Gaussian Error Linear Units, arXiv:1606.08415, section 2.
constexpr double GeluCubic = 0.044715;
constexpr double GeluSlope = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2 / pi)

bool is_tanh(const Attributes& attrs) {
  return attrs.get_or<std::string>(AttrKey::Approximate, "none") == "tanh";
}

/// tanh(sqrt(2/pi) * (x + 0.044715 x^3))
ValueId gelu_tanh(Builder& b, ValueId x, ValueId square) {
  const ValueId bent = b.add(b.multiply(square, GeluCubic), 1.0);
  return b.unary(ElementFn::Tanh, b.multiply(b.multiply(x, bent), GeluSlope));
}

/// Half of one plus x.
ValueId half_one_plus(Builder& b, ValueId x) { return b.multiply(b.add(x, 1.0), 0.5); }

/// Number of elements of a dimension as an i32 scalar, whatever it is bound to later.
ValueId length_of(Builder& b, Dim dim) {
  if (dim.is_static()) return b.scalar(static_cast<double>(dim.value()), DType::I32);
  return b.reduce_sum(b.constant(1, {DType::I32, {dim}}), {0});
}

/// bool [S, T]: key j may be seen from query i, j <= i + (T - S).
ValueId causal_mask(Builder& b, Dim s, Dim t) {
  const TensorType type{DType::I32, {s, t}};
  ValueId last = b.iota(type, 0);
  if (s != t) last = b.add(last, b.subtract(length_of(b, t), length_of(b, s)));
  return b.binary(ElementFn::LessEqual, b.iota(type, 1), last);
}

/// q [B, Hq, S, D], k [B, Hk, T, D], v [B, Hk, T, E]. Query heads that share a key head stand in a
/// dimension of their own while products are taken: [B, Hk, G, S, D]; without sharing there is
/// none, and r is 4.
struct Heads {
  Builder& b;
  ValueId q, k, v;
  Dim groups;

  Heads(Builder& builder, const Values& operands)
      : b(builder), q(operands[0]), k(operands[1]), v(operands[2]) {
    groups = divide_exact(b.shape_of(q)[1], b.shape_of(k)[1]).value();
  }
  int64_t r() const { return groups == Dim(1) ? 4 : 5; }
  /// [B, Hq, S, X] to [B, Hk, G, S, X].
  ValueId split(ValueId x) const {
    if (groups == Dim(1)) return x;
    const Shape s = b.shape_of(x);
    return b.reshape(x, {s[0], b.shape_of(k)[1], groups, s[2], s[3]});
  }
  ValueId merge(ValueId x) const {
    if (groups == Dim(1)) return x;
    const Shape s = b.shape_of(x);
    return b.reshape(x, {s[0], b.shape_of(q)[1], s[3], s[4]});
  }
  /// Product of x [B, Hq, S, X] with y [B, Hk, T, Y] over the last dimension of x and `dim` of y.
  ValueId over_last(ValueId x, ValueId y, int64_t dim, DType result) const {
    return merge(product(split(x), y, {{r() - 1}, {dim}}, result));
  }
  /// Product of x [B, Hq, S, X] and y [B, Hq, S, Y] over S and the heads that share a key head:
  /// [B, Hk, X, Y].
  ValueId over_queries(ValueId x, ValueId y, DType result) const {
    Ints dims(static_cast<size_t>(r() - 3));
    std::iota(dims.begin(), dims.end(), 2);
    return product(split(x), split(y), {dims, dims}, result);
  }
  ValueId product(ValueId x, ValueId y, DimPairs contract, DType result) const {
    Shape shape = {b.shape_of(x)[0], b.shape_of(x)[1]};
    append_free(x, contract.lhs, shape);
    append_free(y, contract.rhs, shape);
    return b.emit1(
        OpKind::DotGeneral, {x, y},
        {{AttrKey::Contract, std::move(contract)}, {AttrKey::Batch, DimPairs{{0, 1}, {0, 1}}}},
        {{result, std::move(shape)}});
  }
  void append_free(ValueId x, const Ints& contracted, Shape& shape) const {
    for (size_t i = 2; i < b.shape_of(x).size(); ++i) {
      const auto dim = static_cast<int64_t>(i);
      if (std::find(contracted.begin(), contracted.end(), dim) == contracted.end()) {
        shape.push_back(b.shape_of(x)[i]);
      }
    }
  }
};

/// softmax(q k^T scale + bias + mask) [B, Hq, S, T] in the working type.
ValueId probabilities(const Heads& h, ValueId bias, const Attributes& attrs) {
  Builder& b = h.b;
  const DType wide = working_type(b.type_of(h.q).dtype);
  ValueId scores = b.multiply(h.over_last(h.q, h.k, 3, wide), attrs.get<double>(AttrKey::Scale));
  if (bias.valid()) scores = b.add(scores, widened(b, bias));
  if (attrs.get_or<bool>(AttrKey::Causal, false)) {
    const ValueId mask = causal_mask(b, b.shape_of(h.q)[2], b.shape_of(h.k)[2]);
    scores = b.select(mask, scores, b.scalar(-HUGE_VAL, wide));
  }
  return softmax_rows(b, scores);
}

/// Labels [..] as a type that holds every class and ignore_index.
ValueId signed_labels(Builder& b, ValueId labels, int64_t ignore_index) {
  const bool narrow = ignore_index >= INT32_MIN && ignore_index <= INT32_MAX;
  const bool keep = narrow && b.type_of(labels).dtype == DType::I32;
  return keep ? labels : b.convert(labels, DType::I64);
}

/// bool [..]: counts for the loss.
ValueId counted(Builder& b, ValueId labels, int64_t ignore_index) {
  Literal literal;
  literal.type = {b.type_of(labels).dtype, {}};
  literal.splat = true;
  literal.integers = {ignore_index};
  const ValueId ignored = b.literal(std::move(literal));
  return b.binary(ElementFn::NotEqual, labels, ignored);
}

/// bool [.., V]: the class is the label.
ValueId is_label(Builder& b, ValueId labels, const Shape& shape) {
  const ValueId classes =
      b.iota({b.type_of(labels).dtype, shape}, static_cast<int64_t>(shape.size()) - 1);
  return b.binary(ElementFn::Equal, classes, across_rows(b, labels, shape));
}

int64_t ignore_index_of(const Attributes& attrs) {
  return attrs.get_or<int64_t>(AttrKey::IgnoreIndex, -100);
}

}  // namespace

ValueId across_rows(Builder& b, ValueId per_row, const Shape& shape) {
  Ints dims(shape.size() - 1);
  std::iota(dims.begin(), dims.end(), 0);
  return b.broadcast_in_dim(per_row, shape, std::move(dims));
}

ValueId softmax_rows(Builder& b, ValueId x) {
  const Shape shape = b.shape_of(x);
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  const ValueId largest = b.reduce(ElementFn::Maximum, x, {last});
  const ValueId e = b.unary(ElementFn::Exp, b.subtract(x, across_rows(b, largest, shape)));
  return b.divide(e, across_rows(b, b.reduce_sum(e, {last}), shape));
}

ValueId softmax_rows_grad(Builder& b, ValueId y, ValueId dy) {
  const Shape shape = b.shape_of(y);
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  const ValueId along = b.reduce_sum(b.multiply(y, dy), {last});
  return b.multiply(y, b.subtract(dy, across_rows(b, along, shape)));
}

ValueId softmax_of(Builder& b, const Values& operands) {
  const DType dtype = b.type_of(operands[0]).dtype;
  return b.convert(softmax_rows(b, widened(b, operands[0])), dtype);
}

ValueId softmax_grad_of(Builder& b, const Values& operands) {
  const DType dtype = b.type_of(operands[0]).dtype;
  return b.convert(softmax_rows_grad(b, widened(b, operands[0]), widened(b, operands[1])), dtype);
}

// 0.5 x (1 + erf(x / sqrt 2)), or with the tanh above for erf
ValueId gelu_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const DType dtype = b.type_of(operands[0]).dtype;
  const ValueId x = widened(b, operands[0]);
  const ValueId bell = is_tanh(attrs) ? gelu_tanh(b, x, b.multiply(x, x))
                                      : b.unary(ElementFn::Erf, b.multiply(x, InverseRoot2));
  return b.convert(b.multiply(x, half_one_plus(b, bell)), dtype);
}

// exact: dy (Phi(x) + x phi(x)); tanh t of u: dy (0.5 (1 + t) + 0.5 x (1 - t^2) u')
ValueId gelu_grad_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const DType dtype = b.type_of(operands[0]).dtype;
  const ValueId x = widened(b, operands[0]);
  const ValueId square = b.multiply(x, x);
  ValueId level;
  ValueId slope;
  if (is_tanh(attrs)) {
    const ValueId t = gelu_tanh(b, x, square);
    const ValueId du = b.add(b.multiply(square, 3 * GeluCubic * GeluSlope), GeluSlope);
    const ValueId steep = b.add(b.unary(ElementFn::Negate, b.multiply(t, t)), 1.0);
    level = half_one_plus(b, t);
    slope = b.multiply(b.multiply(steep, du), 0.5);
  } else {
    constexpr double Density = std::numbers::inv_sqrtpi * InverseRoot2;  // 1 / sqrt(2 pi)
    level = half_one_plus(b, b.unary(ElementFn::Erf, b.multiply(x, InverseRoot2)));
    slope = b.multiply(b.unary(ElementFn::Exp, b.multiply(square, -0.5)), Density);
  }
  const ValueId derivative = b.add(level, b.multiply(x, slope));
  return b.convert(b.multiply(widened(b, operands[1]), derivative), dtype);
}

ValueId attention_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const Heads h(b, operands);
  const DType dtype = b.type_of(h.q).dtype;
  const ValueId bias = operands.size() == 4 ? operands[3] : ValueId();
  const ValueId p = b.convert(probabilities(h, bias, attrs), dtype);
  return h.over_last(p, h.v, 2, dtype);
}

// p = softmax(s), s = q k^T scale + ..; dp = dy v^T; ds = p (dp - sum(p dp)) scale
Values attention_grad_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const Heads h(b, operands);
  const DType dtype = b.type_of(h.q).dtype;
  const DType wide = working_type(dtype);
  const ValueId dy = operands.back();
  const ValueId bias = operands.size() == 5 ? operands[3] : ValueId();
  const ValueId p = probabilities(h, bias, attrs);
  const ValueId dp = h.over_last(dy, h.v, 3, wide);
  const ValueId scaled = b.multiply(softmax_rows_grad(b, p, dp), attrs.get<double>(AttrKey::Scale));
  const ValueId ds = b.convert(scaled, dtype);
  const ValueId dq = h.over_last(ds, h.k, 2, dtype);
  const ValueId dk = h.over_queries(ds, h.q, dtype);
  const ValueId dv = h.over_queries(b.convert(p, dtype), dy, dtype);
  return {dq, dk, dv};
}

// logits [.., V], labels [..] -> log(sum(exp(logits))) - logits[label], 0 where ignored
ValueId cross_entropy_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const ValueId logits = widened(b, operands[0]);
  const Shape shape = b.shape_of(logits);
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  const ValueId labels = signed_labels(b, operands[1], ignore_index_of(attrs));
  const ValueId zero = b.scalar(0, b.type_of(logits).dtype);
  const ValueId largest = b.reduce(ElementFn::Maximum, logits, {last});
  const ValueId shifted = b.subtract(logits, across_rows(b, largest, shape));
  const ValueId sum = b.reduce_sum(b.unary(ElementFn::Exp, shifted), {last});
  const ValueId picked = b.reduce_sum(b.select(is_label(b, labels, shape), shifted, zero), {last});
  const ValueId loss = b.subtract(b.unary(ElementFn::Log, sum), picked);
  return b.select(counted(b, labels, ignore_index_of(attrs)), loss, zero);
}

// (softmax(logits) - [class = label]) dloss, 0 where ignored
ValueId cross_entropy_grad_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const DType dtype = b.type_of(operands[0]).dtype;
  const ValueId logits = widened(b, operands[0]);
  const Shape shape = b.shape_of(logits);
  const DType wide = b.type_of(logits).dtype;
  const ValueId labels = signed_labels(b, operands[1], ignore_index_of(attrs));
  const ValueId zero = b.scalar(0, wide);
  const ValueId one_hot = b.convert(is_label(b, labels, shape), wide);
  const ValueId difference = b.subtract(softmax_rows(b, logits), one_hot);
  const ValueId dloss = b.select(counted(b, labels, ignore_index_of(attrs)), operands[2], zero);
  return b.convert(b.multiply(difference, across_rows(b, dloss, shape)), dtype);
}

}  // namespace wafer::ir
