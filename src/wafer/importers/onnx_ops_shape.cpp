// Constants, shapes and what is made from them alone.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "wafer/importers/onnx_formulas.h"
#include "wafer/importers/onnx_ops.h"
#include "wafer/importers/onnx_tensor.h"

namespace wafer::importers {

using ir::ElementFn;
using ir::Ints;

Term unsqueeze(Folder& f, const Term& x, size_t d) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d), Dim(1));
  return f.reshape(x, shape);
}

namespace {

Known vector_of(DType dtype, std::vector<double> floats, std::vector<Dim> ints) {
  const auto size = static_cast<int64_t>(std::max(floats.size(), ints.size()));
  return {.dtype = dtype, .shape = {size}, .ints = std::move(ints), .floats = std::move(floats)};
}

Terms constant(OnnxCall& c) {
  if (c.has_attribute("value")) return {c.constant_tensor("value")};
  if (c.has_attribute("value_float")) {
    return {c.fold.scalar(c.real("value_float"), DType::F32)};
  }
  if (c.has_attribute("value_int")) {
    Known known{.dtype = DType::I64, .shape = {}, .ints = {c.integer("value_int")}, .floats = {}};
    return {c.fold.known(std::move(known))};
  }
  if (c.has_attribute("value_floats")) {
    const std::vector<float> values = c.floats("value_floats");
    return {c.fold.known(vector_of(DType::F32, {values.begin(), values.end()}, {}))};
  }
  if (c.has_attribute("value_ints")) {
    const Ints values = c.ints("value_ints");
    return {c.fold.known(vector_of(DType::I64, {}, {values.begin(), values.end()}))};
  }
  c.refuse("holds strings or a sparse tensor");
}

Terms constant_of_shape(OnnxCall& c) {
  const Shape shape = c.dims_in(0, "the shape");
  for (const Dim& d : shape) {
    if (d.factor() < 0) c.refuse("a negative dimension " + d.text());
  }
  Known value = vector_of(DType::F32, {0}, {});
  if (c.has_attribute("value")) value = c.tensor("value");
  if (value.size() != 1) c.refuse("its value must be one element");
  const double x =
      value.is_float_type() ? value.floats[0] : static_cast<double>(value.ints[0].factor());
  return {c.fold.constant(x, {value.dtype, shape})};
}

Terms shape_op(OnnxCall& c) {
  const Shape& shape = c.in(0).shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const auto place = [&](std::string_view name, int64_t otherwise) {
    const int64_t p = c.integer(name, otherwise);
    return std::clamp<int64_t>(p < 0 ? p + rank : p, 0, rank);
  };
  const int64_t from = place("start", 0);
  const int64_t to = std::max(from, place("end", rank));
  return {c.fold.dims({shape.begin() + from, shape.begin() + to})};
}

Terms size_op(OnnxCall& c) {
  return {c.fold.reshape(c.fold.dims({element_count(c.in(0).shape())}), {})};
}

/// The dimension that makes the others, `product` in all, hold `count` elements.
Dim inferred(const OnnxCall& c, const Dim& count, const Dim& product) {
  const std::optional<Dim> d = divide_exact(count, product);
  if (d) return *d;
  c.refuse(fmt::format("{} elements do not divide into rows of {}", count.text(), product.text()));
}

Terms reshape(OnnxCall& c) {
  const Term& x = c.in(0);
  Shape shape;
  if (c.has(1)) {
    shape = c.dims_in(1, "the shape");
  } else {  // opset 1
    for (int64_t d : c.ints("shape")) shape.emplace_back(d);
  }
  const bool zero_copies = c.integer("allowzero", 0) == 0;
  std::optional<size_t> open;
  Dim product(1);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == Dim(0) && zero_copies) {
      if (i >= x.shape().size()) c.refuse("0 in the shape copies a dimension that is not there");
      shape[i] = x.dim(i);
    }
    if (shape[i].factor() < -1 || (shape[i] == Dim(-1) && open)) {
      c.refuse("a shape with " + shape[i].text());
    }
    if (shape[i] == Dim(-1)) {
      open = i;
    } else {
      product = product * shape[i];
    }
  }
  if (open) shape[*open] = inferred(c, element_count(x.shape()), product);
  return {c.fold.reshape(x, shape)};
}

