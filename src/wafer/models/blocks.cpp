#include "wafer/models/blocks.h"

#include <numeric>

#include "wafer/base/error.h"

namespace wafer::models {
namespace {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::OpKind;

constexpr int64_t IgnoredLabel = -100;

std::string joined(std::string_view name, const char* suffix) { return std::string(name) + suffix; }

}  // namespace

ValueId times_transposed(Builder& b, ValueId x, ValueId matrix) {
  return b.dot_general(x, matrix, {{b.type_of(x).rank() - 1}, {1}});
}

ValueId linear(Builder& b, ValueId x, std::string_view name, int64_t out,
               const LinearOptions& options) {
  const DType dtype = b.type_of(x).dtype;
  const Dim in = b.shape_of(x).back();
  const wafer::Shape shape = options.in_out ? wafer::Shape{in, out} : wafer::Shape{out, in};
  const ValueId matrix = b.parameter(joined(name, ".weight"), {dtype, shape});
  const ValueId y = options.in_out ? b.matmul(x, matrix) : times_transposed(b, x, matrix);
  return options.bias ? b.add(y, b.parameter(joined(name, ".bias"), {dtype, {out}})) : y;
}

ValueId normalize(Builder& b, ValueId x, std::string_view name, Norm norm, double epsilon) {
  const TensorType type{b.type_of(x).dtype, {b.shape_of(x).back()}};
  const ValueId weight = b.parameter(joined(name, ".weight"), type);
  if (norm == Norm::RmsNorm) return b.rms_norm(x, weight, epsilon);
  return b.layer_norm(x, weight, b.parameter(joined(name, ".bias"), type), epsilon);
}

ValueId activate(Builder& b, ValueId x, Activation activation) {
  switch (activation) {
    case Activation::Gelu:
      return b.gelu(x, false);
    case Activation::GeluTanh:
      return b.gelu(x, true);
    case Activation::Relu:
      return b.binary(ElementFn::Maximum, x, b.scalar(0, b.type_of(x).dtype));
    case Activation::Silu:
      return b.multiply(x, b.unary(ElementFn::Logistic, x));
    case Activation::Tanh:
      return b.unary(ElementFn::Tanh, x);
  }
  throw InternalError("no such activation");
}

ValueId slice_dim(Builder& b, ValueId x, int64_t dim, int64_t from, int64_t to, int64_t stride) {
  const auto rank = static_cast<size_t>(b.type_of(x).rank());
  Ints starts(rank, 0), limits(rank, -1), strides(rank, 1);
  starts[static_cast<size_t>(dim)] = from;
  limits[static_cast<size_t>(dim)] = to;
  strides[static_cast<size_t>(dim)] = stride;
  return b.slice(x, std::move(starts), std::move(limits), std::move(strides));
}

ValueId take_positions(Builder& b, ValueId x, ValueId positions) {
  const wafer::Shape shape = b.shape_of(x);
  Ints sizes = {1, 1}, offset_dims;
  for (size_t i = 2; i < shape.size(); ++i) {
    sizes.push_back(shape[i].value());
    offset_dims.push_back(static_cast<int64_t>(i));
  }
  return b.emit1(OpKind::Gather, {x, positions},
                 {{AttrKey::OffsetDims, offset_dims},
                  {AttrKey::CollapsedDims, Ints{1}},
                  {AttrKey::StartIndexMap, Ints{1}},
                  {AttrKey::IndexVectorDim, int64_t{2}},
                  {AttrKey::OperandBatchDims, Ints{0}},
                  {AttrKey::IndicesBatchDims, Ints{0}},
                  {AttrKey::Sizes, sizes}});
}

ValueId first_position(Builder& b, ValueId x) {
  const wafer::Shape shape = b.shape_of(x);
  return b.reshape(slice_dim(b, x, 1, 0, 1), {shape[0], shape[2]});
}

ValueId convolve(Builder& b, ValueId x, ValueId kernel, const ConvolveOptions& options) {
  const Ints padding(2, options.padding);
  return b.emit1(OpKind::Convolution, {x, kernel},
                 {{AttrKey::Strides, Ints(2, options.stride)},
                  {AttrKey::PaddingLow, padding},
                  {AttrKey::PaddingHigh, padding},
                  {AttrKey::LhsLayout, std::string("bf01")},
                  {AttrKey::KernelLayout, std::string("oi01")},
                  {AttrKey::OutLayout, std::string("bf01")}});
}

ValueId call_with_parameters(Builder& b, ir::FunctionId callee, const std::string& prefix,
                             std::vector<ValueId> operands) {
  // b.input() grows main alone, so that the callee stays where it is.
  const ir::Function& function = b.graph().function(callee);
  for (const ir::Input& input : function.inputs) {
    if (input.role == ir::Role::Data) continue;
    operands.push_back(b.input(prefix + input.name, function.type_of(input.value), input.role));
  }
  return b.call(callee, std::move(operands)).front();
}

ValueId mean_loss(Builder& b, ValueId logits, ValueId labels) {
  const Scope scope(b, "loss");
  const DType dtype = b.type_of(logits).dtype == DType::F64 ? DType::F64 : DType::F32;
  Ints dims(static_cast<size_t>(b.type_of(labels).rank()));
  std::iota(dims.begin(), dims.end(), 0);
  const ValueId losses = b.convert(b.cross_entropy(logits, labels, IgnoredLabel), dtype);
  const ValueId sum = b.reduce_sum(losses, dims);
  const ValueId ignored = b.scalar(static_cast<double>(IgnoredLabel), b.type_of(labels).dtype);
  const ValueId counts = b.convert(b.binary(ElementFn::NotEqual, labels, ignored), dtype);
  const ValueId count = b.reduce_sum(counts, dims);
  return b.divide(sum, b.binary(ElementFn::Maximum, count, b.scalar(1, dtype)));
}

}  // namespace wafer::models
