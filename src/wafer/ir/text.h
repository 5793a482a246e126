#pragma once

#include <string>
#include <string_view>

#include "wafer/ir/graph.h"

namespace wafer::ir {

/// One op a line, types written, location attached:
///   %3 = dot_general %1, %2 {contract = [1]x[0]} : f16[64,128] loc("mlp.onnx:fc1")
/// Element-wise ops are written with the name of their function: %4 = tanh %3 : f16[64,128].
/// equal(parse_text(print_text(g)), g) for every valid g. docs/spec/graph-text.md has the grammar.
std::string print_text(const Graph& graph);

/// Parses text form and verifies it. Throws InputError with line and column (`file` names the
/// source in messages).
Graph parse_text(std::string_view text, const std::string& file = "<text>");

/// {name, main, parameters, flops, functions: [{name, inputs: [{value, type, name, role, frozen?,
/// donated_output?}], ops: [{kind, operands, results: [{value, type}], attrs, phase, layer, scope,
/// loc}], outputs: [{value, type, name}]}]}; stable key order. flops (ir/cost.h) is null while a
/// dimension is not bound.
std::string print_json(const Graph& graph);

/// Graphviz: a cluster a function and in it a cluster a layer and phase, ops as boxes (calls,
/// composites and products coloured), values as edges. Constants that are one number and names of
/// parameters (their count, where many) are written in the boxes that use them; what parameters
/// are updated to is not drawn.
std::string print_dot(const Graph& graph);

/// Deep equality: names, types, ops, attributes, roles. How values are numbered does not count,
/// the order of functions, inputs and ops does.
bool equal(const Graph& a, const Graph& b);

}  // namespace wafer::ir
