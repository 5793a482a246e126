#pragma once

#include <functional>
#include <optional>

#include "wafer/ir/builder.h"

namespace wafer::ir {

/// Values that stand for the results of an op, or nothing: the op is copied. The Builder appends
/// to the copy and is set to the phase, layer, scope and location of the op; `operands` are its
/// operands there, `types` the types of its results.
using Replace = std::function<std::optional<std::vector<ValueId>>(
    Builder& b, const Op& op, const std::vector<ValueId>& operands,
    const std::vector<TensorType>& types)>;

/// A copy of the graph, function by function with the same ids, where `replace` has its way. The
/// replacing values must have the types of the results.
Graph rewrite(const Graph& graph, const Replace& replace);

}  // namespace wafer::ir
