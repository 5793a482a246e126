#pragma once

#include "wafer/ir/graph.h"

namespace wafer::ir {

/// One thing that is wrong with a graph. The text ends with the number of the rule.
struct Problem {
  FunctionId function;  ///< invalid: the graph as a whole
  OpId op;              ///< invalid: not in an op
  std::string text;
};

/// Everything wrong: operands defined before use, attributes that the op takes and of the right
/// kind, result types equal to infer_types, calls that match their function, no recursion, donated
/// inputs and outputs of one type, unique names of functions, inputs and outputs. Types are looked
/// at only when all ids point to something.
std::vector<Problem> problems_of(const Graph& graph);

/// Throws InputError with every problem found, each naming function, op, location and rule number.
void verify(const Graph& graph);

}  // namespace wafer::ir
