// Gradients of reductions, windows, running reductions and sorting.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "wafer/autodiff/rules.h"

namespace wafer::autodiff {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;
using ir::ValueId;

constexpr double Inf = HUGE_VAL;

Ints all_dims(const Shape& shape) {
  Ints dims(shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Ints dims_left(size_t rank, const Ints& gone) {
  Ints left;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    if (std::find(gone.begin(), gone.end(), d) == gone.end()) left.push_back(d);
  }
  return left;
}

/// The function of a reduction, also where it is a body of that one op: nothing for other bodies.
std::optional<ElementFn> reducer_of(OpGradient& r) {
  if (r.attrs().has(AttrKey::Fn)) return r.attrs().get<ElementFn>(AttrKey::Fn);
  const ir::Function& body = r.b.graph().function(r.attrs().get<ir::FunctionId>(AttrKey::Body));
  if (body.ops.size() != 1 || body.inputs.size() != 2 || body.outputs.size() != 1) return {};
  const ir::Op& op = body.ops[0];
  const std::vector<ValueId> forwards = {body.inputs[0].value, body.inputs[1].value};
  const std::vector<ValueId> backwards = {body.inputs[1].value, body.inputs[0].value};
  const bool plain = op.kind == OpKind::Elementwise && body.outputs[0].value == op.results[0] &&
                     (op.operands == forwards || op.operands == backwards);
  if (!plain) return {};
  return op.attrs.get<ElementFn>(AttrKey::Fn);
}

/// A value of the result's shape, at each element that was reduced into it.
Expr spread(OpGradient& r, ValueId per_result) {
  const Shape shape = r.x_type(0).shape;
  const Ints kept = dims_left(shape.size(), r.ints(AttrKey::Dims));
  return r.expr(r.b.broadcast_in_dim(per_result, shape, kept));
}

void reduce_add(OpGradient& r) {
  if (r.wants(0)) r.give(0, spread(r, r.dy()));
  if (r.wants(1)) r.give(1, r.b.reduce_sum(r.dy(), all_dims(r.y_type().shape)));
}

/// Elements equal to the extreme share dy evenly.
void reduce_extreme(OpGradient& r) {
  if (r.wants(1))
    r.refuse("a reduction by maximum or minimum has no gradient of its initial value");
  if (!r.wants(0)) return;
  const Expr hits = convert(equal(r.x(0), spread(r, r.y())), r.y_type().dtype);
  const Expr count = r.expr(r.b.reduce_sum(hits, r.ints(AttrKey::Dims)));
  const Expr share = r.dy() / max(count, scalar_like(count, 1));
  r.give(0, hits * spread(r, share));
}

Expr running(OpGradient& r, ElementFn fn, const Expr& x, int64_t dim, bool exclusive,
             bool reverse) {
  return r.expr(r.b.emit1(OpKind::Cumulative, {x},
                          {{AttrKey::Fn, fn},
                           {AttrKey::Dim, dim},
                           {AttrKey::Exclusive, exclusive},
                           {AttrKey::Reverse, reverse}}));
}

/// The derivative by one factor is the product of the others, those before it times those after:
/// right where factors are zero. The reduced dimensions are moved last and joined into one.
void reduce_multiply(OpGradient& r) {
  if (r.wants(1)) r.refuse("a reduction by multiply has no gradient of its initial value");
  if (!r.wants(0)) return;
  const Shape shape = r.x_type(0).shape;
  const Ints& dims = r.ints(AttrKey::Dims);
  Ints order = dims_left(shape.size(), dims);
  const auto last = static_cast<int64_t>(order.size());
  order.insert(order.end(), dims.begin(), dims.end());
  Shape joined = r.y_type().shape;
  Dim count(1);
  for (int64_t d : dims) count = count * shape[static_cast<size_t>(d)];
  joined.push_back(count);
  const ValueId lines = r.b.reshape(r.b.transpose(r.x(0), order), joined);
  const Expr before = running(r, ElementFn::Multiply, r.expr(lines), last, true, false);
  const Expr after = running(r, ElementFn::Multiply, r.expr(lines), last, true, true);
  const ValueId others = before * after;
  Shape moved;
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    moved.push_back(shape[static_cast<size_t>(order[i])]);
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  const Expr in_place = r.expr(r.b.transpose(r.b.reshape(others, moved), back));
  const Expr initial = r.expr(r.b.broadcast_to(r.x(1), shape));
  r.give(0, spread(r, r.dy()) * in_place * initial);
}

/// Geometry of one dimension of a window.
struct WindowDim {
  int64_t window, stride, low, high;
  Dim in, out;
};

std::vector<WindowDim> window_of(OpGradient& r, const Shape& in, const Shape& out) {
  std::vector<WindowDim> dims;
  for (size_t i = 0; i < in.size(); ++i) {
    dims.push_back({r.ints(AttrKey::Window)[i], r.ints(AttrKey::Strides)[i],
                    r.ints(AttrKey::PaddingLow)[i], r.ints(AttrKey::PaddingHigh)[i], in[i],
                    out[i]});
  }
  return dims;
}

/// dx is what windows of stride 1 sum over dy with holes of stride - 1 between its elements.
void window_add(OpGradient& r) {
  const Shape in = r.x_type(0).shape;
  Ints low, high, interior;
  for (const WindowDim& d : window_of(r, in, r.y_type().shape)) {
    low.push_back(d.window - 1 - d.low);
    interior.push_back(d.stride - 1);
    if (d.in == d.out && d.stride == 1) {
      high.push_back(d.window - 1 - low.back());
      continue;
    }
    const int64_t m = d.out.value();
    const int64_t spread = m == 0 ? 0 : (m - 1) * d.stride + 1;
    high.push_back(d.in.value() + d.window - 1 - spread - low.back());
  }
  const ValueId zero = scalar_like(r.dy(), 0);
  const ValueId holed =
      r.b.emit1(OpKind::Pad, {r.dy(), zero},
                {{AttrKey::Low, low}, {AttrKey::High, high}, {AttrKey::Interior, interior}});
  const Ints none(in.size(), 0);
  r.give(0, r.b.emit1(OpKind::ReduceWindow, {holed, zero},
                      {{AttrKey::Fn, ElementFn::Add},
                       {AttrKey::Window, r.ints(AttrKey::Window)},
                       {AttrKey::Strides, Ints(in.size(), 1)},
                       {AttrKey::PaddingLow, none},
                       {AttrKey::PaddingHigh, none}}));
}

Attributes window_attrs(OpGradient& r) {
  Attributes attrs;
  for (AttrKey key :
       {AttrKey::Window, AttrKey::Strides, AttrKey::PaddingLow, AttrKey::PaddingHigh}) {
    attrs.set(key, r.ints(key));
  }
  return attrs;
}

/// The first of the largest elements under each window gets dy; smallest: the largest of -x.
void window_extreme(OpGradient& r, bool largest) {
  const Expr x = largest ? r.x(0) : -r.x(0);
  r.give(0,
         r.b.emit1(OpKind::SelectAndScatter, {x, r.dy(), scalar_like(r.dy(), 0)}, window_attrs(r)));
}

/// The element of `padded` under each window that lies `offset` from the window's corner.
Expr under_window(OpGradient& r, ValueId padded, const Ints& offset,
                  const std::vector<WindowDim>& dims) {
  Ints limits, strides;
  for (size_t i = 0; i < dims.size(); ++i) {
    const WindowDim& d = dims[i];
    const bool whole = d.in == d.out && d.stride == 1 && d.window == 1;
    limits.push_back(whole ? -1 : offset[i] + (d.out.value() - 1) * d.stride + 1);
    strides.push_back(d.stride);
  }
  return r.expr(r.b.slice(padded, offset, limits, strides));
}

ValueId padded(OpGradient& r, ValueId x, double with) {
  return r.b.emit1(OpKind::Pad, {x, scalar_like(r.expr(x), with)},
                   {{AttrKey::Low, r.ints(AttrKey::PaddingLow)},
                    {AttrKey::High, r.ints(AttrKey::PaddingHigh)},
                    {AttrKey::Interior, Ints(r.b.shape_of(x).size(), 0)}});
}

/// Goes to the next offset within the window, row-major; false after the last.
bool next_offset(Ints& offset, const Ints& window) {
  for (size_t i = window.size(); i-- > 0;) {
    if (++offset[i] < window[i]) return true;
    offset[i] = 0;
  }
  return false;
}

/// Affine maps s -> g + a s that stand along a dimension, each applied to the result of the next:
/// s[i] = g[i] + a[i] s[i + 1]. Composing ever longer runs of them takes log2(n) steps.
Expr suffix_recurrence(OpGradient& r, Expr g, Expr a, size_t dim) {
  const Shape shape = r.x_type(0).shape;
  const int64_t n = shape[dim].value();
  const auto from_later = [&](const Expr& x, int64_t by) {
    Ints low(shape.size(), 0);
    Ints high(shape.size(), 0);
    low[dim] = -by;
    high[dim] = by;
    return r.expr(r.b.emit1(
        OpKind::Pad, {x, scalar_like(x, 0)},
        {{AttrKey::Low, low}, {AttrKey::High, high}, {AttrKey::Interior, Ints(shape.size(), 0)}}));
  };
  for (int64_t by = 1; by < n; by *= 2) {
    g = g + a * from_later(g, by);
    if (by * 2 < n) a = a * from_later(a, by);
  }
  return g;
}

/// x moved by one place along a dimension towards the start, `with` coming in at the end.
Expr shifted_down(OpGradient& r, const Expr& x, size_t dim, double with) {
  Ints low(r.x_type(0).shape.size(), 0);
  Ints high = low;
  const Ints none = low;
  low[dim] = -1;
  high[dim] = 1;
  return r.expr(r.b.emit1(OpKind::Pad, {x, scalar_like(x, with)},
                          {{AttrKey::Low, low}, {AttrKey::High, high}, {AttrKey::Interior, none}}));
}

/// Running products and extremes, from the start, x and dy turned to that direction. With
/// s[i] = dy[i] + a[i] s[i + 1]: products have a[i] = x[i + 1], and dx[i] is s[i] times the product
/// before i. Of an extreme, a[i] = 1 unless a new record stands at i + 1, and dx[i] is s[i] where i
/// is a record, else 0.
Expr running_gradient(OpGradient& r, ElementFn fn, const Expr& x, const Expr& dy, size_t dim) {
  const auto along = static_cast<int64_t>(dim);
  const Expr before = running(r, fn, x, along, true, false);
  if (fn == ElementFn::Multiply) {
    return before * suffix_recurrence(r, dy, shifted_down(r, x, dim, 0), dim);
  }
  const Expr record = fn == ElementFn::Maximum ? before < x : x < before;
  const Expr is_record = convert(record, r.y_type().dtype);
  const Expr goes_on = 1.0 - shifted_down(r, is_record, dim, 1);
  return is_record * suffix_recurrence(r, dy, goes_on, dim);
}

}  // namespace

void reduce(OpGradient& r) {
  const auto fn = reducer_of(r);
  if (!fn) return r.refuse("a reduction by a body other than one function has no gradient rule");
  switch (*fn) {
    case ElementFn::Add:
      return reduce_add(r);
    case ElementFn::Multiply:
      return reduce_multiply(r);
    case ElementFn::Maximum:
    case ElementFn::Minimum:
      return reduce_extreme(r);
    default:
      return r.refuse("a reduction by " + std::string(ir::name_of(*fn)) + " has no gradient rule");
  }
}

void reduce_window(OpGradient& r) {
  if (r.wants(1)) r.refuse("reduce_window has no gradient of its initial value");
  if (!r.wants(0)) return;
  switch (r.attrs().get<ElementFn>(AttrKey::Fn)) {
    case ElementFn::Add:
      return window_add(r);
    case ElementFn::Maximum:
      return window_extreme(r, true);
    case ElementFn::Minimum:
      return window_extreme(r, false);
    default:
      return r.refuse("reduce_window by multiply has no gradient rule");
  }
}

/// The source's gradient is dy where its element fell: the first of the largest under its window.
/// Each place of the window is looked at in turn.
void select_and_scatter(OpGradient& r) {
  if (r.wants(2)) r.give(2, r.b.reduce_sum(r.dy(), all_dims(r.y_type().shape)));
  if (!r.wants(1)) return;  // which element is selected does not change with a small step
  const Ints& window = r.ints(AttrKey::Window);
  int64_t places = 1;
  for (int64_t w : window) places *= w;
  if (places > 1024) return r.refuse("select_and_scatter has a gradient for up to 1024 places");
  const auto dims = window_of(r, r.x_type(0).shape, r.x_type(1).shape);
  Attributes attrs = window_attrs(r);
  attrs.set(AttrKey::Fn, ElementFn::Maximum);
  const Expr low = scalar_like(r.x(0), -Inf);
  const Expr largest = r.expr(r.b.emit1(OpKind::ReduceWindow, {r.x(0), low}, attrs));
  const ValueId x = padded(r, r.x(0), -Inf);
  const ValueId dy = padded(r, r.dy(), 0);
  Expr taken = r.expr(r.b.constant(0, {DType::Bool, r.x_type(1).shape}));
  Expr found = r.zeros(r.x_type(1));
  Ints offset(window.size(), 0);
  do {
    const Expr here = equal(under_window(r, x, offset, dims), largest) & !taken;
    found = where(here, under_window(r, dy, offset, dims), found);
    taken = taken | here;
  } while (next_offset(offset, window));
  r.give(1, found);
}

void cumulative(OpGradient& r) {
  const auto fn = r.attrs().get<ElementFn>(AttrKey::Fn);
  const auto along = r.attrs().get<int64_t>(AttrKey::Dim);
  const auto dim = static_cast<size_t>(along);
  const bool exclusive = r.attrs().get_or<bool>(AttrKey::Exclusive, false);
  const bool reverse = r.attrs().get_or<bool>(AttrKey::Reverse, false);
  if (fn == ElementFn::Add) {
    return r.give(0, running(r, ElementFn::Add, r.dy(), along, exclusive, !reverse));
  }
  const auto turned = [&](const Expr& x) {
    if (!reverse) return x;
    return r.expr(r.b.emit1(OpKind::Reverse, {x}, {{AttrKey::Dims, Ints{along}}}));
  };
  Expr dy = turned(r.dy());
  if (exclusive) dy = shifted_down(r, dy, dim, 0);  // result i + 1 is what runs up to i
  r.give(0, turned(running_gradient(r, fn, turned(r.x(0)), dy, dim)));
}

/// Sorting places along with the keys tells where each element went; sorting by place brings the
/// cotangents back.
void sort(OpGradient& r) {
  const Attributes along = {{AttrKey::Dim, r.attrs().get<int64_t>(AttrKey::Dim)}};
  const ValueId places =
      r.b.iota({DType::I32, r.x_type(0).shape}, r.attrs().get<int64_t>(AttrKey::Dim));
  std::vector<ValueId> back = {r.b.emit(OpKind::Sort, {r.x(0), places}, r.attrs())[1]};
  for (size_t i = 0; i < r.op.operands.size(); ++i) {
    if (r.wants(i)) back.push_back(r.dy(i));
  }
  const std::vector<ValueId> sorted = r.b.emit(OpKind::Sort, back, along);
  size_t next = 1;
  for (size_t i = 0; i < r.op.operands.size(); ++i) {
    if (r.wants(i)) r.give(i, sorted[next++]);
  }
}

}  // namespace wafer::autodiff
