// Types of composites and their gradients.
#include <cmath>

#include "wafer/ir/typing.h"

namespace wafer::ir {
namespace {

void check_epsilon(const Typing& t) {
  const auto epsilon = t.attrs.get<double>(AttrKey::Epsilon);
  t.require(std::isfinite(epsilon) && epsilon >= 0, "NRM4",
            "epsilon is a finite number not below 0; found {}", epsilon);
}

/// Rules ATT1 to ATT3: q [B, Hq, S, D], k [B, Hk, T, D], v [B, Hk, T, E].
void check_heads(const Typing& t) {
  const TensorType& q = t.operands[0];
  const TensorType& k = t.operands[1];
  const TensorType& v = t.operands[2];
  for (size_t i = 0; i < 3; ++i) {
    t.require_float("ATT1", i);
    t.require(t.operands[i].rank() == 4 && t.operands[i].dtype == q.dtype, "ATT1",
              "q, k and v are [batch, heads, positions, width] of one element type; found {}",
              t.operands[i]);
  }
  t.require(q.shape[0] == k.shape[0] && q.shape[3] == k.shape[3], "ATT2",
            "q {} and k {} must agree in batch and width", q, k);
  t.require(k.shape[0] == v.shape[0] && k.shape[1] == v.shape[1] && k.shape[2] == v.shape[2],
            "ATT2", "k {} and v {} must agree in all but width", k, v);
  t.require(divide_exact(q.shape[1], k.shape[1]).has_value(), "ATT3",
            "{} query heads do not divide over {} key heads", q.shape[1], k.shape[1]);
  const auto scale = t.attrs.get<double>(AttrKey::Scale);
  t.require(std::isfinite(scale), "ATT5", "scale is a finite number; found {}", scale);
}

/// Rule ATT4: bias [B|1, Hq|1, S|1, T].
void check_bias(const Typing& t, const TensorType& bias) {
  const TensorType& q = t.operands[0];
  const Shape scores = {q.shape[0], q.shape[1], q.shape[2], t.operands[1].shape[2]};
  t.require(bias.rank() == 4 && bias.dtype == q.dtype, "ATT4",
            "bias must have the element type of q and rank 4; found {}", bias);
  for (size_t i = 0; i < 4; ++i) {
    t.require(bias.shape[i] == scores[i] || (i < 3 && bias.shape[i] == Dim(1)), "ATT4",
              "bias {} does not stretch to the scores {}", bias, TensorType{bias.dtype, scores});
  }
}

/// Rule XENT3: losses of narrow logits are f32.
DType loss_type(DType logits) { return logits == DType::F64 ? DType::F64 : DType::F32; }

/// Rules XENT1 and XENT2: logits [.., V], labels [..].
TensorType check_labels(const Typing& t) {
  const TensorType& logits = t.operands[0];
  const TensorType& labels = t.operands[1];
  t.require_float("XENT1", 0);
  t.require(logits.rank() >= 1, "XENT1", "logits have a dimension of classes; found {}", logits);
  t.require_integer("XENT2", labels, "labels");
  const Shape expected(logits.shape.begin(), logits.shape.end() - 1);
  t.require(labels.shape == expected, "XENT2", "labels of {} must be {}; found {}", logits,
            TensorType{labels.dtype, expected}, labels);
  return {loss_type(logits.dtype), expected};
}

}  // namespace

Types type_norm(const Typing& t) {
  const TensorType& x = t.operands[0];
  t.require_float("NRM1", 0);
  t.require(x.rank() >= 1, "NRM1", "works over the last dimension; found {}", x);
  const TensorType row{x.dtype, {x.shape.back()}};
  const bool gradient = t.kind == OpKind::LayerNormGrad || t.kind == OpKind::RmsNormGrad;
  const size_t rows = t.kind == OpKind::LayerNorm ? 2 : 1;
  for (size_t i = 1; i <= rows; ++i) {
    t.require(t.operands[i] == row, "NRM2", "scale and bias of {} are {}; found {}", x, row,
              t.operands[i]);
  }
  check_epsilon(t);
  if (!gradient) return {x};
  t.require(t.operands[2] == x, "NRM3", "dy is {}; found {}", x, t.operands[2]);
  if (t.kind == OpKind::RmsNormGrad) return {x, row};
  return {x, row, row};
}

Types type_batch_norm(const Typing& t) {
  const TensorType& x = t.operands[0];
  t.require_float("BNM1", 0);
  const size_t dim = t.require_dim("BNM1", t.integer(AttrKey::Dim), x.shape.size());
  const TensorType channel{x.dtype, {x.shape[dim]}};
  const bool gradient = t.kind == OpKind::BatchNormGrad;
  for (size_t i = 1; i < (gradient ? 2U : 3U); ++i) {
    t.require(t.operands[i] == channel, "BNM2", "scale and bias of {} along {} are {}; found {}", x,
              dim, channel, t.operands[i]);
  }
  check_epsilon(t);
  if (gradient) t.require(t.operands[2] == x, "BNM3", "dy is {}; found {}", x, t.operands[2]);
  return {x, channel, channel};
}

Types type_softmax(const Typing& t) {
  const TensorType& x = t.operands[0];
  t.require_float("ROW1", 0);
  if (t.kind == OpKind::Softmax || t.kind == OpKind::SoftmaxGrad) {
    t.require(x.rank() >= 1, "ROW2", "works over the last dimension; found {}", x);
  }
  t.require_equal_types("ROW3", 0, t.operands.size());
  const auto approximate = t.attrs.get_or<std::string>(AttrKey::Approximate, "none");
  t.require(approximate == "none" || approximate == "tanh", "GEL1",
            "approximate is none or tanh; found \"{}\"", approximate);
  return {x};
}

Types type_attention(const Typing& t) {
  check_heads(t);
  const bool gradient = t.kind == OpKind::AttentionGrad;
  const size_t count = t.operands.size() - (gradient ? 1 : 0);
  if (count == 4) check_bias(t, t.operands[3]);
  TensorType y = t.operands[0];  // ATT6: [B, Hq, S, E]
  y.shape[3] = t.operands[2].shape[3];
  if (!gradient) return {y};
  t.require(t.operands.back() == y, "ATT7", "dy is {}; found {}", y, t.operands.back());
  return {t.operands[0], t.operands[1], t.operands[2]};
}

Types type_cross_entropy(const Typing& t) { return {check_labels(t)}; }

Types type_cross_entropy_grad(const Typing& t) {
  const TensorType loss = check_labels(t);
  t.require(t.operands[2] == loss, "XENT4", "dloss is {}; found {}", loss, t.operands[2]);
  return {t.operands[0]};
}

}  // namespace wafer::ir
