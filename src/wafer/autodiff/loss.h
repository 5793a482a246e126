#pragma once

#include <string>

#include "wafer/ir/graph.h"

namespace wafer::autodiff {

/// The value of main that training lowers: the output `name` if it is a float scalar. Otherwise
/// appends the mean cross-entropy over the last dimension of the first float output, over labels
/// other than `ignore_index`, with a Data input "labels" (i32), computed in f32 (f64 for f64).
/// Throws InputError when there is no output to put it on.
ir::ValueId find_or_attach_loss(ir::Graph& graph, const std::string& name, int64_t ignore_index);

}  // namespace wafer::autodiff
