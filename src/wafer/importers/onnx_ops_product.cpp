// Matrix products and convolutions.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "wafer/base/error.h"
#include "wafer/importers/onnx_einsum.h"
#include "wafer/importers/onnx_formulas.h"
#include "wafer/importers/onnx_ops.h"
#include "wafer/importers/onnx_window.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::Ints;

namespace {

Ints counting(int64_t from, int64_t to) {
  Ints result;
  for (int64_t i = from; i < to; ++i) result.push_back(i);
  return result;
}

/// x without leading dimensions of 1, down to a matrix.
Term without_leading_ones(Folder& f, const Term& x) {
  auto first = x.shape().begin();
  while (x.shape().end() - first > 2 && *first == Dim(1)) ++first;
  return f.reshape(x, {first, x.shape().end()});
}

/// a [.., M, K] times b [.., K, N] with batches of one shape each after stretching.
Term batched(Folder& f, const Term& a, const Term& b) {
  const Shape outer = broadcast_shape({a.shape().begin(), a.shape().end() - 2},
                                      {b.shape().begin(), b.shape().end() - 2});
  const auto stretch = [&](const Term& x) {
    Shape shape = outer;
    shape.insert(shape.end(), x.shape().end() - 2, x.shape().end());
    return f.broadcast_to(x, shape);
  };
  const auto rank = static_cast<int64_t>(outer.size()) + 2;
  const Ints batch = counting(0, rank - 2);
  return f.dot_general(stretch(a), stretch(b), {{rank - 1}, {rank - 2}}, {batch, batch});
}

}  // namespace

Term matmul(Folder& f, const Term& a, const Term& b) {
  if (a.rank() == 0 || b.rank() == 0) throw InputError("multiplies a scalar");
  if (a.rank() == 1 && b.rank() == 1) return f.dot_general(a, b, {{0}, {0}});
  if (b.rank() == 1) return f.dot_general(a, b, {{a.rank() - 1}, {0}});
  if (a.rank() == 1) {
    const Term row = matmul(f, f.reshape(a, {1, a.dim(0)}), b);
    Shape shape = row.shape();
    shape.erase(shape.end() - 2);
    return f.reshape(row, shape);
  }
  const Term right = a.rank() >= b.rank() ? without_leading_ones(f, b) : b;
  if (right.rank() == 2) return f.dot_general(a, right, {{a.rank() - 1}, {0}});
  return batched(f, a, right);
}

Term linear(Folder& f, const Term& x, const Term& w, const std::optional<Term>& bias) {
  const Term product = matmul(f, x, w);
  return bias ? f.add(product, *bias) : product;
}

