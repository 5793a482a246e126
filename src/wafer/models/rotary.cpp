#include "wafer/models/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace wafer::models {
namespace {

using ir::ElementFn;

/// The context that a scaled network was first trained on.
double original_context(const Rotary& rotary, int64_t max_positions) {
  const int64_t original = rotary.scaling.original_positions;
  return static_cast<double>(original > 0 ? original : max_positions);
}

double yarn_factor(const Rotary& rotary, int64_t max_positions) {
  if (rotary.scaling.original_positions <= 0) return rotary.scaling.factor;
  return static_cast<double>(max_positions) / original_context(rotary, max_positions);
}

double dynamic_theta(const Rotary& rotary, int64_t max_positions, int64_t seq_len) {
  const double stretch =
      std::max(1.0, static_cast<double>(seq_len) / static_cast<double>(max_positions));
  const double factor = rotary.scaling.factor;
  const auto dims = static_cast<double>(rotary.dims);
  return rotary.theta * std::pow(factor * stretch - (factor - 1), dims / (dims - 2));
}

double llama3_frequency(const RopeScaling& s, double frequency, double context) {
  const double turns = context * frequency / (2 * std::numbers::pi);
  if (turns < s.low_frequency) return frequency / s.factor;
  if (turns > s.high_frequency) return frequency;
  const double kept = (turns - s.low_frequency) / (s.high_frequency - s.low_frequency);
  return (1 - kept) * frequency / s.factor + kept * frequency;
}

/// The dimension whose frequency makes `turns` per original context.
double yarn_dimension(const Rotary& rotary, double turns, double context) {
  return static_cast<double>(rotary.dims) * std::log(context / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(rotary.theta));
}

void scale_yarn(const Rotary& rotary, int64_t max_positions, std::vector<double>& frequencies) {
  const double context = original_context(rotary, max_positions);
  const double last = static_cast<double>(rotary.dims) - 1;
  const double from =
      std::max(std::floor(yarn_dimension(rotary, rotary.scaling.beta_fast, context)), 0.0);
  double to = std::min(std::ceil(yarn_dimension(rotary, rotary.scaling.beta_slow, context)), last);
  if (from == to) to += 0.001;  // a step, not a division by zero
  const double factor = yarn_factor(rotary, max_positions);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double slowed = std::clamp((static_cast<double>(i) - from) / (to - from), 0.0, 1.0);
    frequencies[i] *= slowed / factor + (1 - slowed);
  }
}

ValueId frequencies_literal(Builder& b, const std::vector<double>& frequencies) {
  return b.literal({.type = {DType::F32, {static_cast<int64_t>(frequencies.size())}},
                    .splat = false,
                    .elided = false,
                    .floats = frequencies,
                    .integers = {}});
}

/// The even and the odd members of the pairs, each [B, H, S, dims / 2].
struct Pairs {
  ValueId even, odd;
};

Pairs split_pairs(Builder& b, ValueId x, bool interleaved) {
  const int64_t dims = b.shape_of(x)[3].value();
  if (interleaved) return {slice_dim(b, x, 3, 0, dims, 2), slice_dim(b, x, 3, 1, dims, 2)};
  return {slice_dim(b, x, 3, 0, dims / 2), slice_dim(b, x, 3, dims / 2, dims)};
}

ValueId join_pairs(Builder& b, const Pairs& pairs, bool interleaved) {
  if (!interleaved) return b.concatenate({pairs.even, pairs.odd}, 3);
  const wafer::Shape half = b.shape_of(pairs.even);
  wafer::Shape column = half, whole = half;
  column.push_back(1);
  whole[3] = whole[3] * 2;
  const ValueId columns =
      b.concatenate({b.reshape(pairs.even, column), b.reshape(pairs.odd, column)}, 4);
  return b.reshape(columns, whole);
}

}  // namespace

std::vector<double> rotary_frequencies(const Rotary& rotary, int64_t max_positions,
                                       int64_t seq_len) {
  using Kind = RopeScaling::Kind;
  const RopeScaling& scaling = rotary.scaling;
  const double theta =
      scaling.kind == Kind::Dynamic ? dynamic_theta(rotary, max_positions, seq_len) : rotary.theta;
  std::vector<double> result(static_cast<size_t>(rotary.dims / 2));
  for (size_t i = 0; i < result.size(); ++i) {
    const double frequency =
        std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(rotary.dims));
    result[i] = frequency;
    if (scaling.kind == Kind::Linear) result[i] = frequency / scaling.factor;
    if (scaling.kind == Kind::Llama3) {
      result[i] = llama3_frequency(scaling, frequency, original_context(rotary, max_positions));
    }
  }
  if (scaling.kind == Kind::Yarn) scale_yarn(rotary, max_positions, result);
  return result;
}

double rotary_magnitude(const Rotary& rotary, int64_t max_positions) {
  if (rotary.scaling.kind != RopeScaling::Kind::Yarn) return 1;
  if (rotary.scaling.attention_factor) return *rotary.scaling.attention_factor;
  const double factor = yarn_factor(rotary, max_positions);
  return factor <= 1 ? 1 : 0.1 * std::log(factor) + 1;
}

RotaryTables rotary_tables(Builder& b, const Rotary& rotary, int64_t max_positions, int64_t seq_len,
                           DType dtype) {
  const Scope scope(b, "rotary");
  const wafer::Shape shape = {seq_len, rotary.dims / 2};
  const ValueId frequencies =
      frequencies_literal(b, rotary_frequencies(rotary, max_positions, seq_len));
  const ValueId angles = b.multiply(b.iota({DType::F32, shape}, 0), frequencies);
  RotaryTables tables{b.unary(ElementFn::Cos, angles), b.unary(ElementFn::Sin, angles)};
  const double magnitude = rotary_magnitude(rotary, max_positions);
  for (ValueId* table : {&tables.cos, &tables.sin}) {
    if (magnitude != 1) *table = b.multiply(*table, magnitude);
    *table = b.convert(*table, dtype);
  }
  return tables;
}

ValueId rotate(Builder& b, ValueId x, const Rotary& rotary, const RotaryTables& tables) {
  const Scope scope(b, "rotary");
  const int64_t width = b.shape_of(x)[3].value();
  const bool whole = rotary.dims == width;
  const Pairs in =
      split_pairs(b, whole ? x : slice_dim(b, x, 3, 0, rotary.dims), rotary.interleaved);
  const ValueId even_cos = b.multiply(in.even, tables.cos);
  const ValueId odd_sin = b.multiply(in.odd, tables.sin);
  const ValueId odd_cos = b.multiply(in.odd, tables.cos);
  const ValueId even_sin = b.multiply(in.even, tables.sin);
  const Pairs out = {b.subtract(even_cos, odd_sin), b.add(odd_cos, even_sin)};
  const ValueId turned = join_pairs(b, out, rotary.interleaved);
  if (whole) return turned;
  return b.concatenate({turned, slice_dim(b, x, 3, rotary.dims, width)}, 3);
}

}  // namespace wafer::models
