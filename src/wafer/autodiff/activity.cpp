#include "wafer/autodiff/activity.h"

#include "wafer/autodiff/rules.h"

namespace wafer::autodiff {
namespace {

Mask pick(const Mask& varied, const std::vector<ir::ValueId>& values) {
  Mask mask;
  for (ir::ValueId v : values) mask.push_back(varied[v.index]);
  return mask;
}

}  // namespace

bool Activity::varies(const ir::Op& op, const Mask& varied) const {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (varied[op.operands[i].index] && propagates(op, i)) return true;
  }
  return false;
}

Mask Activity::varied_values(ir::FunctionId function, const Mask& inputs) {
  const ir::Function& f = graph_.function(function);
  Mask varied(f.values.size(), false);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::ValueId v = f.inputs[i].value;
    varied[v.index] = inputs[i] && is_float(f.type_of(v).dtype);
  }
  for (const ir::Op& op : f.ops) {
    if (!varies(op, varied)) continue;
    const Mask* called = nullptr;
    if (op.kind == ir::OpKind::Call) {
      const auto callee = op.attrs.get<ir::FunctionId>(ir::AttrKey::Body);
      called = &varied_outputs(callee, pick(varied, op.operands));
    }
    for (size_t i = 0; i < op.results.size(); ++i) {
      const bool floats = is_float(f.type_of(op.results[i]).dtype);
      varied[op.results[i].index] = floats && (called == nullptr || (*called)[i]);
    }
  }
  return varied;
}

const Mask& Activity::varied_outputs(ir::FunctionId function, const Mask& inputs) {
  const std::pair key(function, inputs);
  const auto known = outputs_.find(key);
  if (known != outputs_.end()) return known->second;
  const Mask varied = varied_values(function, inputs);
  std::vector<ir::ValueId> values;
  for (const ir::Output& output : graph_.function(function).outputs) values.push_back(output.value);
  return outputs_.emplace(key, pick(varied, values)).first->second;
}

}  // namespace wafer::autodiff
