#include "wafer/ir/builder.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "wafer/base/error.h"
#include "wafer/ir/infer.h"

namespace wafer::ir {
namespace {

/// The element of an integer type or bool that is nearest to x; u64 as its bits. Doubles cannot
/// hold the largest 64-bit numbers, so those are compared apart.
int64_t integer_of(DType type, double x) {
  constexpr double Past63 = 9223372036854775808.0;
  if (type == DType::I64 && x >= Past63) return INT64_MAX;
  if (type == DType::U64 && x >= Past63) {
    return static_cast<int64_t>(x >= 2 * Past63 ? UINT64_MAX : static_cast<uint64_t>(x));
  }
  return static_cast<int64_t>(round_to(type, x));
}

double neutral_element(ElementFn fn, DType type) {
  switch (fn) {
    case ElementFn::Add:
    case ElementFn::Or:
    case ElementFn::Xor:
      return 0;
    case ElementFn::Multiply:
      return 1;
    case ElementFn::And:  // all bits
      return is_signed_integer(type) ? -1 : HUGE_VAL;
    case ElementFn::Maximum:
      return type == DType::Bool ? 0 : -HUGE_VAL;
    case ElementFn::Minimum:
      return HUGE_VAL;
    default:
      throw InternalError("not a reduction: " + std::string(name_of(fn)));
  }
}

Ints trailing_dims(int from_rank, int to_rank) {
  Ints dims(static_cast<size_t>(from_rank));
  std::iota(dims.begin(), dims.end(), to_rank - from_rank);
  return dims;
}

/// The shape that both operands of an element-wise op are stretched to.
Shape common_shape(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t lead = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    if (result[lead + i] == Dim(1)) result[lead + i] = shorter[i];
  }
  return result;
}

}  // namespace

ValueId Builder::input(const std::string& name, TensorType type, Role role) {
  return function().add_input(name, std::move(type), role);
}

void Builder::output(const std::string& name, ValueId value) {
  function().outputs.push_back({name, value});
}

std::vector<ValueId> Builder::emit(OpKind kind, std::vector<ValueId> operands, Attributes attrs,
                                   const std::vector<TensorType>& declared) {
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (ValueId v : operands) types.push_back(type_of(v));
  const std::vector<TensorType> results = infer_types(graph_, kind, types, attrs, declared);
  Op op{.kind = kind,
        .operands = std::move(operands),
        .results = {},
        .attrs = std::move(attrs),
        .phase = phase,
        .layer = layer,
        .scope = scope,
        .location = location};
  return function().op(function().append(std::move(op), results)).results;
}

ValueId Builder::emit1(OpKind kind, std::vector<ValueId> operands, Attributes attrs,
                       const std::vector<TensorType>& declared) {
  const std::vector<ValueId> results = emit(kind, std::move(operands), std::move(attrs), declared);
  WAFER_CHECK(results.size() == 1, std::string(name_of(kind)));
  return results.front();
}

ValueId Builder::constant(double value, TensorType type) {
  Literal literal;
  literal.type = std::move(type);
  literal.splat = true;
  const DType dtype = literal.type.dtype;
  if (is_float(dtype)) {
    literal.floats = {value};
  } else {
    literal.integers = {integer_of(dtype, value)};
  }
  return this->literal(std::move(literal));
}

ValueId Builder::literal(Literal literal) {
  const TensorType type = literal.type;
  for (double& x : literal.floats) x = round_to(type.dtype, x);
  auto ref = std::make_shared<const Literal>(std::move(literal));
  return emit1(OpKind::Constant, {}, {{AttrKey::Value, LiteralRef(std::move(ref))}}, {type});
}

ValueId Builder::iota(TensorType type, int64_t dim) {
  return emit1(OpKind::Iota, {}, {{AttrKey::Dim, dim}}, {std::move(type)});
}

ValueId Builder::unary(ElementFn fn, ValueId x) {
  return emit1(OpKind::Elementwise, {x}, {{AttrKey::Fn, fn}});
}

ValueId Builder::binary(ElementFn fn, ValueId a, ValueId b) {
  const Shape shape = common_shape(shape_of(a), shape_of(b));
  return emit1(OpKind::Elementwise, {broadcast_to(a, shape), broadcast_to(b, shape)},
               {{AttrKey::Fn, fn}});
}

ValueId Builder::multiply(ValueId a, double k) { return multiply(a, scalar(k, type_of(a).dtype)); }
ValueId Builder::add(ValueId a, double k) { return add(a, scalar(k, type_of(a).dtype)); }

ValueId Builder::select(ValueId predicate, ValueId on_true, ValueId on_false) {
  const Shape shape =
      common_shape(shape_of(predicate), common_shape(shape_of(on_true), shape_of(on_false)));
  return emit1(
      OpKind::Elementwise,
      {broadcast_to(predicate, shape), broadcast_to(on_true, shape), broadcast_to(on_false, shape)},
      {{AttrKey::Fn, ElementFn::Select}});
}

ValueId Builder::convert(ValueId x, DType dtype) {
  if (type_of(x).dtype == dtype) return x;
  return emit1(OpKind::Convert, {x}, {}, {{dtype, shape_of(x)}});
}

