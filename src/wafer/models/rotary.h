#pragma once

#include <vector>

#include "wafer/models/blocks.h"

namespace wafer::models {

/// Angles turned per position, one a pair of dimensions (dims / 2), after scaling.
/// `max_positions` is the context of the published network, `seq_len` that of this graph (Dynamic
/// scaling alone looks at it).
/// **Source:** theta^(-2i/dims), Su et al., arXiv:2104.09864; Linear, Chen et al.,
/// arXiv:2306.15595; Dynamic and Yarn, Peng et al., arXiv:2309.00071; Llama3, the Llama 3.1
/// release (frequencies below one turn per original context are divided by the factor, those
/// above are kept, between them linear).
std::vector<double> rotary_frequencies(const Rotary& rotary, int64_t max_positions,
                                       int64_t seq_len);
/// What cos and sin are multiplied by: 1 but for Yarn, 0.1 ln(factor) + 1.
double rotary_magnitude(const Rotary& rotary, int64_t max_positions);

/// cos and sin of position times frequency, each [seq, dims / 2], computed in f32 and then
/// converted.
struct RotaryTables {
  ValueId cos, sin;
};
RotaryTables rotary_tables(Builder& b, const Rotary& rotary, int64_t max_positions, int64_t seq_len,
                           DType dtype);

/// x [B, H, S, D] with its first rotary.dims turned by the tables.
ValueId rotate(Builder& b, ValueId x, const Rotary& rotary, const RotaryTables& tables);

}  // namespace wafer::models