namespace {

Terms matmul_op(OnnxCall& c) {
  const Term& b = c.in(1).rank() == 2 ? c.weight(1) : c.in(1);
  return {matmul(c.fold, c.in(0), b)};
}

/// alpha A' B' + beta C, with A' and B' perhaps transposed.
Terms gemm(OnnxCall& c) {
  const Term& a = c.in(0);
  const Term& b = c.weight(1);
  if (a.rank() != 2 || b.rank() != 2) c.refuse("needs matrices");
  const int64_t a_dim = c.integer("transA", 0) != 0 ? 0 : 1;
  const int64_t b_dim = c.integer("transB", 0) != 0 ? 1 : 0;
  Term result = c.fold.dot_general(a, b, {{a_dim}, {b_dim}});
  const double alpha = c.real("alpha", 1);
  const double beta = c.real("beta", 1);
  if (alpha != 1) result = c.fold.multiply(result, alpha);
  if (!c.has(2) || beta == 0) return {result};
  const Term& bias = c.weight(2);
  return {c.fold.add(result, beta == 1 ? bias : c.fold.multiply(bias, beta))};
}

Terms einsum_op(OnnxCall& c) {
  Terms operands;
  for (size_t i = 0; i < c.input_count(); ++i) operands.push_back(c.in(i));
  return {einsum(c.fold, c.text("equation", ""), operands)};
}

/// "bf01" for [batch, feature, d..] and the like.
std::string layout(const char* first_two, size_t spatial) {
  std::string text = first_two;
  for (size_t d = 0; d < spatial; ++d) text += static_cast<char>('0' + d);
  return text;
}

Ints kernel_shape(const OnnxCall& c, const Term& w) {
  Ints sizes;
  for (size_t d = 2; d < w.shape().size(); ++d) sizes.push_back(w.dim(d).value());
  if (c.has_attribute("kernel_shape") && c.ints("kernel_shape") != sizes) {
    c.refuse("kernel_shape does not agree with its kernel " + w.type.text());
  }
  return sizes;
}

Term add_channel_bias(OnnxCall& c, const Term& y) {
  if (!c.has(2)) return y;
  const Term& bias = c.weight(2);
  Shape shape(y.shape().size() - 1, Dim(1));
  shape[0] = element_count(bias.shape());
  return c.fold.add(y, c.fold.reshape(bias, shape));
}

Terms convolution(OnnxCall& c) {
  const Term& x = c.in(0);
  const Term& kernel = c.weight(1);
  if (x.rank() < 3 || x.rank() > 11 || kernel.rank() != x.rank()) {
    c.refuse("its kernel does not fit its input");
  }
  const SpatialWindow w = spatial_window(c, x.shape(), kernel_shape(c, kernel));
  const size_t n = w.kernel.size();
  const Term y = c.fold.emit(ir::OpKind::Convolution, {x, kernel},
                             {{AttrKey::Strides, w.strides},
                              {AttrKey::PaddingLow, w.low},
                              {AttrKey::PaddingHigh, w.high},
                              {AttrKey::RhsDilation, w.dilations},
                              {AttrKey::LhsLayout, layout("bf", n)},
                              {AttrKey::KernelLayout, layout("oi", n)},
                              {AttrKey::OutLayout, layout("bf", n)},
                              {AttrKey::FeatureGroups, c.integer("group", 1)}});
  return {add_channel_bias(c, y)};
}

/// Kernel [C, M / groups, k..] of a transposed convolution as [M, C / groups, k..] of an ordinary
/// one, its spatial dimensions turned around.
Term turned_kernel(OnnxCall& c, const Term& kernel, int64_t groups) {
  Ints spatial = counting(2, kernel.rank());
  const Term reversed = c.fold.reverse(kernel, spatial);
  const auto per_group = divide_exact(kernel.dim(0), Dim(groups));
  if (!per_group) c.refuse("its groups do not divide its channels");
  Shape apart = {groups, *per_group, kernel.dim(1)};
  apart.insert(apart.end(), kernel.shape().begin() + 2, kernel.shape().end());
  Ints order = {0, 2, 1};
  for (int64_t d : spatial) order.push_back(d + 1);
  Shape together = {Dim(groups) * kernel.dim(1), *per_group};
  together.insert(together.end(), kernel.shape().begin() + 2, kernel.shape().end());
  return c.fold.reshape(c.fold.transpose(c.fold.reshape(reversed, apart), order), together);
}

/// The padding that makes the result of shape output_shape.
void pad_to_shape(const OnnxCall& c, const Shape& x, const Ints& extra, SpatialWindow& w) {
  const Ints wanted = c.ints("output_shape");
  if (wanted.size() != w.kernel.size()) c.refuse("output_shape needs an entry a dimension");
  for (size_t d = 0; d < wanted.size(); ++d) {
    const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
    const int64_t total = w.strides[d] * (x[d + 2].value() - 1) + extra[d] + reach - wanted[d];
    if (total < 0) c.refuse("output_shape is larger than its windows reach");
    const bool upper = c.text("auto_pad", "NOTSET") == "SAME_UPPER";
    w.low[d] = upper ? total / 2 : total - total / 2;
    w.high[d] = total - w.low[d];
  }
}

/// As a convolution of the input with holes between its elements.
Terms convolution_transpose(OnnxCall& c) {
  const Term& x = c.in(0);
  const Term& kernel = c.weight(1);
  if (x.rank() < 3 || x.rank() > 11 || kernel.rank() != x.rank()) {
    c.refuse("its kernel does not fit its input");
  }
  const std::string automatic = c.text("auto_pad", "NOTSET");
  const bool has_shape = c.has_attribute("output_shape");
  if (automatic != "NOTSET" && automatic != "VALID" && !has_shape) c.refuse("auto_pad");
  SpatialWindow w = spatial_window(c, x.shape(), kernel_shape(c, kernel));
  const size_t n = w.kernel.size();
  const Ints extra = c.ints("output_padding", Ints(n, 0));
  if (extra.size() != n) c.refuse("output_padding needs an entry a dimension");
  if (has_shape) pad_to_shape(c, x.shape(), extra, w);
  Ints low(n), high(n);
  for (size_t d = 0; d < n; ++d) {
    const int64_t reach = (w.kernel[d] - 1) * w.dilations[d];
    low[d] = reach - w.low[d];
    high[d] = reach - w.high[d] + extra[d];
  }
  const int64_t groups = c.integer("group", 1);
  const Term y = c.fold.emit(ir::OpKind::Convolution, {x, turned_kernel(c, kernel, groups)},
                             {{AttrKey::Strides, Ints(n, 1)},
                              {AttrKey::PaddingLow, low},
                              {AttrKey::PaddingHigh, high},
                              {AttrKey::LhsDilation, w.strides},
                              {AttrKey::RhsDilation, w.dilations},
                              {AttrKey::LhsLayout, layout("bf", n)},
                              {AttrKey::KernelLayout, layout("oi", n)},
                              {AttrKey::OutLayout, layout("bf", n)},
                              {AttrKey::FeatureGroups, groups}});
  return {add_channel_bias(c, y)};
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"Conv", convolution},
    {"ConvTranspose", convolution_transpose},
    {"Einsum", einsum_op},
    {"Gemm", gemm},
    {"MatMul", matmul_op},
});

}  // namespace

std::span<const OnnxOp> onnx_product_ops() { return Ops; }

}  // namespace wafer::importers
