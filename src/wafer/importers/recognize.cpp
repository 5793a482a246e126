#include "wafer/importers/recognize.h"

#include "wafer/ir/rewrite.h"

namespace wafer::importers {

using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

ir::Graph recognize_all(const ir::Graph& graph) {
  ir::Graph g = simplify_moves(graph);
  g = recognize_norms(g);
  g = recognize_gelu(g);
  g = recognize_attention(g);
  g = recognize_rotary(g);
  g = fold_transposes(simplify_moves(g));
  return drop_unused(g);
}

namespace {

bool has_effect(const Op& op) {
  return op.kind == OpKind::CustomCall && op.attrs.get_or<bool>(ir::AttrKey::HasSideEffect, false);
}

Function without_unused(const Function& f) {
  std::vector<bool> used(f.values.size(), false);
  for (const ir::Output& output : f.outputs) used[output.value.index] = true;
  std::vector<bool> kept(f.ops.size(), false);
  for (size_t i = f.ops.size(); i-- > 0;) {
    const Op& op = f.ops[i];
    for (ValueId v : op.results) kept[i] = kept[i] || used[v.index];
    kept[i] = kept[i] || has_effect(op);
    if (!kept[i]) continue;
    for (ValueId v : op.operands) used[v.index] = true;
  }
  Function result;
  result.name = f.name;
  std::vector<ValueId> mapped(f.values.size());
  for (const ir::Input& input : f.inputs) {
    const bool stored = input.role == ir::Role::Parameter || input.role == ir::Role::Constant;
    if (stored && !used[input.value.index]) continue;
    ir::Input copy = input;
    copy.value = result.add_value(f.type_of(input.value), ir::OpId());
    mapped[input.value.index] = copy.value;
    result.inputs.push_back(std::move(copy));
  }
  for (size_t i = 0; i < f.ops.size(); ++i) {
    if (!kept[i]) continue;
    Op copy = f.ops[i];
    std::vector<TensorType> types;
    for (ValueId v : copy.results) types.push_back(f.type_of(v));
    for (ValueId& v : copy.operands) v = mapped[v.index];
    const ir::OpId id = result.append(std::move(copy), types);
    for (size_t r = 0; r < types.size(); ++r) {
      mapped[f.ops[i].results[r].index] = result.op(id).results[r];
    }
  }
  for (const ir::Output& output : f.outputs) {
    result.outputs.push_back({output.name, mapped[output.value.index]});
  }
  return result;
}

}  // namespace

ir::Graph drop_unused(const ir::Graph& graph) {
  ir::Graph result = graph;
  for (Function& f : result.functions) f = without_unused(f);
  return result;
}

}  // namespace wafer::importers
