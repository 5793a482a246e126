#pragma once

#include "wafer/ir/op.h"

namespace wafer::ir {

/// The attributes of a convolution with their defaults filled in: stride and dilation 1, padding 0,
/// layouts b, f, spatial and o, i, spatial, one group.
struct ConvolutionSpec {
  /// Which dimension of a tensor is what; for the kernel, batch is the output feature (o) and
  /// feature the input feature (i).
  struct Layout {
    size_t batch = 0;
    size_t feature = 0;
    std::vector<size_t> spatial;
  };
  Layout input, kernel, output;
  Ints strides, padding_low, padding_high;
  Ints lhs_dilation;  ///< holes between the input's elements
  Ints rhs_dilation;  ///< holes between the kernel's elements
  int64_t feature_groups = 1;
  int64_t batch_groups = 1;
};

/// Spec of a convolution of tensors of this rank. Throws InputError (rules CONV1 to CONV3) when a
/// layout is not a permutation or a list is not one entry a spatial dimension.
ConvolutionSpec convolution_spec(const Attributes& attrs, int rank);

}  // namespace wafer::ir
