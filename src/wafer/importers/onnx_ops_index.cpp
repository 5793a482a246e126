// Gathers, scatters, and ops that answer with places.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "wafer/base/error.h"
#include "wafer/importers/onnx_formulas.h"
#include "wafer/importers/onnx_ops.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;

namespace {

Ints counting(int64_t from, int64_t to) {
  Ints result;
  for (int64_t i = from; i < to; ++i) result.push_back(i);
  return result;
}

/// Integer indices of a dimension, of which ONNX counts negative ones from the end. A dimension
/// that is open, and unsigned or known indices need no wrapping in the graph.
Term wrapped(Folder& f, const Term& indices, const Dim& size) {
  if (!size.is_static() || !is_signed_integer(indices.dtype())) return indices;
  const Term zero = f.scalar(0, indices.dtype());
  const Term negative = f.binary(ElementFn::Less, indices, zero);
  return f.select(negative, f.add(indices, static_cast<double>(size.factor())), indices);
}

bool are_static(const Term& indices) { return indices.known && indices.known->is_static(); }

void check_within(const Known& indices, const Dim& size) {
  for (const Dim& i : indices.ints) {
    if (i.factor() >= 0 && (i.factor() < size.factor() || !size.is_static())) continue;
    throw InputError(fmt::format("index {} where a dimension has {}", i.factor(), size.text()));
  }
}

/// Rows first, first + 1, .. of x when that is what the indices are.
std::optional<Term> as_slice(Folder& f, const Term& x, const Known& indices, int64_t axis) {
  if (indices.size() == 0) return std::nullopt;
  const int64_t first = indices.ints.front().factor();
  for (size_t i = 0; i < indices.ints.size(); ++i) {
    if (indices.ints[i].factor() != first + static_cast<int64_t>(i)) return std::nullopt;
  }
  const Term rows = f.slice_dim(x, axis, first, first + indices.size());
  const auto at = x.shape().begin() + axis;
  Shape shape(x.shape().begin(), at);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), at + 1, x.shape().end());
  return f.reshape(rows, shape);
}

}  // namespace

Term gather(Folder& f, const Term& x, const Term& given, int64_t axis) {
  const auto a = static_cast<size_t>(axis);
  const Term indices = wrapped(f, given, x.dim(a));
  if (are_static(indices)) {
    check_within(*indices.known, x.dim(a));
    if (x.known) return f.known(fold_gather(*x.known, *indices.known, axis));
    if (auto rows = as_slice(f, x, *indices.known, axis)) return *rows;
  }
  const int64_t rank = x.rank();
  const int64_t index_rank = indices.rank();
  Ints offset_dims = counting(0, axis);
  for (int64_t d = axis + 1; d < rank; ++d) offset_dims.push_back(d - 1 + index_rank);
  Ints sizes(static_cast<size_t>(rank), -1);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (x.dim(d).is_static()) sizes[d] = x.dim(d).factor();
  }
  sizes[a] = 1;
  return f.emit(OpKind::Gather, {x, indices},
                {{AttrKey::OffsetDims, offset_dims},
                 {AttrKey::CollapsedDims, Ints{axis}},
                 {AttrKey::StartIndexMap, Ints{axis}},
                 {AttrKey::IndexVectorDim, index_rank},
                 {AttrKey::Sizes, sizes}});
}

