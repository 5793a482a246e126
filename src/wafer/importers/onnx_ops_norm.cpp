// Normalisations.
#include <array>
#include <numeric>

#include "wafer/importers/onnx_formulas.h"
#include "wafer/importers/onnx_norm.h"
#include "wafer/importers/onnx_ops.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;

Term layer_norm(Folder& f, const Term& x, const Term& scale, const Term& bias, double epsilon) {
  return f.emit(ir::OpKind::LayerNorm, {x, scale, bias}, {{AttrKey::Epsilon, epsilon}});
}

Term rms_norm(Folder& f, const Term& x, const Term& scale, double epsilon) {
  return f.emit(ir::OpKind::RmsNorm, {x, scale}, {{AttrKey::Epsilon, epsilon}});
}

Term norm_row(OnnxCall& c, size_t i, const Dim& size) {
  const Term& row = c.weight(i);
  if (row.rank() == 1 && row.dim(0) == size) return row;
  if (element_count(row.shape()) == size) return c.fold.reshape(row, {size});
  // One value for the whole row.
  if (element_count(row.shape()) == Dim(1)) {
    return c.fold.broadcast_to(c.fold.reshape(row, {}), {size});
  }
  c.refuse("a scale or bias " + row.type.text() + " for rows of " + size.text());
}

