// Gradients of ops that move elements.
#include <algorithm>
#include <numeric>

#include "wafer/autodiff/rules.h"

namespace wafer::autodiff {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;
using ir::ValueId;

bool all_are(const Ints& list, int64_t value) {
  return std::all_of(list.begin(), list.end(), [&](int64_t x) { return x == value; });
}

Ints negated(Ints list) {
  for (int64_t& x : list) x = -x;
  return list;
}

Expr sum_of_all(OpGradient& r, ValueId x) {
  Ints dims(r.b.shape_of(x).size());
  std::iota(dims.begin(), dims.end(), 0);
  return r.expr(r.b.reduce_sum(x, dims));
}

/// Operands of the op from `first` on.
std::vector<ValueId> starts_from(OpGradient& r, size_t first) {
  std::vector<ValueId> starts;
  for (size_t i = first; i < r.op.operands.size(); ++i) starts.push_back(r.x(i));
  return starts;
}

/// The sizes of `part` within `whole`, -1 where it is the whole (perhaps symbolic) dimension.
Ints sizes_within(const Shape& part, const Shape& whole) {
  Ints sizes;
  for (size_t i = 0; i < part.size(); ++i) {
    sizes.push_back(part[i] == whole[i] ? -1 : part[i].value());
  }
  return sizes;
}

}  // namespace

/// dx sums dy over the dimensions that are new and those that were stretched.
void broadcast_in_dim(OpGradient& r) {
  const Ints& dims = r.ints(AttrKey::Dims);
  const Shape from = r.x_type(0).shape;
  const Shape to = r.y_type().shape;
  std::vector<bool> kept(to.size(), false);
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto d = static_cast<size_t>(dims[i]);
    kept[d] = from[i] == to[d];
  }
  Ints summed;
  for (size_t d = 0; d < to.size(); ++d) {
    if (!kept[d]) summed.push_back(static_cast<int64_t>(d));
  }
  ValueId g = r.dy();
  if (!summed.empty()) g = r.b.reduce_sum(g, summed);
  // What is left stands in the order of the result; the operand's order is that of `dims`.
  Ints order;
  for (int64_t d : dims) {
    if (!kept[static_cast<size_t>(d)]) continue;
    order.push_back(std::count_if(dims.begin(), dims.end(), [&](int64_t other) {
      return other < d && kept[static_cast<size_t>(other)];
    }));
  }
  if (!std::is_sorted(order.begin(), order.end())) g = r.b.transpose(g, order);
  r.give(0, r.b.reshape(g, from));
}

void transpose(OpGradient& r) {
  const Ints& permutation = r.ints(AttrKey::Permutation);
  Ints inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  r.give(0, r.b.transpose(r.dy(), inverse));
}

void slice(OpGradient& r) {
  const Ints& starts = r.ints(AttrKey::Starts);
  const Ints& strides = r.ints(AttrKey::Strides);
  if (all_are(strides, 1)) return r.give_part(0, r.dy(), starts);
  const Shape from = r.x_type(0).shape;
  const Shape to = r.y_type().shape;
  Ints high(from.size(), 0);
  Ints interior(from.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    interior[i] = strides[i] - 1;
    const int64_t n = to[i].value();
    const int64_t spread = n == 0 ? 0 : (n - 1) * strides[i] + 1;
    high[i] = from[i].value() - starts[i] - spread;
  }
  const ValueId dy = r.dy();
  r.give(0,
         r.b.emit1(OpKind::Pad, {dy, scalar_like(r.expr(dy), 0)},
                   {{AttrKey::Low, starts}, {AttrKey::High, high}, {AttrKey::Interior, interior}}));
}

void dynamic_slice(OpGradient& r) {
  std::vector<ValueId> operands = {r.zeros(r.x_type(0)), r.dy()};
  for (ValueId start : starts_from(r, 1)) operands.push_back(start);
  r.give(0, r.b.emit1(OpKind::DynamicUpdateSlice, operands));
}

void dynamic_update_slice(OpGradient& r) {
  const std::vector<ValueId> starts = starts_from(r, 2);
  const auto with_starts = [&](std::vector<ValueId> operands) {
    operands.insert(operands.end(), starts.begin(), starts.end());
    return operands;
  };
  if (r.wants(0)) {
    const auto operands = with_starts({r.dy(), r.zeros(r.x_type(1))});
    r.give(0, r.b.emit1(OpKind::DynamicUpdateSlice, operands));
  }
  if (r.wants(1)) {
    const Ints sizes = sizes_within(r.x_type(1).shape, r.x_type(0).shape);
    r.give(1, r.b.emit1(OpKind::DynamicSlice, with_starts({r.dy()}), {{AttrKey::Sizes, sizes}}));
  }
}

void concatenate(OpGradient& r) {
  const auto dim = static_cast<size_t>(r.attrs().get<int64_t>(AttrKey::Dim));
  if (r.op.operands.size() == 1) return r.give(0, r.dy());
  Ints starts(r.y_type().shape.size(), 0);
  Ints limits(starts.size(), -1);
  for (size_t i = 0; i < r.op.operands.size(); ++i) {
    limits[dim] = starts[dim] + r.x_type(i).shape[dim].value();
    if (r.wants(i)) r.give(i, r.b.slice(r.dy(), starts, limits));
    starts[dim] = limits[dim];
  }
}

