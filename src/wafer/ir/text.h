#pragma once

#include <string>
#include <string_view>

#include "wafer/ir/graph.h"

namespace wafer::ir {

/// One op a line, types written, location attached:
///   %3 = dot_general %1, %2 {contract = [1]x[0]} : f16[64,128] loc("mlp.onnx:fc1")
/// parse_text(print_text(g)) is g. docs/spec/graph-text.md has the grammar.
std::string print_text(const Graph& graph);

/// Parses text form and verifies it. Throws InputError with line and column (`file` names the
/// source in messages).
Graph parse_text(std::string_view text, const std::string& file = "<text>");

/// {name, parameters, flops, functions: [{name, inputs, ops: [{kind, operands, results, attrs,
/// phase, layer, scope, loc}], outputs}]}; stable key order, types as strings.
std::string print_json(const Graph& graph);

/// Graphviz: a cluster a function, ops as boxes, values as edges.
std::string print_dot(const Graph& graph);

/// Deep equality: names, types, ops, attributes, roles.
bool equal(const Graph& a, const Graph& b);

}  // namespace wafer::ir
