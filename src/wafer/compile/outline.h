#pragma once

#include "wafer/ir/graph.h"

namespace wafer::compile {

/// A copy of the graph in which runs of identical layers in main are calls of one function, as the
/// built-in models write them. Layers are found by structure: ops of equal kind, attributes, types
/// and wiring that follow each other with one period; names and scopes only label the calls.
/// Repeats nest in sequence (a ResNet has four runs), the longest first. A graph without repeats
/// that hold at least one product with a parameter is returned as it is.
ir::Graph outline(const ir::Graph& graph);

}  // namespace wafer::compile
