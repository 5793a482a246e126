#pragma once

#include "wafer/ir/graph.h"

namespace wafer::ir {

/// Throws InputError with every problem found, each naming function, op, location and rule number:
/// operands defined before use, attributes that the op takes and of the right kind, result types
/// equal to infer_types, calls that match their function, no recursion, donated inputs and outputs
/// of one type, unique names of functions, inputs and outputs.
void verify(const Graph& graph);

}  // namespace wafer::ir
