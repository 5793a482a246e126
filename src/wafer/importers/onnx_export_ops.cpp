#include "wafer/importers/onnx_export_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "wafer/importers/onnx_exporter.h"
#include "wafer/importers/onnx_tensor.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;

int64_t export_type(DType dtype) {
  const std::optional<OnnxType> type = onnx_type_of(dtype);
  if (!type) OnnxExporter::refuse(fmt::format("ONNX has no type {}", name_of(dtype)));
  return static_cast<int64_t>(*type);
}

bool is_neutral_element(ElementFn fn, std::optional<double> x, DType dtype) {
  const double most = is_float(dtype) ? HUGE_VAL : round_to(dtype, HUGE_VAL);
  const double least = is_float(dtype) ? -HUGE_VAL : round_to(dtype, -HUGE_VAL);
  switch (fn) {
    case ElementFn::Add:
      return x == 0.0;
    case ElementFn::Multiply:
      return x == 1.0;
    case ElementFn::Maximum:
      return x == least;
    default:
      return x == most;
  }
}

namespace {

Ports constant(const ExportCall& c) {
  const auto& literal = c.op.attrs.get<ir::LiteralRef>(AttrKey::Value);
  if (literal->elided) OnnxExporter::refuse("the elements of a constant were left out");
  return {{.type = c.types[0], .name = {}, .narrow = {}, .constant = literal}};
}

/// 0, 1, .. below the dimension, with dimensions of 1 behind it up to the rank.
Ports iota(const ExportCall& c) {
  const TensorType& type = c.types[0];
  const auto dim = static_cast<size_t>(c.op.attrs.get<int64_t>(AttrKey::Dim));
  const bool direct = type.dtype == DType::F32 || type.dtype == DType::F64 ||
                      type.dtype == DType::I16 || type.dtype == DType::I32 ||
                      type.dtype == DType::I64;
  const DType counted = direct ? type.dtype : DType::I64;
  const Dim& size = type.shape[dim];
  std::string limit;
  if (size.is_static()) {
    limit = c.out.scalar(static_cast<double>(size.value()), counted);
  } else {
    limit = c.out.node("Squeeze", {c.to.dims({size})});
    limit = c.out.node("Cast", {limit}, {{"to", export_type(counted)}});
  }
  std::string value =
      c.out.node("Range", {c.out.scalar(0, counted), limit, c.out.scalar(1, counted)});
  if (!direct) value = c.out.node("Cast", {value}, {{"to", export_type(type.dtype)}});
  Shape column(type.shape.begin() + static_cast<std::ptrdiff_t>(dim), type.shape.end());
  std::fill(column.begin() + 1, column.end(), Dim(1));
  value = c.to.reshape(value, {size}, column);
  return {{.type = type, .name = type.rank() == 1 ? value : "", .narrow = value}};
}

const char* element_node(ElementFn fn, bool logical) {
  switch (fn) {
    case ElementFn::Abs:
      return "Abs";
    case ElementFn::Negate:
      return "Neg";
    case ElementFn::Sign:
      return "Sign";
    case ElementFn::Floor:
      return "Floor";
    case ElementFn::Ceil:
      return "Ceil";
    case ElementFn::Round:
      return "Round";
    case ElementFn::Exp:
      return "Exp";
    case ElementFn::Log:
      return "Log";
    case ElementFn::Sqrt:
      return "Sqrt";
    case ElementFn::Reciprocal:
      return "Reciprocal";
    case ElementFn::Sin:
      return "Sin";
    case ElementFn::Cos:
      return "Cos";
    case ElementFn::Tanh:
      return "Tanh";
    case ElementFn::Logistic:
      return "Sigmoid";
    case ElementFn::Erf:
      return "Erf";
    case ElementFn::Not:
      return logical ? "Not" : "BitwiseNot";
    case ElementFn::IsNan:
      return "IsNaN";
    case ElementFn::Add:
      return "Add";
    case ElementFn::Subtract:
      return "Sub";
    case ElementFn::Multiply:
      return "Mul";
    case ElementFn::Divide:
      return "Div";
    case ElementFn::Power:
      return "Pow";
    case ElementFn::Maximum:
      return "Max";
    case ElementFn::Minimum:
      return "Min";
    case ElementFn::And:
      return logical ? "And" : "BitwiseAnd";
    case ElementFn::Or:
      return logical ? "Or" : "BitwiseOr";
    case ElementFn::Xor:
      return logical ? "Xor" : "BitwiseXor";
    case ElementFn::Equal:
      return "Equal";
    case ElementFn::Less:
      return "Less";
    case ElementFn::LessEqual:
      return "LessOrEqual";
    case ElementFn::Greater:
      return "Greater";
    case ElementFn::GreaterEqual:
      return "GreaterOrEqual";
    case ElementFn::Select:
      return "Where";
    default:
      return nullptr;
  }
}

/// Functions that ONNX has no node for.
std::string composed(const ExportCall& c, ElementFn fn, const std::vector<std::string>& x) {
  switch (fn) {
    case ElementFn::Rsqrt:
      return c.out.node("Reciprocal", {c.out.node("Sqrt", x)});
    case ElementFn::Expm1:
      return c.out.node("Sub", {c.out.node("Exp", x), c.scalar(1)});
    case ElementFn::Log1p:
      return c.out.node("Log", {c.out.node("Add", {x[0], c.scalar(1)})});
    case ElementFn::Remainder:
      return c.out.node("Mod", x, {{"fmod", int64_t{1}}});
    case ElementFn::NotEqual:
      return c.out.node("Not", {c.out.node("Equal", x)});
    case ElementFn::IsFinite:
      return c.out.node("Not",
                        {c.out.node("Or", {c.out.node("IsInf", x), c.out.node("IsNaN", x)})});
    case ElementFn::Clamp:
      return c.out.node("Min", {c.out.node("Max", {x[1], x[0]}), x[2]});
    default:
      OnnxExporter::refuse(fmt::format("{} has no form in ONNX", name_of(fn)));
  }
}

Ports elementwise(const ExportCall& c) {
  const auto fn = c.op.attrs.get<ElementFn>(AttrKey::Fn);
  // At least one operand has the whole shape, unless they stretch each other to it: those that are
  // only stretched may not.
  const bool has_whole = std::any_of(c.operands.begin(), c.operands.end(), [](const Port* p) {
    return p->narrow.empty() && !p->splat();
  });
  std::vector<std::string> inputs;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const bool keep_whole = !has_whole && i == 0;
    inputs.push_back(keep_whole ? c.to.whole(*c.operands[i]) : c.to.stretching(*c.operands[i]));
  }
  const char* node = element_node(fn, c.type(0).dtype == DType::Bool);
  return c.one(node != nullptr ? c.out.node(node, inputs) : composed(c, fn, inputs));
}