Terms flatten(OnnxCall& c) {
  const Term& x = c.in(0);
  const int64_t given = c.integer("axis", 1);
  const int64_t axis = given == x.rank() ? given : c.axis(given, x.rank());
  const auto middle = x.shape().begin() + axis;
  return {c.fold.reshape(
      x, {element_count({x.shape().begin(), middle}), element_count({middle, x.shape().end()})})};
}

Terms squeeze(OnnxCall& c) {
  const Term& x = c.in(0);
  const std::optional<Ints> given = c.list(1, "axes", 13);
  const Ints axes = given ? c.axes(*given, x.rank()) : Ints{};
  Shape shape;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    const bool named = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
    if (named && x.dim(d) != Dim(1)) {
      c.refuse(fmt::format("dimension {} is {}, not 1", d, x.dim(d).text()));
    }
    if (given ? !named : x.dim(d) != Dim(1)) shape.push_back(x.dim(d));
  }
  return {c.fold.reshape(x, shape)};
}

Terms unsqueeze_op(OnnxCall& c) {
  const std::optional<Ints> given = c.list(1, "axes", 13);
  if (!given) c.refuse("needs axes");
  const int rank = c.in(0).rank() + static_cast<int>(given->size());
  const Ints axes = c.axes(*given, rank);
  Shape shape;
  auto next = c.in(0).shape().begin();
  for (int64_t d = 0; d < rank; ++d) {
    const bool added = std::find(axes.begin(), axes.end(), d) != axes.end();
    shape.push_back(added ? Dim(1) : *next++);
  }
  return {c.fold.reshape(c.in(0), shape)};
}

Terms expand(OnnxCall& c) {
  const Shape shape = broadcast_shape(c.in(0).shape(), c.dims_in(1, "the shape"));
  return {c.fold.broadcast_to(c.in(0), shape)};
}

Terms tile(OnnxCall& c) {
  const Term& x = c.in(0);
  const Shape repeats = c.dims_in(1, "repeats");
  if (repeats.size() != x.shape().size()) c.refuse("needs one repeat a dimension");
  Shape apart, repeated, result;
  for (size_t d = 0; d < repeats.size(); ++d) {
    apart.insert(apart.end(), {Dim(1), x.dim(d)});
    repeated.insert(repeated.end(), {repeats[d], x.dim(d)});
    result.push_back(repeats[d] * x.dim(d));
  }
  return {c.fold.reshape(c.fold.broadcast_to(c.fold.reshape(x, apart), repeated), result)};
}

/// Numbers start, start + delta, .. before limit, of which there are `count`.
Term progression(Folder& f, const Dim& count, double start, double delta, DType dtype) {
  Term steps = f.iota({dtype, {count}}, 0);
  if (delta != 1) steps = f.multiply(steps, delta);
  return start == 0 ? steps : f.add(steps, start);
}

Terms float_range(OnnxCall& c) {
  const double start = c.float_in(0, "start");
  const double delta = c.float_in(2, "delta");
  const double count = std::ceil((c.float_in(1, "limit") - start) / delta);
  if (!(count < 0x1p40)) c.refuse("no end");
  return {progression(c.fold, Dim(static_cast<int64_t>(std::max(count, 0.0))), start, delta,
                      c.in(0).dtype())};
}

