#include "wafer/importers/known.h"

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/importers/known_element.h"

namespace wafer::importers {

using ir::ElementFn;
using ir::Ints;

int64_t elements_in(const Ints& shape) {
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  return count;
}

int64_t Known::size() const { return elements_in(shape); }

bool Known::is_static() const {
  return std::all_of(ints.begin(), ints.end(), [](const Dim& d) { return d.is_static(); });
}

bool Known::is_splat() const {
  const auto all_same = [](const auto& xs) {
    return !xs.empty() &&
           std::all_of(xs.begin(), xs.end(), [&](const auto& x) { return x == xs.front(); });
  };
  return is_float_type() ? all_same(floats) : all_same(ints);
}

TensorType Known::type() const { return {dtype, Shape(shape.begin(), shape.end())}; }

Known known_dims(const Shape& elements) {
  return {.dtype = DType::I64,
          .shape = {static_cast<int64_t>(elements.size())},
          .ints = elements,
          .floats = {}};
}

ir::Literal literal_of(const Known& known) {
  ir::Literal literal{.type = known.type(),
                      .splat = known.is_splat() && known.size() > 1,
                      .elided = false,
                      .floats = known.floats,
                      .integers = {}};
  for (const Dim& d : known.ints) literal.integers.push_back(d.value());
  if (literal.splat) {
    literal.floats.resize(std::min<size_t>(literal.floats.size(), 1));
    literal.integers.resize(std::min<size_t>(literal.integers.size(), 1));
  }
  return literal;
}

Known known_of(const ir::Literal& literal) {
  WAFER_CHECK(!literal.elided);
  Known known{.dtype = literal.type.dtype, .shape = {}, .ints = {}, .floats = literal.floats};
  for (const Dim& d : literal.type.shape) known.shape.push_back(d.value());
  known.ints.assign(literal.integers.begin(), literal.integers.end());
  if (literal.splat) {
    const auto size = static_cast<size_t>(known.size());
    if (!known.floats.empty()) known.floats.resize(size, known.floats.front());
    if (!known.ints.empty()) known.ints.resize(size, known.ints.front());
  }
  return known;
}

std::optional<Known> fold_elementwise(ElementFn fn, const std::vector<const Known*>& operands) {
  const bool select = fn == ElementFn::Select;
  const Known& typed = *operands[select ? 1 : 0];
  const bool real = typed.is_float_type();
  Known result{.dtype = is_predicate(fn) ? DType::Bool : typed.dtype,
               .shape = typed.shape,
               .ints = {},
               .floats = {}};
  std::vector<double> reals;
  std::vector<Dim> dims;
  for (size_t i = 0; i < static_cast<size_t>(typed.size()); ++i) {
    if (select) {
      const Known& from = *operands[is_true(operands[0]->ints[i]) ? 1 : 2];
      real ? result.floats.push_back(from.floats[i]) : result.ints.push_back(from.ints[i]);
      continue;
    }
    reals.clear();
    dims.clear();
    for (const Known* x : operands) {
      real ? reals.push_back(x->floats[i]) : dims.push_back(x->ints[i]);
    }
    if (real && !is_predicate(fn)) {
      const std::optional<double> value = apply_to_reals(fn, reals);
      if (!value) return std::nullopt;
      result.floats.push_back(round_to(result.dtype, *value));
      continue;
    }
    const std::optional<Dim> value =
        real ? compare_reals(fn, reals) : apply_to_dims(fn, dims, typed.dtype);
    if (!value) return std::nullopt;
    result.ints.push_back(*value);
  }
  return result;
}

std::optional<Known> fold_convert(const Known& x, DType dtype) {
  Known result{.dtype = dtype, .shape = x.shape, .ints = {}, .floats = {}};
  for (double value : x.floats) {
    if (is_float(dtype)) {
      result.floats.push_back(round_to(dtype, value));
    } else {
      // Out of range is undefined in ONNX; not followed.
      if (dtype != DType::Bool && !(std::abs(value) < 0x1p53)) return std::nullopt;
      const double whole = dtype == DType::Bool ? static_cast<double>(value != 0) : value;
      if (round_to(dtype, whole) != std::trunc(whole)) return std::nullopt;
      result.ints.emplace_back(static_cast<int64_t>(whole));
    }
  }
  for (const Dim& value : x.ints) {
    const std::optional<Dim> converted = convert_dim(value, dtype);
    if (!converted) return std::nullopt;
    if (is_float(dtype)) {
      result.floats.push_back(round_to(dtype, static_cast<double>(converted->value())));
    } else {
      result.ints.push_back(*converted);
    }
  }
  return result;
}

std::optional<Known> fold_reduce(ElementFn fn, const Known& x, const Ints& dims) {
  const int neutral = fn == ElementFn::Multiply ? 1 : 0;
  std::vector<bool> reduced(x.shape.size(), false);
  for (int64_t d : dims) reduced[static_cast<size_t>(d)] = true;
  Ints kept_shape, kept_strides(x.shape.size(), 0);
  for (size_t d = x.shape.size(); d-- > 0;) {
    if (reduced[d]) continue;
    kept_strides[d] = elements_in(kept_shape);
    kept_shape.insert(kept_shape.begin(), x.shape[d]);
  }
  Known result{.dtype = x.dtype, .shape = kept_shape, .ints = {}, .floats = {}};
  const Ints strides = strides_of(x.shape);
  std::vector<bool> started(static_cast<size_t>(result.size()), false);
  const bool real = x.is_float_type();
  if (real) result.floats.resize(started.size(), neutral);
  if (!real) result.ints.resize(started.size(), Dim(neutral));
  for (int64_t i = 0; i < x.size(); ++i) {
    size_t at = 0;
    for (size_t d = 0; d < x.shape.size(); ++d) {
      at += static_cast<size_t>(i / strides[d] % x.shape[d] * kept_strides[d]);
    }
    const auto from = static_cast<size_t>(i);
    if (real) {
      const auto value = started[at] ? apply_to_reals(fn, {result.floats[at], x.floats[from]})
                                     : std::optional<double>(x.floats[from]);
      if (!value) return std::nullopt;
      result.floats[at] = round_to(x.dtype, *value);
    } else {
      const auto value = started[at] ? apply_to_dims(fn, {result.ints[at], x.ints[from]}, x.dtype)
                                     : std::optional<Dim>(x.ints[from]);
      if (!value) return std::nullopt;
      result.ints[at] = *value;
    }
    started[at] = true;
  }
  // Nothing is the least of no elements.
  const bool empty = std::find(started.begin(), started.end(), false) != started.end();
  if (empty && fn != ElementFn::Add && fn != ElementFn::Multiply) return std::nullopt;
  return result;
}

Ints strides_of(const Ints& shape) {
  Ints strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Known fold_view(const Known& x, const Ints& shape, const Ints& strides, int64_t offset) {
  Known result{.dtype = x.dtype, .shape = shape, .ints = {}, .floats = {}};
  const int64_t count = elements_in(shape);
  Ints index(shape.size(), 0);
  int64_t from = offset;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(from);
    x.is_float_type() ? result.floats.push_back(x.floats[at]) : result.ints.push_back(x.ints[at]);
    for (size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < shape[d]) break;
      from -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return result;
}

Known fold_concatenate(const std::vector<const Known*>& xs, int64_t dim) {
  const auto axis = static_cast<size_t>(dim);
  Known result{.dtype = xs[0]->dtype, .shape = xs[0]->shape, .ints = {}, .floats = {}};
  result.shape[axis] = 0;
  for (const Known* x : xs) result.shape[axis] += x->shape[axis];
  int64_t outer = 1;
  for (size_t d = 0; d < axis; ++d) outer *= result.shape[d];
  for (int64_t o = 0; o < outer; ++o) {
    for (const Known* x : xs) {
      const int64_t chunk = x->size() / outer;
      const auto first = o * chunk;
      if (x->is_float_type()) {
        result.floats.insert(result.floats.end(), x->floats.begin() + first,
                             x->floats.begin() + first + chunk);
      } else {
        result.ints.insert(result.ints.end(), x->ints.begin() + first,
                           x->ints.begin() + first + chunk);
      }
    }
  }
  return result;
}

Known fold_gather(const Known& x, const Known& indices, int64_t axis) {
  const auto at = x.shape.begin() + axis;
  Known result{.dtype = x.dtype, .shape = {x.shape.begin(), at}, .ints = {}, .floats = {}};
  result.shape.insert(result.shape.end(), indices.shape.begin(), indices.shape.end());
  result.shape.insert(result.shape.end(), at + 1, x.shape.end());
  const int64_t outer = elements_in({x.shape.begin(), at});
  const int64_t inner = elements_in({at + 1, x.shape.end()});
  for (int64_t o = 0; o < outer; ++o) {
    for (const Dim& index : indices.ints) {
      const int64_t from = (o * *at + index.factor()) * inner;
      if (x.is_float_type()) {
        const auto first = x.floats.begin() + from;
        result.floats.insert(result.floats.end(), first, first + inner);
      } else {
        const auto first = x.ints.begin() + from;
        result.ints.insert(result.ints.end(), first, first + inner);
      }
    }
  }
  return result;
}

}  // namespace wafer::importers
