#pragma once

#include "wafer/ir/graph.h"

namespace wafer::importers {

// Passes that find, in the primitives that exporters write, what the built-in models have as one
// op. Each returns a copy that computes the same up to rounding; what does not match stays.

/// All of them, in the order that they need.
ir::Graph recognize_all(const ir::Graph& graph);

/// Joins chains of reshapes, of transposes and of broadcasts; lets element-wise ops work before
/// their operands are broadcast; carries reshapes that merge leading dimensions behind products and
/// element-wise ops, where their reverse meets them.
ir::Graph simplify_moves(const ir::Graph& graph);
/// Transposed operands of dot_general become other dimensions of it.
ir::Graph fold_transposes(const ir::Graph& graph);
/// (x - mean) / sqrt(variance + epsilon) * scale [+ bias] -> layer_norm, and without the mean
/// rms_norm.
ir::Graph recognize_norms(const ir::Graph& graph);
/// x / 2 * (1 + erf(x / sqrt 2)), or with the tanh that approximates it -> gelu.
ir::Graph recognize_gelu(const ir::Graph& graph);
/// softmax(q k^T scale + mask) v -> attention: keys repeated for groups of queries are used once,
/// a causal mask becomes the attribute. (A query that sees no key at all has no meaning, and may
/// get other numbers.)
ir::Graph recognize_attention(const ir::Graph& graph);
/// x cos + (-x2, x1) sin -> the halves turned.
ir::Graph recognize_rotary(const ir::Graph& graph);
/// Without ops whose results nothing uses (effects aside), and parameters and constants that
/// nothing reads.
ir::Graph drop_unused(const ir::Graph& graph);

}  // namespace wafer::importers
