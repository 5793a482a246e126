#include "wafer/importers/fold.h"

#include <algorithm>
#include <numeric>

#include "wafer/base/error.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;
using ir::ValueId;

namespace {

/// Results are followed while they do not outgrow what they are made of.
constexpr int64_t AlwaysFollowed = 64;
constexpr int64_t LargestFollowed = int64_t{1} << 16;

bool worth_following(int64_t count, int64_t from) {
  return count <= AlwaysFollowed || (count <= from && count <= LargestFollowed);
}

bool all_known(const std::vector<const Term*>& terms) {
  return std::all_of(terms.begin(), terms.end(), [](const Term* t) { return t->known != nullptr; });
}

/// The number of elements when it is plain from the shape.
std::optional<int64_t> static_count(const Shape& shape) {
  const Dim count = element_count(shape);
  return count.is_static() ? std::optional<int64_t>(count.factor()) : std::nullopt;
}

std::optional<Ints> static_shape(const Shape& shape) {
  Ints result;
  for (const Dim& d : shape) {
    if (!d.is_static()) return std::nullopt;
    result.push_back(d.factor());
  }
  return result;
}

Term known_term(Known elements) {
  return {.type = elements.type(),
          .known = std::make_shared<const Known>(std::move(elements)),
          .id = ValueId()};
}

/// The known elements of x stretched to `shape`.
Known stretched(const Known& x, const Ints& shape) {
  const Ints own = strides_of(x.shape);
  const size_t lead = shape.size() - x.shape.size();
  Ints strides(shape.size(), 0);
  for (size_t d = 0; d < own.size(); ++d) {
    strides[lead + d] = x.shape[d] == 1 ? 0 : own[d];
  }
  return fold_view(x, shape, strides);
}

/// Whether every dimension of x is 1 or that of `shape` (trailing dimensions aligned).
bool stretches_to(const Shape& x, const Shape& shape) {
  if (x.size() > shape.size()) return false;
  return std::equal(x.rbegin(), x.rend(), shape.rbegin(),
                    [](const Dim& a, const Dim& b) { return a == Dim(1) || a == b; });
}

/// fn over known terms with broadcasting, when it can and should be followed.
std::optional<Known> follow_elementwise(ElementFn fn, const std::vector<const Term*>& xs,
                                        const Shape& result) {
  if (!all_known(xs)) return std::nullopt;
  const std::optional<Ints> shape = static_shape(result);
  int64_t largest = 0;
  for (const Term* x : xs) {
    if (!stretches_to(x->shape(), result)) return std::nullopt;
    largest = std::max(largest, x->known->size());
  }
  if (!shape || !worth_following(elements_in(*shape), largest)) return std::nullopt;
  std::vector<Known> stretched_operands;
  for (const Term* x : xs) stretched_operands.push_back(stretched(*x->known, *shape));
  std::vector<const Known*> operands;
  for (const Known& k : stretched_operands) operands.push_back(&k);
  return fold_elementwise(fn, operands);
}

bool is_known_one(const Term& x) {
  return x.known && x.known->is_splat() &&
         (x.known->is_float_type() ? x.known->floats[0] == 1 : x.known->ints[0] == Dim(1));
}

/// An arithmetic progression along one dimension, the others being 1.
struct Progression {
  int64_t dim = 0;
  int64_t step = 0;
};

std::optional<Progression> progression_of(const Known& known) {
  if (known.is_float_type() || known.dtype == DType::Bool || known.size() < 3) return std::nullopt;
  const auto whole = std::find(known.shape.begin(), known.shape.end(), known.size());
  if (whole == known.shape.end()) return std::nullopt;
  const int64_t step = known.ints[1].factor() - known.ints[0].factor();
  for (size_t i = 1; i < known.ints.size(); ++i) {
    if (known.ints[i].factor() - known.ints[i - 1].factor() != step) return std::nullopt;
  }
  if (step == 0) return std::nullopt;
  return Progression{whole - known.shape.begin(), step};
}

}  // namespace

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    if (result[lead + i] == Dim(1)) result[lead + i] = shorter[i];
  }
  return result;
}

ValueId Folder::id(const Term& term) {
  if (term.id.valid()) return term.id;
  WAFER_CHECK(term.known != nullptr);
  const auto found = constants_.find(term.known);
  if (found != constants_.end()) return found->second;
  const ValueId made =
      term.known->is_static() ? materialize(*term.known) : symbolic_value(*term.known);
  constants_.emplace(term.known, made);
  return made;
}

std::vector<ValueId> Folder::ids(const Terms& terms) {
  std::vector<ValueId> result;
  for (const Term& t : terms) result.push_back(id(t));
  return result;
}

