#include "wafer/compile/updates.h"

#include <algorithm>

namespace wafer::compile {
namespace {

constexpr size_t None = SIZE_MAX;

/// Of each value of main: the input of that role that it is, or None.
std::vector<size_t> inputs_with(const ir::Function& main, ir::Role role) {
  std::vector<size_t> input_of(main.values.size(), None);
  for (size_t i = 0; i < main.inputs.size(); ++i) {
    if (main.inputs[i].role == role) input_of[main.inputs[i].value.index] = i;
  }
  return input_of;
}

}  // namespace

std::map<size_t, ParameterUpdate> find_updates(const ir::Graph& graph) {
  const ir::Function& main = graph.entry();
  const std::vector<size_t> parameter_of = inputs_with(main, ir::Role::Parameter);
  const std::vector<size_t> state_of = inputs_with(main, ir::Role::OptimizerState);
  std::map<size_t, ParameterUpdate> updates;
  for (uint32_t i = 0; i < main.ops.size(); ++i) {
    const ir::Op& op = main.ops[i];
    if (op.phase != ir::Phase::Optimizer) continue;
    for (ir::ValueId v : op.operands) {
      if (parameter_of[v.index] == None) continue;
      ParameterUpdate& update = updates[parameter_of[v.index]];
      update.first = std::min(update.first, i);
      update.cost += ir::cost_of(graph, main, op);
      for (ir::ValueId other : op.operands) {
        if (state_of[other.index] != None) update.state.push_back(state_of[other.index]);
      }
    }
  }
  return updates;
}

}  // namespace wafer::compile
