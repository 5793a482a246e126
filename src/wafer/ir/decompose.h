#pragma once

#include "wafer/ir/builder.h"

namespace wafer::ir {

bool is_composite(OpKind kind);

/// Emits the defined decomposition of a composite op into primitives with `b` and returns the
/// values of its results. `operands` are values of b's function.
std::vector<ValueId> decompose(Builder& b, OpKind kind, const std::vector<ValueId>& operands,
                               const Attributes& attrs);

/// A copy of the graph without composites.
Graph decompose_all(const Graph& graph);

}  // namespace wafer::ir
