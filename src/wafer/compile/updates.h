#pragma once

#include <map>
#include <vector>

#include "wafer/ir/cost.h"
#include "wafer/ir/graph.h"

namespace wafer::compile {

/// The optimizer ops of one parameter, which run at the store.
struct ParameterUpdate {
  uint32_t first = UINT32_MAX;  ///< the first of them, an index into main.ops
  ir::Cost cost;
  std::vector<size_t> state;  ///< its optimizer state: indices into main.inputs
};

/// By the parameter's index into main.inputs; parameters that nothing updates are absent.
std::map<size_t, ParameterUpdate> find_updates(const ir::Graph& graph);

}  // namespace wafer::compile