ValueId Builder::broadcast_to(ValueId x, const Shape& shape) {
  const Shape from = shape_of(x);
  if (from == shape) return x;
  if (from.size() > shape.size()) {
    throw InputError(
        fmt::format("{} does not broadcast to rank {}", type_of(x).text(), shape.size()));
  }
  return broadcast_in_dim(
      x, shape, trailing_dims(static_cast<int>(from.size()), static_cast<int>(shape.size())));
}

ValueId Builder::broadcast_in_dim(ValueId x, const Shape& shape, Ints dims) {
  return emit1(OpKind::BroadcastInDim, {x}, {{AttrKey::Dims, std::move(dims)}},
               {{type_of(x).dtype, shape}});
}

ValueId Builder::reshape(ValueId x, Shape shape) {
  if (shape_of(x) == shape) return x;
  return emit1(OpKind::Reshape, {x}, {}, {{type_of(x).dtype, std::move(shape)}});
}

ValueId Builder::transpose(ValueId x, Ints permutation) {
  return emit1(OpKind::Transpose, {x}, {{AttrKey::Permutation, std::move(permutation)}});
}

ValueId Builder::slice(ValueId x, Ints starts, Ints limits, Ints strides) {
  if (strides.empty()) strides.assign(starts.size(), 1);
  return emit1(OpKind::Slice, {x},
               {{AttrKey::Starts, std::move(starts)},
                {AttrKey::Limits, std::move(limits)},
                {AttrKey::Strides, std::move(strides)}});
}

ValueId Builder::concatenate(std::vector<ValueId> xs, int64_t dim) {
  return emit1(OpKind::Concatenate, std::move(xs), {{AttrKey::Dim, dim}});
}

ValueId Builder::reduce(ElementFn fn, ValueId x, Ints dims) {
  const DType dtype = type_of(x).dtype;
  const ValueId initial = scalar(neutral_element(fn, dtype), dtype);
  return emit1(OpKind::Reduce, {x, initial}, {{AttrKey::Fn, fn}, {AttrKey::Dims, std::move(dims)}});
}

ValueId Builder::reduce_mean(ValueId x, Ints dims) {
  Dim count(1);
  for (int64_t d : dims) count = count * shape_of(x)[static_cast<size_t>(d)];
  const ValueId sum = reduce_sum(x, dims);
  if (count.is_static()) return multiply(sum, 1.0 / static_cast<double>(count.value()));
  return divide(sum, reduce_sum(constant(1, type_of(x)), std::move(dims)));
}

ValueId Builder::dot_general(ValueId a, ValueId b, DimPairs contract, DimPairs batch) {
  Attributes attrs{{AttrKey::Contract, std::move(contract)}};
  if (!batch.lhs.empty() || !batch.rhs.empty()) attrs.set(AttrKey::Batch, std::move(batch));
  return emit1(OpKind::DotGeneral, {a, b}, std::move(attrs));
}

ValueId Builder::matmul(ValueId x, ValueId w) {
  return dot_general(x, w, {{type_of(x).rank() - 1}, {0}});
}

ValueId Builder::take_rows(ValueId table, ValueId indices) {
  const int64_t rank = type_of(indices).rank();
  const Dim row = shape_of(table)[1];
  const int64_t width = row.is_static() ? row.value() : -1;
  return emit1(OpKind::Gather, {table, indices},
               {{AttrKey::OffsetDims, Ints{rank}},
                {AttrKey::CollapsedDims, Ints{0}},
                {AttrKey::StartIndexMap, Ints{0}},
                {AttrKey::IndexVectorDim, rank},
                {AttrKey::Sizes, Ints{1, width}}});
}

ValueId Builder::layer_norm(ValueId x, ValueId scale, ValueId bias, double epsilon) {
  return emit1(OpKind::LayerNorm, {x, scale, bias}, {{AttrKey::Epsilon, epsilon}});
}

ValueId Builder::rms_norm(ValueId x, ValueId scale, double epsilon) {
  return emit1(OpKind::RmsNorm, {x, scale}, {{AttrKey::Epsilon, epsilon}});
}

ValueId Builder::softmax(ValueId x) { return emit1(OpKind::Softmax, {x}); }

ValueId Builder::gelu(ValueId x, bool tanh_approximation) {
  return emit1(OpKind::Gelu, {x},
               {{AttrKey::Approximate, std::string(tanh_approximation ? "tanh" : "none")}});
}

ValueId Builder::attention(ValueId q, ValueId k, ValueId v, ValueId bias, double scale,
                           bool causal) {
  std::vector<ValueId> operands = {q, k, v};
  if (bias.valid()) operands.push_back(bias);
  return emit1(OpKind::Attention, std::move(operands),
               {{AttrKey::Scale, scale}, {AttrKey::Causal, causal}});
}

ValueId Builder::cross_entropy(ValueId logits, ValueId labels, int64_t ignore_index) {
  return emit1(OpKind::CrossEntropy, {logits, labels}, {{AttrKey::IgnoreIndex, ignore_index}});
}

std::vector<ValueId> Builder::call(FunctionId callee, std::vector<ValueId> operands) {
  return emit(OpKind::Call, std::move(operands), {{AttrKey::Body, callee}});
}

}  // namespace wafer::ir