namespace {

Terms gather_op(OnnxCall& c) {
  const Term& x = c.in(0);
  if (!is_integer(c.in(1).dtype())) c.refuse("its indices are no integers");
  return {gather(c.fold, x, c.in(1), c.axis(c.integer("axis", 0), x.rank()))};
}

/// Attributes by which each index addresses one element along `axis`, the other dimensions being
/// those of the indices.
ir::Attributes along_axis(int64_t axis, int64_t rank) {
  Ints others = counting(0, rank);
  others.erase(others.begin() + axis);
  return {{AttrKey::OffsetDims, Ints{}},        {AttrKey::CollapsedDims, Ints{axis}},
          {AttrKey::StartIndexMap, Ints{axis}}, {AttrKey::IndexVectorDim, rank},
          {AttrKey::OperandBatchDims, others},  {AttrKey::IndicesBatchDims, others}};
}

bool same_but(const Shape& a, const Shape& b, int64_t axis) {
  if (a.size() != b.size()) return false;
  for (size_t d = 0; d < a.size(); ++d) {
    if (static_cast<int64_t>(d) != axis && a[d] != b[d]) return false;
  }
  return true;
}

Terms gather_elements(OnnxCall& c) {
  Term x = c.in(0);
  const int64_t axis = c.axis(c.integer("axis", 0), x.rank());
  const Term& given = c.in(1);
  if (given.rank() != x.rank()) c.refuse("its indices have another rank than its data");
  for (size_t d = 0; d < x.shape().size(); ++d) {  // indices may cover a part of the rest
    if (static_cast<int64_t>(d) == axis || given.dim(d) == x.dim(d)) continue;
    x = c.fold.slice_dim(x, static_cast<int64_t>(d), 0, given.dim(d).value());
  }
  const Term indices = wrapped(c.fold, given, x.dim(static_cast<size_t>(axis)));
  ir::Attributes attrs = along_axis(axis, x.rank());
  attrs.set(AttrKey::Sizes, Ints(x.shape().size(), 1));
  return {c.fold.emit(OpKind::Gather, {x, indices}, std::move(attrs))};
}

/// Index vectors [.., K] into the dimensions first .. first + K of x.
Term wrapped_vectors(OnnxCall& c, const Term& x, const Term& indices, size_t first) {
  const int64_t k = indices.shape().back().value();
  Shape sizes;
  for (int64_t i = 0; i < k; ++i) {
    const Dim& d = x.dim(first + static_cast<size_t>(i));
    if (!d.is_static()) return indices;
    sizes.push_back(d);
  }
  const Term zero = c.fold.scalar(0, indices.dtype());
  const Term negative = c.fold.binary(ElementFn::Less, indices, zero);
  if (negative.known && negative.known->is_splat() && !negative.known->ints[0].factor()) {
    return indices;
  }
  const Term moved = c.fold.add(indices, c.fold.convert(c.fold.dims(sizes), indices.dtype()));
  return c.fold.select(negative, moved, indices);
}

size_t vector_length(OnnxCall& c, const Term& x, const Term& indices, int64_t first) {
  if (indices.rank() < 1 || first < 0) c.refuse("its indices are no vectors");
  const int64_t k = indices.shape().back().value();
  if (first + k > x.rank()) {
    c.refuse(fmt::format("indices of {} places into {} dimensions", k, x.rank()));
  }
  return static_cast<size_t>(k);
}

Terms gather_nd(OnnxCall& c) {
  const Term& x = c.in(0);
  const int64_t batch = c.integer("batch_dims", 0);
  const auto k = static_cast<int64_t>(vector_length(c, x, c.in(1), batch));
  const Term indices = wrapped_vectors(c, x, c.in(1), static_cast<size_t>(batch));
  const int64_t last = indices.rank() - 1;
  const int64_t free = x.rank() - batch - k;
  Ints sizes(x.shape().size(), 1);
  for (int64_t d = batch + k; d < x.rank(); ++d) sizes[static_cast<size_t>(d)] = -1;
  return {c.fold.emit(OpKind::Gather, {x, indices},
                      {{AttrKey::OffsetDims, counting(last, last + free)},
                       {AttrKey::CollapsedDims, counting(batch, batch + k)},
                       {AttrKey::StartIndexMap, counting(batch, batch + k)},
                       {AttrKey::IndexVectorDim, last},
                       {AttrKey::OperandBatchDims, counting(0, batch)},
                       {AttrKey::IndicesBatchDims, counting(0, batch)},
                       {AttrKey::Sizes, sizes}})};
}

/// Sets fn of a scatter from the attribute reduction; none overwrites.
void set_reduction(const OnnxCall& c, ir::Attributes& attrs) {
  const std::string reduction = c.text("reduction", "none");
  if (reduction == "none") return;
  if (reduction == "add") return attrs.set(AttrKey::Fn, ElementFn::Add);
  if (reduction == "mul") return attrs.set(AttrKey::Fn, ElementFn::Multiply);
  if (reduction == "max") return attrs.set(AttrKey::Fn, ElementFn::Maximum);
  if (reduction == "min") return attrs.set(AttrKey::Fn, ElementFn::Minimum);
  c.refuse("reduction " + reduction);
}

Terms scatter_nd(OnnxCall& c) {
  const Term& x = c.in(0);
  const auto k = static_cast<int64_t>(vector_length(c, x, c.in(1), 0));
  const Term indices = wrapped_vectors(c, x, c.in(1), 0);
  const int64_t last = indices.rank() - 1;
  ir::Attributes attrs = {{AttrKey::OffsetDims, counting(last, last + x.rank() - k)},
                          {AttrKey::CollapsedDims, counting(0, k)},
                          {AttrKey::StartIndexMap, counting(0, k)},
                          {AttrKey::IndexVectorDim, last}};
  set_reduction(c, attrs);
  return {c.fold.emit(OpKind::Scatter, {x, indices, c.in(2)}, std::move(attrs))};
}

/// The place of each index as a vector over all dimensions: [.., rank].
Term full_vectors(OnnxCall& c, const Term& indices, int64_t axis) {
  Terms components;
  for (int64_t d = 0; d < indices.rank(); ++d) {
    const Term place = d == axis ? indices : c.fold.iota(indices.type, d);
    components.push_back(unsqueeze(c.fold, place, static_cast<size_t>(indices.rank())));
  }
  return c.fold.concatenate(components, indices.rank());
}

Terms scatter_elements(OnnxCall& c) {
  const Term& x = c.in(0);
  const int64_t axis = c.axis(c.integer("axis", 0), x.rank());
  if (c.in(1).rank() != x.rank()) c.refuse("its indices have another rank than its data");
  const Term indices = wrapped(c.fold, c.in(1), x.dim(static_cast<size_t>(axis)));
  if (same_but(x.shape(), indices.shape(), axis)) {
    ir::Attributes attrs = along_axis(axis, x.rank());
    set_reduction(c, attrs);
    return {c.fold.emit(OpKind::Scatter, {x, indices, c.in(2)}, std::move(attrs))};
  }
  const int64_t rank = x.rank();
  ir::Attributes attrs = {{AttrKey::OffsetDims, Ints{}},
                          {AttrKey::CollapsedDims, counting(0, rank)},
                          {AttrKey::StartIndexMap, counting(0, rank)},
                          {AttrKey::IndexVectorDim, rank}};
  set_reduction(c, attrs);
  return {
      c.fold.emit(OpKind::Scatter, {x, full_vectors(c, indices, axis), c.in(2)}, std::move(attrs))};
}

Terms arg_reduce(OnnxCall& c, ElementFn fn) {
  const int64_t axis = c.axis(c.integer("axis", 0), c.in(0).rank());
  const bool last = c.integer("select_last_index", 0) != 0;
  const Term x = last ? c.fold.reverse(c.in(0), {axis}) : c.in(0);
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  Term index = c.fold.emit(OpKind::ArgReduce, {x}, {{AttrKey::Dim, axis}, {AttrKey::Fn, fn}},
                           {{DType::I64, shape}});
  if (last) {
    const auto size = static_cast<double>(x.dim(static_cast<size_t>(axis)).value());
    index = c.fold.subtract(c.fold.scalar(size - 1, DType::I64), index);
  }
  if (c.integer("keepdims", 1) == 0) return {index};
  return {unsqueeze(c.fold, index, static_cast<size_t>(axis))};
}
Terms arg_max(OnnxCall& c) { return arg_reduce(c, ElementFn::Maximum); }
Terms arg_min(OnnxCall& c) { return arg_reduce(c, ElementFn::Minimum); }

Terms top_k(OnnxCall& c) {
  const Term& x = c.in(0);
  const int64_t axis = c.axis(c.integer("axis", -1), x.rank());
  const int64_t k = c.opset >= 10 ? c.int_in(1, "k") : c.integer("k");
  const bool largest = c.integer("largest", 1) != 0;
  const Term places = c.fold.iota({DType::I64, x.shape()}, axis);
  Terms sorted =
      c.fold.terms(c.fold.builder().emit(OpKind::Sort, c.fold.ids({x, places}),
                                         {{AttrKey::Dim, axis}, {AttrKey::Descending, largest}}));
  for (Term& t : sorted) t = c.fold.slice_dim(t, axis, 0, k);
  return sorted;
}

template <ElementFn Fn>
Terms cumulative(OnnxCall& c) {
  const Term& x = c.in(0);
  const int64_t axis = c.axis(c.int_in(1, "axis"), x.rank());
  return {c.fold.emit(OpKind::Cumulative, {x},
                      {{AttrKey::Dim, axis},
                       {AttrKey::Fn, Fn},
                       {AttrKey::Exclusive, c.integer("exclusive", 0) != 0},
                       {AttrKey::Reverse, c.integer("reverse", 0) != 0}})};
}

/// Of known elements only: how many there are decides the shape.
Terms non_zero(OnnxCall& c) {
  const Term& x = c.in(0);
  if (!x.known) c.refuse("the shape of its result depends on data");
  const Ints strides = strides_of(x.known->shape);
  Known result{.dtype = DType::I64, .shape = {x.rank(), 0}, .ints = {}, .floats = {}};
  Ints places;
  for (int64_t i = 0; i < x.known->size(); ++i) {
    const auto at = static_cast<size_t>(i);
    const bool zero =
        x.known->is_float_type() ? x.known->floats[at] == 0 : x.known->ints[at] == Dim(0);
    if (!zero) places.push_back(i);
  }
  result.shape[1] = static_cast<int64_t>(places.size());
  for (size_t d = 0; d < strides.size(); ++d) {
    for (int64_t i : places) result.ints.emplace_back(i / strides[d] % x.known->shape[d]);
  }
  return {c.fold.known(std::move(result))};
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"ArgMax", arg_max},
    {"ArgMin", arg_min},
    {"CumProd", cumulative<ElementFn::Multiply>},
    {"CumSum", cumulative<ElementFn::Add>},
    {"Gather", gather_op},
    {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
    {"NonZero", non_zero},
    {"Scatter", scatter_elements},  // its name before opset 11
    {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd},
    {"TopK", top_k},
});

}  // namespace

std::span<const OnnxOp> onnx_index_ops() { return Ops; }

}  // namespace wafer::importers
