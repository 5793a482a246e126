#pragma once

#include <vector>

#include "wafer/ir/graph.h"

namespace wafer::ir {

/// The types of the results of an op of `kind` with these operands and attributes. Where operands
/// do not fix the result (constant, iota, rng, reshape, broadcast_in_dim, convert, custom_call,
/// arg_reduce), `declared` gives it; elsewhere `declared` may be empty, and if not it must agree.
/// Dimensions may be symbolic. Throws InputError: the rule broken (its number in docs/spec/ops.md),
/// what was expected, what was found.
std::vector<TensorType> infer_types(const Graph& graph, OpKind kind,
                                    const std::vector<TensorType>& operands,
                                    const Attributes& attrs,
                                    const std::vector<TensorType>& declared = {});

}  // namespace wafer::ir