Ports convert(const ExportCall& c) {
  return c.one(c.out.node("Cast", {c.in(0)}, {{"to", export_type(c.types[0].dtype)}}));
}

Ports broadcast(const ExportCall& c) {
  const Ints& dims = c.list(AttrKey::Dims);
  if (!std::is_sorted(dims.begin(), dims.end())) {
    OnnxExporter::refuse("exchanges dimensions while broadcasting");
  }
  const auto rank = static_cast<int64_t>(c.types[0].shape.size());
  const int64_t first = dims.empty() ? rank : dims.front();
  Shape aligned(static_cast<size_t>(rank - first), Dim(1));
  for (size_t i = 0; i < dims.size(); ++i) {
    aligned[static_cast<size_t>(dims[i] - first)] = c.type(0).shape[i];
  }
  const std::string& source = c.to.stretching(*c.operands[0]);
  const bool as_is = aligned == c.type(0).shape;
  if (as_is) return {{.type = c.types[0], .name = {}, .narrow = source}};
  const std::string narrow = c.to.reshape(c.in(0), c.type(0).shape, aligned);
  return {{.type = c.types[0], .name = {}, .narrow = narrow}};
}

Ports reshape(const ExportCall& c) {
  return c.one(c.to.reshape(c.in(0), c.type(0).shape, c.types[0].shape));
}

Ports transpose(const ExportCall& c) {
  return c.one(c.out.node("Transpose", {c.in(0)}, {{"perm", c.list(AttrKey::Permutation)}}));
}

Ports slice(const ExportCall& c) {
  constexpr int64_t End = std::numeric_limits<int64_t>::max();
  Ints starts, ends, axes, steps;
  for (size_t d = 0; d < c.type(0).shape.size(); ++d) {
    const int64_t limit = c.list(AttrKey::Limits)[d];
    const int64_t start = c.list(AttrKey::Starts)[d];
    const int64_t step = c.list(AttrKey::Strides)[d];
    if (start == 0 && step == 1 && (limit == -1 || Dim(limit) == c.type(0).shape[d])) continue;
    starts.push_back(start);
    ends.push_back(limit == -1 ? End : limit);
    axes.push_back(static_cast<int64_t>(d));
    steps.push_back(step);
  }
  if (axes.empty()) return c.one(c.in(0));
  return c.one(c.out.node("Slice", {c.in(0), c.out.ints(starts), c.out.ints(ends), c.out.ints(axes),
                                    c.out.ints(steps)}));
}

