// Gradients of dot_general and convolution: products of the cotangent with the other operand.
#include <algorithm>
#include <numeric>

#include "wafer/autodiff/rules.h"
#include "wafer/base/error.h"
#include "wafer/ir/convolution.h"

namespace wafer::autodiff {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::ConvolutionSpec;
using ir::DimPairs;
using ir::Ints;
using ir::OpKind;
using ir::ValueId;

/// The element type that the gradient's product is computed in: that of the operands; of 8-bit
/// floats, which are too coarse for cotangents, that of the result.
DType product_type(const OpGradient& r) {
  const DType operand = r.x_type(0).dtype;
  return size_in_bytes(operand) == 1 ? r.y_type().dtype : operand;
}

Expr as_factor(const OpGradient& r, const Expr& x) { return convert(x, product_type(r)); }

void copy_accumulate(const OpGradient& r, Attributes& attrs) {
  if (const ir::AttrValue* value = r.attrs().find(AttrKey::Accumulate)) {
    attrs.set(AttrKey::Accumulate, *value);
  }
}

Ints unused(size_t rank, const Ints& a, const Ints& b) {
  Ints left;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    const bool used =
        std::find(a.begin(), a.end(), d) != a.end() || std::find(b.begin(), b.end(), d) != b.end();
    if (!used) left.push_back(d);
  }
  return left;
}

Ints range(size_t from, size_t count) {
  Ints list(count);
  std::iota(list.begin(), list.end(), static_cast<int64_t>(from));
  return list;
}

/// One side of a dot product: its dimensions by their use, in the order of the pairs.
struct Side {
  Ints batch, contract, free;
};

/// y has the dimensions [batch, left free, right free].
struct DotDims {
  Side lhs, rhs;
  Ints y_batch, y_lhs, y_rhs;

  explicit DotDims(const OpGradient& r) {
    const auto batch = r.attrs().get_or<DimPairs>(AttrKey::Batch, {});
    const auto& contract = r.attrs().get<DimPairs>(AttrKey::Contract);
    lhs = {batch.lhs, contract.lhs, unused(r.x_type(0).shape.size(), batch.lhs, contract.lhs)};
    rhs = {batch.rhs, contract.rhs, unused(r.x_type(1).shape.size(), batch.rhs, contract.rhs)};
    y_batch = range(0, batch.lhs.size());
    y_lhs = range(y_batch.size(), lhs.free.size());
    y_rhs = range(y_batch.size() + y_lhs.size(), rhs.free.size());
  }
};

