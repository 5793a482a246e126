#pragma once

// The decompositions, a function a composite; not for use outside ir/ (see decompose.h).

#include "wafer/ir/builder.h"

namespace wafer::ir {

using Values = std::vector<ValueId>;

/// The type that a composite computes in: f32 for the narrower floats, else the type itself.
inline DType working_type(DType dtype) { return size_in_bytes(dtype) < 4 ? DType::F32 : dtype; }
inline ValueId widened(Builder& b, ValueId x) {
  return b.convert(x, working_type(b.type_of(x).dtype));
}

/// [..] to the shape [.., n].
ValueId across_rows(Builder& b, ValueId per_row, const Shape& shape);
/// Softmax over the last dimension in the type of x, without rounding.
ValueId softmax_rows(Builder& b, ValueId x);
/// y * (dy - sum(y * dy)): its gradient, likewise.
ValueId softmax_rows_grad(Builder& b, ValueId y, ValueId dy);

ValueId layer_norm_of(Builder& b, const Values& operands, const Attributes& attrs);
Values layer_norm_grad_of(Builder& b, const Values& operands, const Attributes& attrs);
ValueId rms_norm_of(Builder& b, const Values& operands, const Attributes& attrs);
Values rms_norm_grad_of(Builder& b, const Values& operands, const Attributes& attrs);
Values batch_norm_of(Builder& b, const Values& operands, const Attributes& attrs);
Values batch_norm_grad_of(Builder& b, const Values& operands, const Attributes& attrs);
ValueId softmax_of(Builder& b, const Values& operands);
ValueId softmax_grad_of(Builder& b, const Values& operands);
ValueId gelu_of(Builder& b, const Values& operands, const Attributes& attrs);
ValueId gelu_grad_of(Builder& b, const Values& operands, const Attributes& attrs);
ValueId attention_of(Builder& b, const Values& operands, const Attributes& attrs);
Values attention_grad_of(Builder& b, const Values& operands, const Attributes& attrs);
ValueId cross_entropy_of(Builder& b, const Values& operands, const Attributes& attrs);
ValueId cross_entropy_grad_of(Builder& b, const Values& operands, const Attributes& attrs);

}  // namespace wafer::ir
