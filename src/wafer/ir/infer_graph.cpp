// Types of ops with sub-graphs, of collectives and of custom calls.
#include <algorithm>

#include "wafer/ir/typing.h"

namespace wafer::ir {
namespace {

Types output_types(const Function& function) {
  Types types;
  types.reserve(function.outputs.size());
  for (const Output& output : function.outputs) types.push_back(function.type_of(output.value));
  return types;
}

/// The operands from `first` on are what `callee` takes.
void check_inputs(const Typing& t, const char* rule, const Function& callee, size_t first) {
  t.require(callee.inputs.size() == t.operands.size() - first, rule, "@{} takes {} inputs, not {}",
            callee.name, callee.inputs.size(), t.operands.size() - first);
  for (size_t i = 0; i < callee.inputs.size(); ++i) {
    const TensorType& expected = callee.type_of(callee.inputs[i].value);
    t.require(t.operands[first + i] == expected, rule, "input {} ({}) of @{} is {}; found {}", i,
              callee.inputs[i].name, callee.name, expected, t.operands[first + i]);
  }
}

/// Rule COL1.
Dim group_size(const Typing& t) {
  const int64_t size = t.integer(AttrKey::GroupSize);
  t.require(size >= 1, "COL1", "a group has at least one device; found {}", size);
  return size;
}

/// Rule COL3.
Dim part(const Typing& t, const Dim& whole, const Dim& parts) {
  const auto quotient = divide_exact(whole, parts);
  t.require(quotient.has_value(), "COL3", "{} does not divide over {} devices", whole, parts);
  return *quotient;
}

}  // namespace

Types type_call(const Typing& t) {
  const Function& callee = t.graph.function(t.attrs.get<FunctionId>(AttrKey::Body));
  check_inputs(t, "CALL1", callee, 0);
  return output_types(callee);
}

Types type_while(const Typing& t) {
  const Function& condition = t.graph.function(t.attrs.get<FunctionId>(AttrKey::Condition));
  const Function& body = t.graph.function(t.attrs.get<FunctionId>(AttrKey::Body));
  check_inputs(t, "WHL1", condition, 0);
  const Types answer = output_types(condition);
  t.require(answer.size() == 1 && answer[0] == TensorType{DType::Bool, {}}, "WHL2",
            "the condition @{} must answer with one bool[]", condition.name);
  check_inputs(t, "WHL1", body, 0);
  t.require(output_types(body) == t.operands, "WHL3",
            "the body @{} must return what it carries, type by type", body.name);
  return t.operands;
}

Types type_conditional(const Typing& t) {
  const auto& branches = t.attrs.get<std::vector<FunctionId>>(AttrKey::Branches);
  const TensorType& index = t.operands[0];
  const bool two = index.dtype == DType::Bool;
  t.require(index.rank() == 0 && (two || index.dtype == DType::I32), "CND1",
            "the index is bool[] or i32[]; found {}", index);
  t.require(two ? branches.size() == 2 : !branches.empty(), "CND2",
            "bool chooses between two branches and i32 among at least one; found {}",
            branches.size());
  const Types results = output_types(t.graph.function(branches[0]));
  for (FunctionId id : branches) {
    const Function& branch = t.graph.function(id);
    check_inputs(t, "CND3", branch, 1);
    t.require(output_types(branch) == results, "CND4",
              "branches must return the same types; @{} and @{} do not",
              t.graph.function(branches[0]).name, branch.name);
  }
  return results;
}

Types type_all_reduce(const Typing& t) {
  if (t.attrs.has(AttrKey::GroupSize)) group_size(t);
  for (const TensorType& type : t.operands) {
    t.require_reduction("COL2", t.attrs.get<ElementFn>(AttrKey::Fn), type.dtype);
  }
  return t.operands;
}

Types type_all_gather(const Typing& t) {
  TensorType type = t.operands[0];
  const size_t dim = t.require_dim("COL4", t.integer(AttrKey::Dim), type.shape.size());
  type.shape[dim] = type.shape[dim] * group_size(t);
  return {type};
}

Types type_reduce_scatter(const Typing& t) {
  TensorType type = t.operands[0];
  t.require_reduction("COL2", t.attrs.get<ElementFn>(AttrKey::Fn), type.dtype);
  const size_t dim = t.require_dim("COL4", t.integer(AttrKey::Dim), type.shape.size());
  type.shape[dim] = part(t, type.shape[dim], group_size(t));
  return {type};
}

Types type_all_to_all(const Typing& t) {
  TensorType type = t.operands[0];
  const Dim parts = group_size(t);
  const size_t split = t.require_dim("COL4", t.integer(AttrKey::SplitDim), type.shape.size());
  const size_t concat = t.require_dim("COL4", t.integer(AttrKey::ConcatDim), type.shape.size());
  type.shape[split] = part(t, type.shape[split], parts);
  type.shape[concat] = type.shape[concat] * parts;
  return {type};
}

Types type_collective_permute(const Typing& t) {
  const auto& pairs = t.attrs.get<DimPairs>(AttrKey::Pairs);
  t.require(pairs.lhs.size() == pairs.rhs.size(), "COL5",
            "senders and receivers go in pairs; found {} and {}", pairs.lhs.size(),
            pairs.rhs.size());
  for (const Ints* side : {&pairs.lhs, &pairs.rhs}) {
    Ints sorted = *side;
    std::sort(sorted.begin(), sorted.end());
    t.require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "COL5",
              "a device sends once and receives once");
    t.require(sorted.empty() || sorted.front() >= 0, "COL5", "devices count from 0; found {}",
              sorted.empty() ? 0 : sorted.front());
  }
  return {t.operands[0]};
}

Types type_custom_call(const Typing& t) { return t.declared; }

}  // namespace wafer::ir