/// x brought into the order of the operand: `order` names the operand's dimension at each place of
/// x.
ValueId in_order(OpGradient& r, ValueId x, const Ints& order) {
  Ints permutation(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    permutation[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return std::is_sorted(order.begin(), order.end()) ? x : r.b.transpose(x, permutation);
}

/// One factor of a gradient's product: what it is contracted over, its batch dimensions, and which
/// dimensions of the operand its free ones are.
struct Factor {
  Expr value;
  Ints contract, batch, free_as;
};

/// The gradient of operand i, whose batch dimensions are `batch`. Factors stand in the order that
/// gives the operand's own order of dimensions, where one of the two does.
void give_product(OpGradient& r, size_t i, const Ints& batch, Factor a, Factor c) {
  const auto order_of = [&](const Factor& first, const Factor& second) {
    Ints order = batch;
    order.insert(order.end(), first.free_as.begin(), first.free_as.end());
    order.insert(order.end(), second.free_as.begin(), second.free_as.end());
    return order;
  };
  const Ints swapped = order_of(c, a);
  if (std::is_sorted(swapped.begin(), swapped.end())) std::swap(a, c);
  Attributes attrs = {{AttrKey::Contract, DimPairs{a.contract, c.contract}}};
  if (!batch.empty()) attrs.set(AttrKey::Batch, DimPairs{a.batch, c.batch});
  copy_accumulate(r, attrs);
  const ValueId g =
      r.b.emit1(OpKind::DotGeneral, {as_factor(r, a.value), as_factor(r, c.value)}, attrs);
  r.give(i, r.b.convert(in_order(r, g, order_of(a, c)), r.x_type(i).dtype));
}

/// The contracted dimensions of `wanted` in the order in which a product leaves those of `other`
/// (ascending there).
Ints contracted_order(const Side& other, const Side& wanted) {
  std::vector<size_t> pairs(other.contract.size());
  std::iota(pairs.begin(), pairs.end(), 0);
  std::sort(pairs.begin(), pairs.end(),
            [&](size_t a, size_t b) { return other.contract[a] < other.contract[b]; });
  Ints order;
  for (size_t p : pairs) order.push_back(wanted.contract[p]);
  return order;
}

/// dy . x1 over the right free dimensions: [batch, left free, contracted].
void dot_lhs(OpGradient& r, const DotDims& d) {
  give_product(r, 0, d.lhs.batch, {r.dy(), d.y_rhs, d.y_batch, d.lhs.free},
               {r.x(1), d.rhs.free, d.rhs.batch, contracted_order(d.rhs, d.lhs)});
}

/// x0 . dy over the left free dimensions: [batch, contracted, right free].
void dot_rhs(OpGradient& r, const DotDims& d) {
  give_product(r, 1, d.rhs.batch, {r.x(0), d.lhs.free, d.lhs.batch, contracted_order(d.lhs, d.rhs)},
               {r.dy(), d.y_lhs, d.y_batch, d.rhs.free});
}

/// The text of a layout: letters at the places of batch, feature and the spatial dimensions.
std::string layout_text(size_t first, size_t second, const std::vector<size_t>& spatial,
                        const char* letters) {
  std::string text(spatial.size() + 2, ' ');
  text[first] = letters[0];
  text[second] = letters[1];
  for (size_t i = 0; i < spatial.size(); ++i) text[spatial[i]] = static_cast<char>('0' + i);
  return text;
}

/// One spatial dimension of a convolution: reach of the dilated kernel, and the lengths of the
/// dilated input and of the output with holes of stride - 1.
struct SpatialDim {
  int64_t stride, low, lhs_dilation, rhs_dilation, taps;
  Dim in, out;

  int64_t reach() const { return (taps - 1) * rhs_dilation + 1; }
  /// in and out are equal (perhaps symbolic) and nothing is dilated.
  bool same() const { return in == out && stride == 1 && lhs_dilation == 1; }
  static int64_t spread(int64_t n, int64_t step) { return n == 0 ? 0 : (n - 1) * step + 1; }
  int64_t in_spread() const { return spread(in.value(), lhs_dilation); }
  int64_t out_spread() const { return spread(out.value(), stride); }
};

std::vector<SpatialDim> spatial_of(const OpGradient& r, const ConvolutionSpec& spec) {
  std::vector<SpatialDim> dims;
  for (size_t i = 0; i < spec.strides.size(); ++i) {
    dims.push_back({.stride = spec.strides[i],
                    .low = spec.padding_low[i],
                    .lhs_dilation = spec.lhs_dilation[i],
                    .rhs_dilation = spec.rhs_dilation[i],
                    .taps = r.x_type(1).shape[spec.kernel.spatial[i]].value(),
                    .in = r.x_type(0).shape[spec.input.spatial[i]],
                    .out = r.y_type().shape[spec.output.spatial[i]]});
  }
  return dims;
}

/// Splits dimension `from` of x into [groups, rest], and puts the groups in front of dimension
/// `to`, joined with it: [.., to * groups, .., from / groups, ..].
ValueId move_groups(OpGradient& r, ValueId x, size_t from, size_t to, int64_t groups) {
  Shape shape = r.b.shape_of(x);
  const Dim rest = divide_exact(shape[from], Dim(groups)).value();
  Shape split = shape;
  split[from] = rest;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(from), Dim(groups));
  Ints order;  // of the split shape: all but the groups, which go before `to`
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == to) order.push_back(static_cast<int64_t>(from));
    order.push_back(static_cast<int64_t>(i < from ? i : i + 1));
  }
  shape[from] = rest;
  shape[to] = shape[to] * Dim(groups);
  return r.b.reshape(r.b.transpose(r.b.reshape(x, split), order), shape);
}

