#pragma once

#include <string>
#include <string_view>

#include "wafer/ir/builder.h"
#include "wafer/models/spec.h"

namespace wafer::models {

using ir::Builder;
using ir::ValueId;

/// Names the scope of the ops emitted while it lives: "attention/query" inside "attention".
class Scope {
 public:
  Scope(Builder& b, std::string_view name) : b_(b), outer_(b.scope) {
    b.scope = outer_.empty() ? std::string(name) : outer_ + "/" + std::string(name);
  }
  ~Scope() { b_.scope = outer_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Builder& b_;
  std::string outer_;
};

struct LinearOptions {
  bool bias = true;
  bool in_out = false;  ///< the matrix is [in, out]; else [out, in]
};

/// x [.., in] -> [.., out] by the parameters <name>.weight and <name>.bias.
ValueId linear(Builder& b, ValueId x, std::string_view name, int64_t out,
               const LinearOptions& options = {});
/// x [.., in] times the transpose of `matrix` [out, in].
ValueId times_transposed(Builder& b, ValueId x, ValueId matrix);
/// By the parameters <name>.weight and, of LayerNorm, <name>.bias, over the last dimension.
ValueId normalize(Builder& b, ValueId x, std::string_view name, Norm norm, double epsilon);
ValueId activate(Builder& b, ValueId x, Activation activation);

/// Elements from, from + stride, .. < to of one dimension; the others whole.
ValueId slice_dim(Builder& b, ValueId x, int64_t dim, int64_t from, int64_t to, int64_t stride = 1);
/// x [B, S, ..], positions [B, P] -> [B, P, ..]: row positions[b, p] of each x[b].
ValueId take_positions(Builder& b, ValueId x, ValueId positions);
/// x [B, S, D] -> [B, D]: the first position.
ValueId first_position(Builder& b, ValueId x);

struct ConvolveOptions {
  int64_t stride = 1;
  int64_t padding = 0;  ///< on all four sides
};
/// x [B, C, H, W], kernel [O, C, K, K] -> [B, O, H', W'].
ValueId convolve(Builder& b, ValueId x, ValueId kernel, const ConvolveOptions& options);

/// Adds a copy of each parameter and constant input of `callee` to b's function, named
/// <prefix><name>, and calls it with `operands` and those; its one result.
ValueId call_with_parameters(Builder& b, ir::FunctionId callee, const std::string& prefix,
                             std::vector<ValueId> operands);

/// The mean of cross_entropy(logits [.., V], labels [..]) over labels other than -100, as a scalar
/// of f32 (f64 for logits in f64); 0 when there is none.
ValueId mean_loss(Builder& b, ValueId logits, ValueId labels);

}  // namespace wafer::models
