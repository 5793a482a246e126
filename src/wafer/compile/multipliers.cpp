#include "wafer/compile/multipliers.h"

#include <set>
#include <vector>

#include "wafer/compile/kernels.h"

namespace wafer::compile {
namespace {

using ir::Op;
using ir::OpKind;
using Inputs = std::set<size_t>;  ///< indices into main.inputs

bool moves_elements(OpKind kind) {
  switch (kind) {
    case OpKind::Convert:
    case OpKind::BroadcastInDim:
    case OpKind::Reshape:
    case OpKind::Transpose:
    case OpKind::Slice:
    case OpKind::Concatenate:
      return true;
    default:
      return false;
  }
}

class Tracer {
 public:
  explicit Tracer(const ir::Graph& graph) : graph_(graph) {}

  /// `origin`: of values of the function that are parameters, or made of their elements alone.
  void follow(const ir::Function& function, const Op& op, std::map<ir::ValueId, Inputs>& origin) {
    if (op.kind == OpKind::Call) {
      enter(op, origin);
    } else if (op.kind == OpKind::DotGeneral || op.kind == OpKind::Convolution) {
      for (const ir::ValueId operand : op.operands) {
        const auto found = origin.find(operand);
        if (found == origin.end()) continue;
        for (const size_t input : found->second) multipliers_.try_emplace(input, kernel_name(op));
      }
    } else if (moves_elements(op.kind) && !holds_batch(function.type_of(op.results[0]))) {
      Inputs all;
      for (const ir::ValueId operand : op.operands) {
        const auto found = origin.find(operand);
        if (found != origin.end()) all.insert(found->second.begin(), found->second.end());
      }
      if (!all.empty()) origin[op.results[0]] = std::move(all);
    }
  }

  std::map<size_t, std::string> found() { return std::move(multipliers_); }

 private:
  void enter(const Op& call, const std::map<ir::ValueId, Inputs>& outside) {
    const ir::Function& callee = graph_.function(call.attrs.get<ir::FunctionId>(ir::AttrKey::Body));
    std::map<ir::ValueId, Inputs> origin;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const auto given = outside.find(call.operands[i]);
      if (given != outside.end()) origin[callee.inputs[i].value] = given->second;
    }
    for (const Op& op : callee.ops) follow(callee, op, origin);
  }

  const ir::Graph& graph_;
  std::map<size_t, std::string> multipliers_;
};

}  // namespace

std::map<size_t, std::string> multipliers_of(const ir::Graph& graph, const Section& section) {
  const ir::Function& main = graph.entry();
  std::map<ir::ValueId, Inputs> origin;
  for (size_t i = 0; i < main.inputs.size(); ++i) {
    if (main.inputs[i].role == ir::Role::Parameter) origin[main.inputs[i].value] = {i};
  }
  Tracer tracer(graph);
  // Parameters are moved about anywhere before they are multiplied by.
  const uint32_t last = section.repeated ? section.ops.front() : section.ops.back();
  std::set<uint32_t> own(section.ops.begin(), section.ops.end());
  for (uint32_t i = 0; i <= last; ++i) {
    const Op& op = main.ops[i];
    if (own.count(i) != 0 || moves_elements(op.kind)) tracer.follow(main, op, origin);
  }
  return tracer.found();
}

}  // namespace wafer::compile