namespace {

struct Rows {
  Term x;     ///< [.., D] with the dimensions from the axis on as one
  Dim size;   ///< D
  Ints axes;  ///< those dimensions, of the input
};

Rows rows_of(OnnxCall& c, int64_t default_axis) {
  const Term& x = c.in(0);
  const int64_t axis = c.axis(c.integer("axis", default_axis), x.rank());
  const auto from = x.shape().begin() + axis;
  Rows rows{.x = x, .size = element_count({from, x.shape().end()}), .axes = {}};
  for (int64_t d = axis; d < x.rank(); ++d) rows.axes.push_back(d);
  Shape shape(x.shape().begin(), from);
  shape.push_back(rows.size);
  rows.x = c.fold.reshape(x, shape);
  return rows;
}

/// Mean and 1 / sqrt(variance + epsilon) of each row, which LayerNormalization may be asked for.
Terms row_statistics(OnnxCall& c, const Rows& rows, double epsilon) {
  Folder& f = c.fold;
  Shape kept = c.in(0).shape();
  for (int64_t d : rows.axes) kept[static_cast<size_t>(d)] = Dim(1);
  const Ints last = {rows.x.rank() - 1};
  Shape column = rows.x.shape();
  column.back() = Dim(1);
  const Term mean = f.reshape(f.reduce_mean(rows.x, last), column);
  const Term centered = f.subtract(rows.x, mean);
  const Term variance = f.reshape(f.reduce_mean(f.multiply(centered, centered), last), column);
  const Term inverse = f.unary(ElementFn::Rsqrt, f.add(variance, epsilon));
  return {f.reshape(mean, kept), f.reshape(inverse, kept)};
}

Terms layer_normalization(OnnxCall& c) {
  const Rows rows = rows_of(c, -1);
  const double epsilon = c.real("epsilon", 1e-5);
  const Term scale = norm_row(c, 1, rows.size);
  const Term bias =
      c.has(2) ? norm_row(c, 2, rows.size) : c.fold.constant(0, {rows.x.dtype(), {rows.size}});
  const Term y = layer_norm(c.fold, rows.x, scale, bias, epsilon);
  Terms results = {c.fold.reshape(y, c.in(0).shape())};
  if (c.wants(1) || c.wants(2)) {
    for (Term& t : row_statistics(c, rows, epsilon)) results.push_back(std::move(t));
  }
  return results;
}

Terms rms_normalization(OnnxCall& c) {
  const Rows rows = rows_of(c, -1);
  const Term scale = norm_row(c, 1, rows.size);
  const Term y = rms_norm(c.fold, rows.x, scale, c.real("epsilon", 1e-5));
  return {c.fold.reshape(y, c.in(0).shape())};
}

/// One value a channel, along dimension 1 of x.
Term per_channel(Folder& f, const Term& row, const Term& x) {
  Shape shape(x.shape().size() - 1, Dim(1));
  shape[0] = element_count(row.shape());
  return f.reshape(row, shape);
}

Terms batch_statistics_norm(OnnxCall& c) {
  return c.fold.terms(c.fold.builder().emit(
      ir::OpKind::BatchNorm, c.fold.ids({c.in(0), c.weight(1), c.weight(2)}),
      {{AttrKey::Epsilon, c.real("epsilon", 1e-5)}, {AttrKey::Dim, int64_t{1}}}));
}

/// In training mode the running statistics move toward those of the batch.
Terms training_batch_norm(OnnxCall& c) {
  Folder& f = c.fold;
  Terms results = batch_statistics_norm(c);
  const double momentum = c.real("momentum", 0.9);
  for (size_t i = 1; i <= 2; ++i) {
    if (!c.wants(i)) continue;
    const Term& running = c.statistic(i + 2);
    results[i] = f.add(f.multiply(running, momentum), f.multiply(results[i], 1 - momentum));
  }
  return results;
}

Terms batch_normalization(OnnxCall& c) {
  Folder& f = c.fold;
  const Term& x = c.in(0);
  if (x.rank() < 2) c.refuse("needs [batch, channels, ..]");
  c.require("spatial", 1);
  if (c.integer("training_mode", 0) != 0) return training_batch_norm(c);
  if (c.batch_statistics()) return {batch_statistics_norm(c).front()};
  const Term& mean = c.statistic(3);
  const Term& variance = c.statistic(4);
  const Term root = f.unary(ElementFn::Rsqrt, f.add(variance, c.real("epsilon", 1e-5)));
  const Term slope = f.multiply(c.weight(1), root);
  const Term offset = f.subtract(c.weight(2), f.multiply(mean, slope));
  return {f.add(f.multiply(x, per_channel(f, slope, x)), per_channel(f, offset, x))};
}

/// x normalised over its last dimension, without scale.
Term normalized(Folder& f, const Term& x, double epsilon) {
  const TensorType row{x.dtype(), {x.shape().back()}};
  return layer_norm(f, x, f.constant(1, row), f.constant(0, row), epsilon);
}

/// The channels in groups [N, groups, rest], each normalised.
Term group_normalized(OnnxCall& c, const Dim& groups) {
  const Term& x = c.in(0);
  Dim count(1);
  for (size_t d = 1; d < x.shape().size(); ++d) count = count * x.dim(d);
  const auto rest = divide_exact(count, groups);
  if (!rest) c.refuse("its groups do not divide its channels");
  const Term flat = c.fold.reshape(x, {x.dim(0), groups, *rest});
  return c.fold.reshape(normalized(c.fold, flat, c.real("epsilon", 1e-5)), x.shape());
}

Term scaled_by_channel(OnnxCall& c, const Term& y, const Term& scale, const Term& bias) {
  Folder& f = c.fold;
  return f.add(f.multiply(y, per_channel(f, scale, y)), per_channel(f, bias, y));
}

Terms instance_normalization(OnnxCall& c) {
  if (c.in(0).rank() < 3) c.refuse("needs [batch, channels, ..]");
  const Term y = group_normalized(c, c.in(0).dim(1));
  return {scaled_by_channel(c, y, c.weight(1), c.weight(2))};
}

/// Scale and bias are one a group in opset 18, one a channel from 21 on.
Terms group_normalization(OnnxCall& c) {
  if (c.in(0).rank() < 3) c.refuse("needs [batch, channels, ..]");
  const int64_t groups = c.integer("num_groups");
  if (groups < 1) c.refuse("num_groups below 1");
  const auto each = divide_exact(c.in(0).dim(1), Dim(groups));
  if (!each) c.refuse("its groups do not divide its channels");
  const Term y = group_normalized(c, Dim(groups));
  Term scale = c.weight(1), bias = c.weight(2);
  for (Term* row : {&scale, &bias}) {
    if (element_count(row->shape()) != Dim(groups) || *each == Dim(1)) continue;
    const Term column = c.fold.reshape(*row, {groups, 1});
    *row = c.fold.reshape(c.fold.broadcast_to(column, {groups, *each}), {Dim(groups) * *each});
  }
  return {scaled_by_channel(c, y, scale, bias)};
}

Terms lp_normalization(OnnxCall& c) {
  Folder& f = c.fold;
  const Term& x = c.in(0);
  const int64_t axis = c.axis(c.integer("axis", -1), x.rank());
  const int64_t p = c.integer("p", 2);
  if (p != 1 && p != 2) c.refuse("p other than 1 and 2");
  const Term powers = p == 1 ? f.unary(ElementFn::Abs, x) : f.multiply(x, x);
  Term length = f.reduce(ElementFn::Add, powers, {axis});
  if (p == 2) length = f.unary(ElementFn::Sqrt, length);
  length = unsqueeze(f, length, static_cast<size_t>(axis));
  // Nothing is 0 long but 0, which stays 0.
  const Term empty = f.binary(ElementFn::Equal, length, f.scalar(0, x.dtype()));
  return {f.divide(x, f.select(empty, f.scalar(1, x.dtype()), length))};
}

/// x / (bias + alpha / size * sum of squares of `size` neighbouring channels) ^ beta
Terms local_response(OnnxCall& c) {
  Folder& f = c.fold;
  const Term& x = c.in(0);
  const int64_t size = c.integer("size");
  if (x.rank() < 3 || size < 1 || size > (1 << 20)) c.refuse("needs [batch, channels, ..], a size");
  const auto rank = static_cast<size_t>(x.rank());
  Ints window(rank, 1), low(rank, 0), high(rank, 0);
  window[1] = size;
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  const Term sum = f.emit(ir::OpKind::ReduceWindow, {f.multiply(x, x), f.scalar(0, x.dtype())},
                          {{AttrKey::Fn, ElementFn::Add},
                           {AttrKey::Window, window},
                           {AttrKey::Strides, Ints(rank, 1)},
                           {AttrKey::PaddingLow, low},
                           {AttrKey::PaddingHigh, high}});
  const double alpha = c.real("alpha", 1e-4) / static_cast<double>(size);
  const Term base = f.add(f.multiply(sum, alpha), c.real("bias", 1));
  const Term beta = f.scalar(c.real("beta", 0.75), x.dtype());
  return {f.divide(x, f.binary(ElementFn::Power, base, beta))};
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"BatchNormalization", batch_normalization},
    {"GroupNormalization", group_normalization},
    {"InstanceNormalization", instance_normalization},
    {"LRN", local_response},
    {"LayerNormalization", layer_normalization},
    {"LpNormalization", lp_normalization},
    {"RMSNormalization", rms_normalization},
    // Written into the standard domain by ONNX Runtime's optimizer, where it never was.
    {"SimplifiedLayerNormalization", rms_normalization},
});

}  // namespace

std::span<const OnnxOp> onnx_norm_ops() { return Ops; }

}  // namespace wafer::importers