ValueId Folder::materialize(const Known& known) {
  const std::optional<Progression> progression = progression_of(known);
  if (!progression) return builder_.literal(literal_of(known));
  const TensorType type = known.type();
  ValueId value = builder_.iota(type, progression->dim);
  if (progression->step != 1) {
    const auto step = static_cast<double>(progression->step);
    value = builder_.multiply(value, builder_.scalar(step, type.dtype));
  }
  if (known.ints[0] == Dim(0)) return value;
  return builder_.add(value,
                      builder_.scalar(static_cast<double>(known.ints[0].factor()), type.dtype));
}

/// A value that depends on open symbols: each element is counted, as a sum of that many ones.
ValueId Folder::symbolic_value(const Known& known) {
  std::vector<ValueId> elements;
  for (const Dim& d : known.ints) {
    if (d.is_static()) {
      elements.push_back(builder_.constant(static_cast<double>(d.factor()), {known.dtype, {1}}));
      continue;
    }
    const ValueId ones = builder_.constant(1, {known.dtype, {d}});
    elements.push_back(builder_.reshape(builder_.reduce_sum(ones, {0}), {1}));
  }
  const ValueId all =
      elements.size() == 1 ? elements.front() : builder_.concatenate(std::move(elements), 0);
  return builder_.reshape(all, known.type().shape);
}

Term Folder::term(ValueId id) { return {.type = builder_.type_of(id), .known = {}, .id = id}; }

Terms Folder::terms(const std::vector<ValueId>& ids) {
  Terms result;
  for (ValueId id : ids) result.push_back(term(id));
  return result;
}

Term Folder::known(Known elements) { return known_term(std::move(elements)); }

Term Folder::constant(double value, const TensorType& type) {
  const std::optional<Ints> shape = static_shape(type.shape);
  if (!shape || !worth_following(elements_in(*shape), 1)) {
    return term(builder_.constant(value, type));
  }
  const auto count = static_cast<size_t>(elements_in(*shape));
  Known result{.dtype = type.dtype, .shape = *shape, .ints = {}, .floats = {}};
  if (is_float(type.dtype)) {
    result.floats.assign(count, round_to(type.dtype, value));
  } else {
    result.ints.assign(count, Dim(static_cast<int64_t>(value)));
  }
  return known_term(std::move(result));
}

Term Folder::iota(const TensorType& type, int64_t dim) { return term(builder_.iota(type, dim)); }

Term Folder::unary(ElementFn fn, const Term& x) {
  if (auto folded = follow_elementwise(fn, {&x}, x.shape())) return known_term(std::move(*folded));
  return term(builder_.unary(fn, id(x)));
}

Term Folder::binary(ElementFn fn, const Term& a, const Term& b) {
  const Shape shape = broadcast_shape(a.shape(), b.shape());
  if (auto folded = follow_elementwise(fn, {&a, &b}, shape)) return known_term(std::move(*folded));
  const bool keeps = fn == ElementFn::Multiply || fn == ElementFn::Divide;
  if (keeps && is_known_one(b) && a.shape() == shape && a.dtype() == b.dtype()) return a;
  if (fn == ElementFn::Multiply && is_known_one(a) && b.shape() == shape &&
      a.dtype() == b.dtype()) {
    return b;
  }
  return term(builder_.binary(fn, id(a), id(b)));
}

Term Folder::select(const Term& predicate, const Term& on_true, const Term& on_false) {
  const Shape shape =
      broadcast_shape(predicate.shape(), broadcast_shape(on_true.shape(), on_false.shape()));
  if (predicate.known && predicate.known->is_splat()) {
    const Term& chosen = predicate.known->ints[0] == Dim(0) ? on_false : on_true;
    if (on_true.dtype() == on_false.dtype()) return broadcast_to(chosen, shape);
  }
  if (auto folded =
          follow_elementwise(ElementFn::Select, {&predicate, &on_true, &on_false}, shape)) {
    return known_term(std::move(*folded));
  }
  return term(builder_.select(id(predicate), id(on_true), id(on_false)));
}

Term Folder::convert(const Term& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (x.known) {
    if (auto folded = fold_convert(*x.known, dtype)) return known_term(std::move(*folded));
  }
  return term(builder_.convert(id(x), dtype));
}

Term Folder::reshape(const Term& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const std::optional<Ints> sizes = static_shape(shape);
  if (x.known && sizes && elements_in(*sizes) == x.known->size()) {
    Known copy = *x.known;
    copy.shape = *sizes;
    return known_term(std::move(copy));
  }
  return term(builder_.reshape(id(x), shape));
}