/// Padding by the opposite amounts cuts the padding off (and puts zeros where something was cut);
/// strides step over the interior.
void pad(OpGradient& r) {
  ValueId g = r.dy();
  const Ints low = negated(r.ints(AttrKey::Low));
  const Ints high = negated(r.ints(AttrKey::High));
  const Ints& interior = r.ints(AttrKey::Interior);
  const Ints none(low.size(), 0);
  if (!all_are(low, 0) || !all_are(high, 0)) {
    g = r.b.emit1(OpKind::Pad, {g, scalar_like(r.expr(g), 0)},
                  {{AttrKey::Low, low}, {AttrKey::High, high}, {AttrKey::Interior, none}});
  }
  if (!all_are(interior, 0)) {
    Ints strides = interior;
    for (int64_t& s : strides) ++s;
    g = r.b.slice(g, none, Ints(low.size(), -1), strides);
  }
  r.give(0, g);
  // What is not of the operand is of the padding.
  if (!r.wants(1)) return;
  const Expr all = sum_of_all(r, r.dy());
  r.give(1, all - sum_of_all(r, g));
}

namespace {

Attributes indexing_of(const ir::Attributes& attrs) {
  Attributes result;
  for (AttrKey key :
       {AttrKey::OffsetDims, AttrKey::CollapsedDims, AttrKey::StartIndexMap,
        AttrKey::IndexVectorDim, AttrKey::OperandBatchDims, AttrKey::IndicesBatchDims}) {
    if (const ir::AttrValue* value = attrs.find(key)) result.set(key, *value);
  }
  return result;
}

/// Scatter as `r`'s op does; without fn the update replaces.
Expr scattered(OpGradient& r, const Expr& operand, const Expr& updates,
               std::optional<ElementFn> fn) {
  Attributes attrs = indexing_of(r.attrs());
  if (fn) attrs.set(AttrKey::Fn, *fn);
  return r.expr(r.b.emit1(OpKind::Scatter, {operand, r.x(1), updates}, attrs));
}

/// The elements of `operand` at the places of a scatter's updates.
Expr gathered(OpGradient& r, const Expr& operand) {
  const Shape whole = r.x_type(0).shape;
  const Shape updates = r.x_type(2).shape;
  Attributes attrs = indexing_of(r.attrs());
  const Ints& offset_dims = attrs.get<Ints>(AttrKey::OffsetDims);
  Ints hidden = attrs.get<Ints>(AttrKey::CollapsedDims);
  const Ints batch = attrs.get_or<Ints>(AttrKey::OperandBatchDims, {});
  hidden.insert(hidden.end(), batch.begin(), batch.end());
  Ints sizes;
  size_t next = 0;
  for (size_t d = 0; d < whole.size(); ++d) {
    if (std::find(hidden.begin(), hidden.end(), static_cast<int64_t>(d)) != hidden.end()) {
      sizes.push_back(1);
      continue;
    }
    const Dim& size = updates[static_cast<size_t>(offset_dims[next++])];
    sizes.push_back(size == whole[d] ? -1 : size.value());
  }
  attrs.set(AttrKey::Sizes, sizes);
  return r.expr(r.b.emit1(OpKind::Gather, {operand, r.x(1)}, attrs));
}

/// A number for each update, to tell who stayed: where several fall on one place, the last.
Expr update_stayed(OpGradient& r) {
  const Shape shape = r.x_type(2).shape;
  const Dim count = element_count(shape);
  const Expr number = r.expr(r.b.reshape(r.b.iota({DType::I32, {count}}, 0), shape));
  const Expr none = r.expr(r.b.constant(-1, {DType::I32, r.x_type(0).shape}));
  return equal(gathered(r, scattered(r, none, number, {})), number);
}

void scatter_replace(OpGradient& r) {
  if (r.wants(0)) r.give(0, scattered(r, r.dy(), r.zeros(r.x_type(2)), {}));
  if (r.wants(2)) r.give(2, only_where(update_stayed(r), gathered(r, r.dy())));
}

/// Among those equal to the extreme, dy is shared evenly.
void scatter_extreme(OpGradient& r) {
  const DType dtype = r.y_type().dtype;
  const Expr from_operand = convert(equal(r.x(0), r.y()), dtype);
  const Expr from_updates = convert(equal(r.x(2), gathered(r, r.y())), dtype);
  const Expr count = scattered(r, from_operand, from_updates, ElementFn::Add);
  const Expr share = r.dy() / max(count, scalar_like(count, 1));
  if (r.wants(0)) r.give(0, from_operand * share);
  if (r.wants(2)) r.give(2, from_updates * gathered(r, share));
}

/// Each factor's derivative is the product of the others; of updates that share a place it would
/// need a division, hence no rule.
void scatter_multiply(OpGradient& r) {
  const Expr ones = r.expr(r.b.constant(1, r.x_type(0)));
  if (r.wants(2)) r.refuse("scatter with multiply has no gradient of its updates");
  if (r.wants(0)) r.give(0, r.dy() * scattered(r, ones, r.x(2), ElementFn::Multiply));
}

}  // namespace

/// Places that were read several times collect the sum.
void gather(OpGradient& r) {
  Attributes attrs = indexing_of(r.attrs());
  attrs.set(AttrKey::Fn, ElementFn::Add);
  r.give(0, r.b.emit1(OpKind::Scatter, {r.zeros(r.x_type(0)), r.x(1), r.dy()}, attrs));
}

void scatter(OpGradient& r) {
  if (!r.attrs().has(AttrKey::Fn)) return scatter_replace(r);
  switch (r.attrs().get<ElementFn>(AttrKey::Fn)) {
    case ElementFn::Add:
      r.give(0, r.dy());
      if (r.wants(2)) r.give(2, gathered(r, r.dy()));
      return;
    case ElementFn::Maximum:
    case ElementFn::Minimum:
      return scatter_extreme(r);
    default:
      return scatter_multiply(r);
  }
}

}  // namespace wafer::autodiff
