// Pooling.
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "wafer/importers/onnx_ops.h"
#include "wafer/importers/onnx_window.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;

namespace {

int64_t checked(const OnnxCall& c, int64_t value, int64_t least) {
  constexpr int64_t Most = int64_t{1} << 31;
  if (value < least || value >= Most) c.refuse("a stride, dilation or padding out of range");
  return value;
}

/// Padding that gives ceil(size / stride) places.
void pad_same(SpatialWindow& w, size_t d, const Dim& size, bool more_above) {
  const int64_t places = (size.value() + w.strides[d] - 1) / w.strides[d];
  const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
  const int64_t total = std::max<int64_t>(0, (places - 1) * w.strides[d] + reach - size.value());
  w.low[d] = more_above ? total / 2 : total - total / 2;
  w.high[d] = total - w.low[d];
}

}  // namespace

SpatialWindow spatial_window(const OnnxCall& c, const Shape& x, const Ints& kernel) {
  if (x.size() < 3 || kernel.size() != x.size() - 2) c.refuse("its kernel does not fit its input");
  const size_t n = kernel.size();
  SpatialWindow w{.kernel = kernel,
                  .strides = c.ints("strides", Ints(n, 1)),
                  .dilations = c.ints("dilations", Ints(n, 1)),
                  .low = Ints(n, 0),
                  .high = Ints(n, 0)};
  const Ints pads = c.ints("pads", Ints(2 * n, 0));
  if (w.strides.size() != n || w.dilations.size() != n || pads.size() != 2 * n) {
    c.refuse("strides, dilations or pads do not have an entry a dimension");
  }
  const std::string automatic = c.text("auto_pad", "NOTSET");
  for (size_t d = 0; d < n; ++d) {
    checked(c, w.kernel[d], 1);
    checked(c, w.strides[d], 1);
    checked(c, w.dilations[d], 1);
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      pad_same(w, d, x[d + 2], automatic == "SAME_UPPER");
    } else if (automatic == "NOTSET") {
      w.low[d] = checked(c, pads[d], 0);
      w.high[d] = checked(c, pads[n + d], 0);
    } else if (automatic != "VALID") {
      c.refuse("auto_pad " + automatic);
    }
  }
  return w;
}

namespace {

/// Lets the last window of each dimension begin inside the input but end beyond it.
void round_up(SpatialWindow& w, const Shape& x) {
  for (size_t d = 0; d < w.kernel.size(); ++d) {
    const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
    const int64_t size = x[d + 2].value();
    const int64_t rest = (size + w.low[d] + w.high[d] - reach) % w.strides[d];
    if (rest <= 0) continue;
    const int64_t more = w.strides[d] - rest;
    const int64_t last = size + w.low[d] + w.high[d] + more - reach;
    if (last < size + w.low[d]) w.high[d] += more;
  }
}

SpatialWindow pool_window(const OnnxCall& c) {
  const Shape& x = c.in(0).shape();
  SpatialWindow w = spatial_window(c, x, c.ints("kernel_shape"));
  for (int64_t d : w.dilations) {
    if (d != 1) c.refuse("dilations of a pool");
  }
  if (c.integer("ceil_mode", 0) != 0) round_up(w, x);
  return w;
}

Ints with_outer(const Ints& spatial, int64_t outer) {
  Ints result = {outer, outer};
  result.insert(result.end(), spatial.begin(), spatial.end());
  return result;
}

Term pool(Folder& f, const Term& x, const SpatialWindow& w, ElementFn fn, double initial) {
  return f.emit(ir::OpKind::ReduceWindow, {x, f.scalar(initial, x.dtype())},
                {{AttrKey::Fn, fn},
                 {AttrKey::Window, with_outer(w.kernel, 1)},
                 {AttrKey::Strides, with_outer(w.strides, 1)},
                 {AttrKey::PaddingLow, with_outer(w.low, 0)},
                 {AttrKey::PaddingHigh, with_outer(w.high, 0)}});
}

double lowest(DType dtype) {
  return is_float(dtype) ? -HUGE_VAL : round_to(dtype, -std::numeric_limits<double>::max());
}

Terms max_pool(OnnxCall& c) {
  if (c.wants(1)) c.refuse("the places of the largest elements (output 1)");
  const Term& x = c.in(0);
  return {pool(c.fold, x, pool_window(c), ElementFn::Maximum, lowest(x.dtype()))};
}

/// By the number of elements that a window covers: of the padding too, or of the input alone.
Terms average_pool(OnnxCall& c) {
  const Term& x = c.in(0);
  const SpatialWindow w = pool_window(c);
  const Term sum = pool(c.fold, x, w, ElementFn::Add, 0);
  const bool padded = w.low != Ints(w.low.size(), 0) || w.high != Ints(w.high.size(), 0);
  const bool counts_padding = c.integer("count_include_pad", 0) != 0;
  if (counts_padding && c.integer("ceil_mode", 0) != 0 && padded) {
    c.refuse("count_include_pad with ceil_mode");
  }
  if (!padded || counts_padding) {
    const auto count = static_cast<double>(elements_in(w.kernel));
    return {c.fold.multiply(sum, 1 / count)};
  }
  Shape plane = x.shape();
  plane[0] = plane[1] = Dim(1);
  const Term ones = c.fold.constant(1, {x.dtype(), plane});
  return {c.fold.divide(sum, pool(c.fold, ones, w, ElementFn::Add, 0))};
}

Ints spatial_dims(const OnnxCall& c) {
  if (c.in(0).rank() < 3) c.refuse("needs [batch, channels, ..]");
  Ints dims(static_cast<size_t>(c.in(0).rank() - 2));
  std::iota(dims.begin(), dims.end(), 2);
  return dims;
}

Terms global(OnnxCall& c, const Term& reduced) {
  Shape shape = c.in(0).shape();
  std::fill(shape.begin() + 2, shape.end(), Dim(1));
  return {c.fold.reshape(reduced, shape)};
}
Terms global_average_pool(OnnxCall& c) {
  return global(c, c.fold.reduce_mean(c.in(0), spatial_dims(c)));
}
Terms global_max_pool(OnnxCall& c) {
  return global(c, c.fold.reduce(ElementFn::Maximum, c.in(0), spatial_dims(c)));
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"AveragePool", average_pool},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalMaxPool", global_max_pool},
    {"MaxPool", max_pool},
});

}  // namespace

std::span<const OnnxOp> onnx_window_ops() { return Ops; }

}  // namespace wafer::importers