Term Folder::transpose(const Term& x, const Ints& permutation) {
  Ints same(permutation.size());
  std::iota(same.begin(), same.end(), 0);
  if (permutation == same) return x;
  if (!x.known) return term(builder_.transpose(id(x), permutation));
  const Ints own = strides_of(x.known->shape);
  Ints shape, strides;
  for (int64_t p : permutation) {
    shape.push_back(x.known->shape[static_cast<size_t>(p)]);
    strides.push_back(own[static_cast<size_t>(p)]);
  }
  return known_term(fold_view(*x.known, shape, strides));
}

Term Folder::transpose_last(const Term& x) {
  Ints permutation(static_cast<size_t>(x.rank()));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return transpose(x, permutation);
}

Term Folder::slice(const Term& x, const Ints& starts, const Ints& limits, const Ints& strides) {
  bool whole = true;
  for (size_t d = 0; d < starts.size(); ++d) {
    const bool all = starts[d] == 0 && (strides.empty() || strides[d] == 1) &&
                     (limits[d] == -1 || x.dim(d) == Dim(limits[d]));
    whole = whole && all;
  }
  if (whole) return x;
  if (!x.known) return term(builder_.slice(id(x), starts, limits, strides));
  const Ints own = strides_of(x.known->shape);
  Ints shape, steps;
  int64_t offset = 0;
  for (size_t d = 0; d < starts.size(); ++d) {
    const int64_t step = strides.empty() ? 1 : strides[d];
    const int64_t limit = limits[d] == -1 ? x.known->shape[d] : limits[d];
    shape.push_back(std::max<int64_t>(0, (limit - starts[d] + step - 1) / step));
    steps.push_back(own[d] * step);
    offset += own[d] * starts[d];
  }
  return known_term(fold_view(*x.known, shape, steps, offset));
}

Term Folder::slice_dim(const Term& x, int64_t dim, int64_t start, int64_t limit) {
  Ints starts(static_cast<size_t>(x.rank()), 0), limits(static_cast<size_t>(x.rank()), -1);
  starts[static_cast<size_t>(dim)] = start;
  limits[static_cast<size_t>(dim)] = limit;
  return slice(x, starts, limits);
}

Term Folder::reverse(const Term& x, const Ints& dims) {
  if (!x.known) return emit(OpKind::Reverse, {x}, {{AttrKey::Dims, dims}});
  Ints strides = strides_of(x.known->shape);
  int64_t offset = 0;
  for (int64_t d : dims) {
    int64_t& stride = strides[static_cast<size_t>(d)];
    offset += stride * std::max<int64_t>(0, x.known->shape[static_cast<size_t>(d)] - 1);
    stride = -stride;
  }
  return known_term(fold_view(*x.known, x.known->shape, strides, offset));
}

Term Folder::concatenate(const Terms& xs, int64_t dim) {
  // An operand without elements adds nothing (a cache before the first token).
  Terms parts;
  for (const Term& x : xs) {
    if (x.dim(static_cast<size_t>(dim)) != Dim(0)) parts.push_back(x);
  }
  if (parts.empty()) return xs.front();
  if (parts.size() == 1) return parts.front();
  std::vector<const Known*> known;
  for (const Term& x : parts) {
    if (x.known) known.push_back(x.known.get());
  }
  if (known.size() == parts.size()) return known_term(fold_concatenate(known, dim));
  return term(builder_.concatenate(ids(parts), dim));
}

Term Folder::broadcast_to(const Term& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const std::optional<int64_t> count = static_count(shape);
  if (x.known && count && worth_following(*count, x.known->size()) &&
      stretches_to(x.shape(), shape)) {
    return known_term(stretched(*x.known, *static_shape(shape)));
  }
  return term(builder_.broadcast_to(id(x), shape));
}

Term Folder::broadcast_in_dim(const Term& x, const Shape& shape, const Ints& dims) {
  return term(builder_.broadcast_in_dim(id(x), shape, dims));
}

Term Folder::reduce(ElementFn fn, const Term& x, const Ints& dims) {
  if (dims.empty()) return x;
  if (x.known) {
    if (auto folded = fold_reduce(fn, *x.known, dims)) return known_term(std::move(*folded));
  }
  return term(builder_.reduce(fn, id(x), dims));
}

Term Folder::reduce_mean(const Term& x, const Ints& dims) {
  if (dims.empty()) return x;
  return term(builder_.reduce_mean(id(x), dims));
}

Term Folder::emit(OpKind kind, const Terms& operands, ir::Attributes attrs,
                  const std::vector<TensorType>& declared) {
  return term(builder_.emit1(kind, ids(operands), std::move(attrs), declared));
}

Term Folder::dot_general(const Term& a, const Term& b, const ir::DimPairs& contract,
                         const ir::DimPairs& batch) {
  return term(builder_.dot_general(id(a), id(b), contract, batch));
}

}  // namespace wafer::importers
