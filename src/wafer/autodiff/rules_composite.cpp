// Gradients of composites with several operands, by the composites made for them.
#include "wafer/autodiff/rules.h"

namespace wafer::autodiff {
namespace {

using ir::AttrKey;
using ir::Ints;
using ir::OpKind;
using ir::ValueId;

/// Gives the results of a gradient composite to the operands in order.
void give_all(OpGradient& r, OpKind kind, const std::vector<ValueId>& operands) {
  const std::vector<ValueId> gradients = r.b.emit(kind, operands, r.attrs());
  for (size_t i = 0; i < gradients.size(); ++i) r.give(i, gradients[i]);
}

}  // namespace

void layer_norm(OpGradient& r) { give_all(r, OpKind::LayerNormGrad, {r.x(0), r.x(1), r.dy()}); }

void rms_norm(OpGradient& r) { give_all(r, OpKind::RmsNormGrad, {r.x(0), r.x(1), r.dy()}); }

/// The composite covers y; mean and variance add dmean / n and 2 (x - mean) dvariance / n to dx, n
/// being the elements of a channel.
void batch_norm(OpGradient& r) {
  if (r.has_dy(0)) give_all(r, OpKind::BatchNormGrad, {r.x(0), r.x(1), r.dy()});
  if (!r.wants(0) || (!r.has_dy(1) && !r.has_dy(2))) return;
  const Shape shape = r.x_type(0).shape;
  const auto channel = r.attrs().get<int64_t>(AttrKey::Dim);
  const auto spread = [&](ValueId v) {
    return r.expr(r.b.broadcast_in_dim(v, shape, Ints{channel}));
  };
  Dim n(1);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<int64_t>(i) != channel) n = n * shape[i];
  }
  const DType dtype = r.x_type(0).dtype;
  const Expr count = n.is_static() ? r.expr(r.b.scalar(static_cast<double>(n.value()), dtype))
                                   : r.expr(r.b.reduce_sum(r.b.constant(1, {dtype, {n}}), {0}));
  if (r.has_dy(1)) r.give(0, spread(r.dy(1) / count));
  if (!r.has_dy(2)) return;
  const Expr centered = r.x(0) - spread(r.y(1));
  r.give(0, centered * spread(2.0 * r.dy(2) / count));
}

void attention(OpGradient& r) {
  std::vector<ValueId> operands;
  for (size_t i = 0; i < r.op.operands.size(); ++i) operands.push_back(r.x(i));
  operands.push_back(r.dy());
  give_all(r, OpKind::AttentionGrad, operands);
}

}  // namespace wafer::autodiff
