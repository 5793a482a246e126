#pragma once

#include <cstdint>
#include <vector>

#include "wafer/ir/op.h"

namespace wafer::reference {

/// A value with its elements, row-major. Floats of every width are held as doubles; integers and
/// bool as int64 (u64 as its bits). The list that the element type does not use is empty.
struct Tensor {
  TensorType type;
  std::vector<double> floats;
  std::vector<int64_t> integers;

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// A tensor of `values`, converted to the element type (integers and bool) or as they are (floats).
/// Throws InputError when their number is not that of the type.
Tensor make_tensor(TensorType type, const std::vector<double>& values);
/// All elements zero (false).
Tensor zeros(TensorType type);

/// The elements of a literal. Throws InputError when they were elided, or an element is missing.
Tensor tensor_of(const ir::Literal& literal);
/// The literal of a tensor, a splat where all elements are the same bits.
ir::Literal literal_of(const Tensor& tensor);

}  // namespace wafer::reference
