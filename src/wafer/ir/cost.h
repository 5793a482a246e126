#pragma once

#include "wafer/ir/graph.h"

namespace wafer::ir {

/// Work and traffic of one op, counted by the numbered rules of docs/spec/ops.md. A fused
/// multiply-add is two operations; each other function is one, exp as much as add; integers and
/// bool count nothing. Bytes: each operand read once, each result written once, where the op
/// touches it all. These are model FLOPs: causal attention counts all scores, gradients count no
/// recomputing.
struct Cost {
  Flops product;      ///< in dot products and convolutions (inside composites too)
  Flops elementwise;  ///< all other arithmetic, one per element and function
  Bytes read;
  Bytes written;

  Flops total() const { return product + elementwise; }
  Cost& operator+=(const Cost& o);
  friend Cost operator*(const Cost& c, double times);
};

/// Cost of one op; a call costs what its function costs, a while one round, a conditional its
/// costliest branch. Throws InputError naming the dimension when a type is not bound.
Cost cost_of(const Graph& graph, const Function& function, const Op& op);
/// Cost of one run of a function, calls included; O(ops of all functions).
Cost cost_of(const Graph& graph, FunctionId function);

}  // namespace wafer::ir