Terms range(OnnxCall& c) {
  const DType dtype = c.in(0).dtype();
  if (is_float(dtype)) return float_range(c);
  const int64_t start = c.int_in(0, "start");
  const int64_t delta = c.int_in(2, "delta");
  const Shape limits = c.dims_in(1, "limit");
  if (limits.size() != 1) c.refuse("its limit must be one number");
  const Dim& limit = limits.front();
  if (!limit.is_static()) {
    if (start != 0 || delta != 1) c.refuse("a range up to " + limit.text() + " that is open");
    return {progression(c.fold, limit, 0, 1, dtype)};
  }
  if (delta == 0) c.refuse("no end");
  const double span = static_cast<double>(limit.factor()) - static_cast<double>(start);
  const double count = std::max(0.0, std::ceil(span / static_cast<double>(delta)));
  if (!(count < 0x1p40)) c.refuse("too long a range");
  constexpr double Many = 1 << 16;
  if (count > Many) {
    return {progression(c.fold, Dim(static_cast<int64_t>(count)), static_cast<double>(start),
                        static_cast<double>(delta), dtype)};
  }
  std::vector<Dim> values;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) values.emplace_back(start + i * delta);
  return {c.fold.known(vector_of(dtype, {}, std::move(values)))};
}

Terms trilu(OnnxCall& c) {
  const Term& x = c.in(0);
  if (x.rank() < 2) c.refuse("needs a matrix");
  const int64_t k = c.has(1) ? c.int_in(1, "k") : 0;
  const TensorType square{DType::I32, {x.shape().end() - 2, x.shape().end()}};
  const Term row = c.fold.add(c.fold.iota(square, 0), static_cast<double>(k));
  const Term column = c.fold.iota(square, 1);
  const bool upper = c.integer("upper", 1) != 0;
  const Term kept =
      c.fold.binary(upper ? ElementFn::GreaterEqual : ElementFn::LessEqual, column, row);
  return {c.fold.select(kept, x, c.fold.scalar(0, x.dtype()))};
}

Terms eye_like(OnnxCall& c) {
  const Term& x = c.in(0);
  if (x.rank() != 2) c.refuse("needs a matrix");
  DType dtype = x.dtype();
  if (c.has_attribute("dtype")) {
    const auto given = dtype_of(static_cast<int32_t>(c.integer("dtype")));
    if (!given) c.refuse("its dtype");
    dtype = *given;
  }
  const TensorType square{DType::I32, x.shape()};
  const Term row = c.fold.add(c.fold.iota(square, 0), static_cast<double>(c.integer("k", 0)));
  const Term equal = c.fold.binary(ElementFn::Equal, row, c.fold.iota(square, 1));
  return {c.fold.convert(equal, dtype)};
}

Terms one_hot(OnnxCall& c) {
  const int64_t depth = c.int_in(1, "depth");
  const Term indices = c.fold.convert(c.in(0), DType::I64);
  const int rank = indices.rank() + 1;
  const int64_t axis = c.axis(c.integer("axis", -1), rank);
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, Dim(depth));
  const Term zero = c.fold.scalar(0, DType::I64);
  const Term wrapped = c.fold.select(c.fold.binary(ElementFn::Less, indices, zero),
                                     c.fold.add(indices, static_cast<double>(depth)), indices);
  const Term places = unsqueeze(c.fold, wrapped, static_cast<size_t>(axis));
  const Term hot = c.fold.binary(ElementFn::Equal, places, c.fold.iota({DType::I64, shape}, axis));
  const Term off = c.fold.reshape(c.fold.slice_dim(c.in(2), 0, 0, 1), {});
  const Term on = c.fold.reshape(c.fold.slice_dim(c.in(2), 0, 1, 2), {});
  return {c.fold.select(hot, on, off)};
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"Constant", constant},
    {"ConstantOfShape", constant_of_shape},
    {"Expand", expand},
    {"EyeLike", eye_like},
    {"Flatten", flatten},
    {"OneHot", one_hot},
    {"Range", range},
    {"Reshape", reshape},
    {"Shape", shape_op},
    {"Size", size_op},
    {"Squeeze", squeeze},
    {"Tile", tile},
    {"Trilu", trilu},
    {"Unsqueeze", unsqueeze_op},
});

}  // namespace

std::span<const OnnxOp> onnx_shape_ops() { return Ops; }

}  // namespace wafer::importers