Ports reverse(const ExportCall& c) {
  const Ints& axes = c.list(AttrKey::Dims);
  const Ints starts(axes.size(), -1), steps(axes.size(), -1);
  const Ints ends(axes.size(), std::numeric_limits<int64_t>::min());
  return c.one(c.out.node("Slice", {c.in(0), c.out.ints(starts), c.out.ints(ends), c.out.ints(axes),
                                    c.out.ints(steps)}));
}

Ports concatenate(const ExportCall& c) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < c.operands.size(); ++i) parts.push_back(c.in(i));
  return c.one(c.out.node("Concat", parts, {{"axis", c.op.attrs.get<int64_t>(AttrKey::Dim)}}));
}

Ports pad(const ExportCall& c) {
  const Ints& interior = c.list(AttrKey::Interior);
  if (interior != Ints(interior.size(), 0)) OnnxExporter::refuse("pads between elements");
  Ints pads = c.list(AttrKey::Low);
  const Ints& high = c.list(AttrKey::High);
  pads.insert(pads.end(), high.begin(), high.end());
  return c.one(c.out.node("Pad", {c.in(0), c.out.ints(pads), c.in(1)}));
}

/// ONNX reduces from the neutral element: another initial value is combined with the result.
Ports reduce(const ExportCall& c) {
  if (c.op.attrs.has(AttrKey::Body)) OnnxExporter::refuse("reduces by a function");
  const auto fn = c.op.attrs.get<ElementFn>(AttrKey::Fn);
  const char* node = fn == ElementFn::Add        ? "ReduceSum"
                     : fn == ElementFn::Multiply ? "ReduceProd"
                     : fn == ElementFn::Maximum  ? "ReduceMax"
                     : fn == ElementFn::Minimum  ? "ReduceMin"
                                                 : nullptr;
  if (node == nullptr) OnnxExporter::refuse(fmt::format("reduces by {}", name_of(fn)));
  const Ints& dims = c.list(AttrKey::Dims);
  std::string result = c.in(0);
  if (!dims.empty()) {
    result = c.out.node(node, {result, c.out.ints(dims)}, {{"keepdims", int64_t{0}}});
  }
  if (!is_neutral_element(fn, c.operands[1]->splat(), c.types[0].dtype)) {
    result = c.out.node(element_node(fn, false), {result, c.in(1)});
  }
  return c.one(result);
}

Ports arg_reduce(const ExportCall& c) {
  const bool largest = c.op.attrs.get<ElementFn>(AttrKey::Fn) == ElementFn::Maximum;
  const std::string index =
      c.out.node(largest ? "ArgMax" : "ArgMin", {c.in(0)},
                 {{"axis", c.op.attrs.get<int64_t>(AttrKey::Dim)}, {"keepdims", int64_t{0}}});
  if (c.types[0].dtype == DType::I64) return c.one(index);
  return c.one(c.out.node("Cast", {index}, {{"to", export_type(c.types[0].dtype)}}));
}

Ports cumulative(const ExportCall& c) {
  if (c.op.attrs.get<ElementFn>(AttrKey::Fn) != ElementFn::Add) {
    OnnxExporter::refuse("a running reduction other than a sum");
  }
  const auto flag = [&](AttrKey key) {
    return static_cast<int64_t>(c.op.attrs.get_or<bool>(key, false));
  };
  const double dim = static_cast<double>(c.op.attrs.get<int64_t>(AttrKey::Dim));
  return c.one(
      c.out.node("CumSum", {c.in(0), c.out.scalar(dim, DType::I64)},
                 {{"exclusive", flag(AttrKey::Exclusive)}, {"reverse", flag(AttrKey::Reverse)}}));
}

}  // namespace

ExportHandler find_export_handler(OpKind kind) {
  switch (kind) {
    case OpKind::Constant:
      return constant;
    case OpKind::Iota:
      return iota;
    case OpKind::Elementwise:
      return elementwise;
    case OpKind::Convert:
      return convert;
    case OpKind::BroadcastInDim:
      return broadcast;
    case OpKind::Reshape:
      return reshape;
    case OpKind::Transpose:
      return transpose;
    case OpKind::Slice:
      return slice;
    case OpKind::Reverse:
      return reverse;
    case OpKind::Concatenate:
      return concatenate;
    case OpKind::Pad:
      return pad;
    case OpKind::Reduce:
      return reduce;
    case OpKind::ArgReduce:
      return arg_reduce;
    case OpKind::Cumulative:
      return cumulative;
    case OpKind::ReduceWindow:
      return export_reduce_window;
    case OpKind::DotGeneral:
      return export_dot_general;
    case OpKind::Convolution:
      return export_convolution;
    case OpKind::Gather:
      return export_gather;
    case OpKind::Scatter:
      return export_scatter;
    default:
      return nullptr;
  }
}

}  // namespace wafer::importers
