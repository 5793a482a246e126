#pragma once

#include "wafer/importers/fold.h"

namespace wafer::importers {

// Pieces that several ops are made of.

Term relu(Folder& f, const Term& x);
/// x sigmoid(alpha x)
Term swish(Folder& f, const Term& x, double alpha);
Term gelu(Folder& f, const Term& x, bool tanh_approximation);

/// a [.., M, K] times b [.., K, N] with numpy's rules for ranks and broadcasting.
Term matmul(Folder& f, const Term& a, const Term& b);
/// Over the last dimension.
Term softmax(Folder& f, const Term& x);
Term layer_norm(Folder& f, const Term& x, const Term& scale, const Term& bias, double epsilon);
Term rms_norm(Folder& f, const Term& x, const Term& scale, double epsilon);
/// x [.., K] times w [K, N], plus bias [N] where there is one (its type's shape is not empty).
Term linear(Folder& f, const Term& x, const Term& w, const std::optional<Term>& bias);

/// Rows of x along `axis` by integer indices, which may count from the end.
Term gather(Folder& f, const Term& x, const Term& indices, int64_t axis);

/// x with a dimension of 1 put in before dimension d of the result.
Term unsqueeze(Folder& f, const Term& x, size_t d);
/// The last dimension of x, as parts of these sizes.
Terms split_last(Folder& f, const Term& x, const ir::Ints& sizes);

/// x [B, S, H * D] -> [B, H, S, D]
Term split_heads(Folder& f, const Term& x, int64_t heads);
/// x [B, H, S, D] -> [B, S, H * D]
Term merge_heads(Folder& f, const Term& x);

/// What attention is given besides q [B, Hq, S, D], k [B, Hk, T, D], v [B, Hk, T, E].
struct AttentionOptions {
  double scale = 1;
  bool causal = false;
  std::optional<Term> bias;  ///< added to the scores, stretches to [B, Hq, S, T]
};
/// -> [B, Hq, S, E]
Term attention(Folder& f, const Term& q, const Term& k, const Term& v,
               const AttentionOptions& options);
/// 0 where mask (integers or bools) is not 0, else `hidden`, in the float type.
Term mask_bias(Folder& f, const Term& mask, double hidden, DType dtype);

/// Turns pairs of x [B, H, S, D] by the angles of cos and sin [.., S, R / 2] (which stretch to
/// [B, H, S, R / 2]), R <= D being the first of the last dimension that are turned.
Term rotate(Folder& f, const Term& x, const Term& cos, const Term& sin, bool interleaved);

}  // namespace wafer::importers
