#pragma once

#include "wafer/autodiff/op_gradient.h"

namespace wafer::autodiff {

/// Gives the gradients of one op's operands.
using Rule = void (*)(OpGradient&);

/// The rule of a kind; nothing for those without one: sources, integer results, sub-graphs,
/// custom calls, and composites that are differentiated through their decomposition.
Rule rule_of(ir::OpKind kind);
/// Whether the derivative of the op by operand i may differ from zero. (Only float values are asked
/// for.)
bool propagates(const ir::Op& op, size_t operand);
/// Whether the gradient is that of the decomposition: composites without a rule, and attention
/// whose bias is differentiated.
bool through_decomposition(const ir::Op& op, bool wants_fourth_operand);

// The rules that do not fit on a line, by file.

// rules_shape.cpp
void broadcast_in_dim(OpGradient& r);
void transpose(OpGradient& r);
void slice(OpGradient& r);
void dynamic_slice(OpGradient& r);
void dynamic_update_slice(OpGradient& r);
void concatenate(OpGradient& r);
void pad(OpGradient& r);
void gather(OpGradient& r);
void scatter(OpGradient& r);

// rules_reduce.cpp
void reduce(OpGradient& r);
void reduce_window(OpGradient& r);
void select_and_scatter(OpGradient& r);
void cumulative(OpGradient& r);
void sort(OpGradient& r);

// rules_product.cpp
void dot_general(OpGradient& r);
void convolution(OpGradient& r);

// rules_composite.cpp
void layer_norm(OpGradient& r);
void rms_norm(OpGradient& r);
void batch_norm(OpGradient& r);
void attention(OpGradient& r);

// rules_collective.cpp
void all_reduce(OpGradient& r);
void all_gather(OpGradient& r);
void reduce_scatter(OpGradient& r);
void all_to_all(OpGradient& r);
void collective_permute(OpGradient& r);

}  // namespace wafer::autodiff
