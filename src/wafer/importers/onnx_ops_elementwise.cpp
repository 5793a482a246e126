// Element-wise functions that have a counterpart of their own, and casts.
#include <array>

#include "wafer/importers/onnx_ops.h"
#include "wafer/importers/onnx_tensor.h"

namespace wafer::importers {
namespace {

using ir::ElementFn;

template <ElementFn Fn>
Terms unary(OnnxCall& c) {
  return {c.fold.unary(Fn, c.in(0))};
}

template <ElementFn Fn>
Terms binary(OnnxCall& c) {
  return {c.fold.binary(Fn, c.in(0), c.in(1))};
}

/// Sum, Min, Max: any number of operands.
template <ElementFn Fn>
Terms variadic(OnnxCall& c) {
  Term result = c.in(0);
  for (size_t i = 1; i < c.input_count(); ++i) result = c.fold.binary(Fn, result, c.in(i));
  return {result};
}

Terms mean(OnnxCall& c) {
  const Term sum = variadic<ElementFn::Add>(c).front();
  return {c.fold.multiply(sum, 1.0 / static_cast<double>(c.input_count()))};
}

Terms power(OnnxCall& c) {
  const Term& x = c.in(0);
  const Term& y = c.in(1);
  const bool is_float_scalar = y.known && y.known->is_splat() && y.known->is_float_type();
  const bool keeps_shape = broadcast_shape(x.shape(), y.shape()) == x.shape();
  if (is_float_scalar && keeps_shape && is_float(x.dtype())) {
    if (y.known->floats[0] == 2) return {c.fold.multiply(x, x)};
    if (y.known->floats[0] == 0.5) return {c.fold.unary(ElementFn::Sqrt, x)};
  }
  // The base gives the type, but an integer base must not cut the exponent.
  if (is_float(x.dtype()) || !is_float(y.dtype())) {
    return {c.fold.binary(ElementFn::Power, x, c.fold.convert(y, x.dtype()))};
  }
  const Term result = c.fold.binary(ElementFn::Power, c.fold.convert(x, y.dtype()), y);
  return {c.fold.convert(result, x.dtype())};
}

bool is_unsigned(DType dtype) { return is_integer(dtype) && !is_signed_integer(dtype); }

/// The sign of the result is that of the divisor (fmod = 0) or of the dividend (1).
Terms modulo(OnnxCall& c) {
  const Term& x = c.in(0);
  const Term& y = c.in(1);
  const Term remainder = c.fold.binary(ElementFn::Remainder, x, y);
  if (c.integer("fmod", 0) == 1 || is_unsigned(x.dtype())) return {remainder};
  const Term zero = c.fold.scalar(0, x.dtype());
  const Term crossed =
      c.fold.binary(ElementFn::NotEqual, c.fold.binary(ElementFn::Less, remainder, zero),
                    c.fold.binary(ElementFn::Less, y, zero));
  const Term moved =
      c.fold.binary(ElementFn::And, crossed, c.fold.binary(ElementFn::NotEqual, remainder, zero));
  return {c.fold.select(moved, c.fold.add(remainder, y), remainder)};
}

Terms shift(OnnxCall& c) {
  const ElementFn right =
      is_unsigned(c.in(0).dtype()) ? ElementFn::ShiftRightLogical : ElementFn::ShiftRightArithmetic;
  const bool left = c.text("direction", "") == "LEFT";
  return {c.fold.binary(left ? ElementFn::ShiftLeft : right, c.in(0), c.in(1))};
}

Terms where(OnnxCall& c) { return {c.fold.select(c.in(0), c.in(1), c.in(2))}; }

Terms is_infinite(OnnxCall& c) {
  const Term& x = c.in(0);
  const Term zero = c.fold.scalar(0, x.dtype());
  // Neither finite nor NaN.
  Term result = c.fold.unary(ElementFn::Not,
                             c.fold.binary(ElementFn::Or, c.fold.unary(ElementFn::IsFinite, x),
                                           c.fold.unary(ElementFn::IsNan, x)));
  if (c.integer("detect_negative", 1) == 0) {
    result = c.fold.binary(ElementFn::And, result, c.fold.binary(ElementFn::Greater, x, zero));
  }
  if (c.integer("detect_positive", 1) == 0) {
    result = c.fold.binary(ElementFn::And, result, c.fold.binary(ElementFn::Less, x, zero));
  }
  return {result};
}

Terms identity(OnnxCall& c) { return {c.in(0)}; }

/// Identity in inference, which is what is exported.
Terms dropout(OnnxCall& c) {
  Terms results = {c.in(0)};
  if (c.wants(1)) results.push_back(c.fold.constant(1, {DType::Bool, c.in(0).shape()}));
  return results;
}

Terms cast_to(OnnxCall& c, DType dtype) {
  const Term& x = c.in(0);
  if (dtype != DType::Bool || x.known) return {c.fold.convert(x, dtype)};
  return {c.fold.binary(ElementFn::NotEqual, x, c.fold.scalar(0, x.dtype()))};
}

Terms cast(OnnxCall& c) {
  const int64_t to = c.integer("to");
  const auto dtype = dtype_of(static_cast<int32_t>(to));
  if (!dtype) c.refuse("casts to " + onnx_type_name(static_cast<int32_t>(to)));
  if (c.in(0).dtype() == *dtype) return {c.in(0)};
  return cast_to(c, *dtype);
}

Terms cast_like(OnnxCall& c) {
  if (c.in(0).dtype() == c.in(1).dtype()) return {c.in(0)};
  return cast_to(c, c.in(1).dtype());
}

/// Scale or zero point of a quantized x: one number, or one along `axis`.
Term quantization_step(OnnxCall& c, size_t i) {
  const Term& step = c.in(i);
  const Term& x = c.in(0);
  const int64_t axis = c.integer("axis", 1);
  if (c.integer("block_size", 0) != 0) c.refuse("quantization in blocks");
  if (step.rank() == 0 || element_count(step.shape()) == Dim(1)) return c.fold.reshape(step, {});
  if (step.rank() != 1) c.refuse("a scale or zero point " + step.type.text());
  Shape shape(static_cast<size_t>(x.rank()), Dim(1));
  shape[static_cast<size_t>(c.axis(axis, x.rank()))] = step.dim(0);
  return c.fold.reshape(step, shape);
}

/// (x - zero point) scale
Terms dequantize(OnnxCall& c) {
  const Term scale = quantization_step(c, 1);
  Term x = c.fold.convert(c.in(0), scale.dtype());
  if (c.has(2)) x = c.fold.subtract(x, c.fold.convert(quantization_step(c, 2), scale.dtype()));
  return {c.fold.multiply(x, scale)};
}

/// round(x / scale) + zero point, cut to the range of its type; conversion does that.
Terms quantize(OnnxCall& c) {
  const Term scale = quantization_step(c, 1);
  DType dtype = DType::U8;
  if (c.has(2)) dtype = c.in(2).dtype();
  const int64_t declared = c.integer("output_dtype", 0);
  if (!c.has(2) && declared != 0) {
    const auto given = dtype_of(static_cast<int32_t>(declared));
    if (!given) c.refuse("quantizes to " + onnx_type_name(static_cast<int32_t>(declared)));
    dtype = *given;
  }
  Term x = c.fold.divide(c.fold.convert(c.in(0), scale.dtype()), scale);
  if (is_integer(dtype)) x = c.fold.unary(ElementFn::Round, x);
  if (c.has(2)) x = c.fold.add(x, c.fold.convert(quantization_step(c, 2), scale.dtype()));
  return {c.fold.convert(x, dtype)};
}

Terms tangent(OnnxCall& c) {
  return {
      c.fold.divide(c.fold.unary(ElementFn::Sin, c.in(0)), c.fold.unary(ElementFn::Cos, c.in(0)))};
}

Terms arc_tangent(OnnxCall& c) {
  return {c.fold.binary(ElementFn::Atan2, c.in(0), c.fold.scalar(1, c.in(0).dtype()))};
}

Terms hyperbolic(OnnxCall& c, double sign) {
  const Term rising = c.fold.unary(ElementFn::Exp, c.in(0));
  const Term falling = c.fold.unary(ElementFn::Exp, c.fold.unary(ElementFn::Negate, c.in(0)));
  return {c.fold.multiply(c.fold.add(rising, c.fold.multiply(falling, sign)), 0.5)};
}
Terms sinh(OnnxCall& c) { return hyperbolic(c, -1); }
Terms cosh(OnnxCall& c) { return hyperbolic(c, 1); }

constexpr auto Ops = std::to_array<OnnxOp>({
    {"Abs", unary<ElementFn::Abs>},
    {"Add", binary<ElementFn::Add>},
    {"And", binary<ElementFn::And>},
    {"Atan", arc_tangent},
    {"BitShift", shift},
    {"BitwiseAnd", binary<ElementFn::And>},
    {"BitwiseNot", unary<ElementFn::Not>},
    {"BitwiseOr", binary<ElementFn::Or>},
    {"BitwiseXor", binary<ElementFn::Xor>},
    {"Cast", cast},
    {"CastLike", cast_like},
    {"Ceil", unary<ElementFn::Ceil>},
    {"Cos", unary<ElementFn::Cos>},
    {"Cosh", cosh},
    {"DequantizeLinear", dequantize},
    {"Div", binary<ElementFn::Divide>},
    {"Dropout", dropout},
    {"Equal", binary<ElementFn::Equal>},
    {"Erf", unary<ElementFn::Erf>},
    {"Exp", unary<ElementFn::Exp>},
    {"Floor", unary<ElementFn::Floor>},
    {"Greater", binary<ElementFn::Greater>},
    {"GreaterOrEqual", binary<ElementFn::GreaterEqual>},
    {"Identity", identity},
    {"IsInf", is_infinite},
    {"IsNaN", unary<ElementFn::IsNan>},
    {"Less", binary<ElementFn::Less>},
    {"LessOrEqual", binary<ElementFn::LessEqual>},
    {"Log", unary<ElementFn::Log>},
    {"Max", variadic<ElementFn::Maximum>},
    {"Mean", mean},
    {"Min", variadic<ElementFn::Minimum>},
    {"Mod", modulo},
    {"Mul", binary<ElementFn::Multiply>},
    {"Neg", unary<ElementFn::Negate>},
    {"Not", unary<ElementFn::Not>},
    {"Or", binary<ElementFn::Or>},
    {"Pow", power},
    {"QuantizeLinear", quantize},
    {"Reciprocal", unary<ElementFn::Reciprocal>},
    {"Round", unary<ElementFn::Round>},
    {"Sigmoid", unary<ElementFn::Logistic>},
    {"Sign", unary<ElementFn::Sign>},
    {"Sin", unary<ElementFn::Sin>},
    {"Sinh", sinh},
    {"Sqrt", unary<ElementFn::Sqrt>},
    {"Sub", binary<ElementFn::Subtract>},
    {"Sum", variadic<ElementFn::Add>},
    {"Tan", tangent},
    {"Tanh", unary<ElementFn::Tanh>},
    {"Where", where},
    {"Xor", binary<ElementFn::Xor>},
});

}  // namespace

std::span<const OnnxOp> onnx_elementwise_ops() { return Ops; }

}  // namespace wafer::importers
