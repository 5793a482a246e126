#pragma once

#include "wafer/base/dtype.h"

namespace wafer::plan {

/// Bytes of a parameter in training, by what they are for. Mixed precision: 16-bit weight, f32
/// gradient, f32 master weight and two moments. **Source:** Rajbhandari et al., arXiv:1910.02054,
/// with the gradient kept in f32 as Megatron-LM does.
struct ParameterBytes {
  double weight, gradient, state;
  double total() const { return weight + gradient + state; }
};
inline ParameterBytes parameter_bytes(DType precision) {
  if (size_in_bytes(precision) <= 2) return {2, 4, 12};
  return {4, 4, 8};
}

}  // namespace wafer::plan