/// dx is a convolution of dy, with holes of stride - 1, with the kernel turned around: input
/// dilation and stride change places, and so do the kernel's two feature dimensions, within groups.
void convolution_input(OpGradient& r, const ConvolutionSpec& spec) {
  const int64_t groups = std::max(spec.feature_groups, spec.batch_groups);
  Ints low, high, turned;
  for (const SpatialDim& d : spatial_of(r, spec)) {
    low.push_back(d.reach() - 1 - d.low);
    high.push_back(d.same() ? d.low : d.in_spread() - d.out_spread() + d.low);
  }
  for (size_t s : spec.kernel.spatial) turned.push_back(static_cast<int64_t>(s));
  const auto& [k_out, k_in, k_spatial] = spec.kernel;
  const Expr g = as_factor(r, r.dy());
  ValueId kernel = r.b.emit1(OpKind::Reverse, {as_factor(r, r.x(1))}, {{AttrKey::Dims, turned}});
  if (groups > 1) kernel = move_groups(r, kernel, k_out, k_in, groups);
  Attributes attrs = {{AttrKey::Strides, spec.lhs_dilation},
                      {AttrKey::PaddingLow, low},
                      {AttrKey::PaddingHigh, high},
                      {AttrKey::LhsDilation, spec.strides},
                      {AttrKey::RhsDilation, spec.rhs_dilation},
                      {AttrKey::LhsLayout, layout_text(spec.output.batch, spec.output.feature,
                                                       spec.output.spatial, "bf")},
                      {AttrKey::KernelLayout, layout_text(k_in, k_out, k_spatial, "oi")},
                      {AttrKey::OutLayout,
                       layout_text(spec.input.batch, spec.input.feature, spec.input.spatial, "bf")},
                      {AttrKey::FeatureGroups, groups}};
  copy_accumulate(r, attrs);
  ValueId dx = r.b.emit1(OpKind::Convolution, {g, kernel}, attrs);
  if (spec.batch_groups > 1) {
    dx = move_groups(r, dx, spec.input.feature, spec.input.batch, groups);
  }
  r.give(0, r.b.convert(dx, r.x_type(0).dtype));
}

/// dw is a convolution of x with dy as its kernel: summed over the batch, which takes the place of
/// the features; stride and kernel dilation change places. Groups of one sort become the other.
void convolution_kernel(OpGradient& r, const ConvolutionSpec& spec) {
  Ints high;
  for (const SpatialDim& d : spatial_of(r, spec)) {
    high.push_back(d.same() ? d.reach() - 1 - d.low
                            : d.reach() - 1 + d.out_spread() - d.in_spread() - d.low);
  }
  Attributes attrs = {{AttrKey::Strides, spec.rhs_dilation},
                      {AttrKey::PaddingLow, spec.padding_low},
                      {AttrKey::PaddingHigh, high},
                      {AttrKey::LhsDilation, spec.lhs_dilation},
                      {AttrKey::RhsDilation, spec.strides},
                      {AttrKey::LhsLayout,
                       layout_text(spec.input.feature, spec.input.batch, spec.input.spatial, "bf")},
                      {AttrKey::KernelLayout, layout_text(spec.output.feature, spec.output.batch,
                                                          spec.output.spatial, "oi")},
                      {AttrKey::OutLayout, layout_text(spec.kernel.feature, spec.kernel.batch,
                                                       spec.kernel.spatial, "bf")},
                      {AttrKey::FeatureGroups, spec.batch_groups},
                      {AttrKey::BatchGroups, spec.feature_groups}};
  copy_accumulate(r, attrs);
  const ValueId dw =
      r.b.emit1(OpKind::Convolution, {as_factor(r, r.x(0)), as_factor(r, r.dy())}, attrs);
  r.give(1, r.b.convert(dw, r.x_type(1).dtype));
}

}  // namespace

void dot_general(OpGradient& r) {
  const DotDims dims(r);
  if (r.wants(0)) dot_lhs(r, dims);
  if (r.wants(1)) dot_rhs(r, dims);
}

void convolution(OpGradient& r) {
  const ConvolutionSpec spec = ir::convolution_spec(r.attrs(), r.x_type(0).rank());
  if (r.wants(0)) convolution_input(r, spec);
  if (r.wants(1)) convolution_kernel(r, spec);
}

}  // namespace wafer::autodiff
