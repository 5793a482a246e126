#pragma once

#include "wafer/ir/graph.h"

namespace wafer::compile {

/// A copy of the graph that computes in `precision`: of a model file whose weights are f32 the
/// network that runs in 16 bit, or the other way round. All float values of at least 16 and at most
/// 32 bits get that type, constants are rounded to it; f64, f8, integers and bool stay.
ir::Graph in_precision(const ir::Graph& graph, DType precision);

}  // namespace wafer::compile
