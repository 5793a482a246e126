#include "wafer/autodiff/backward.h"

#include <algorithm>

#include "wafer/autodiff/differentiator.h"
#include "wafer/autodiff/rules.h"

namespace wafer::autodiff {

using ir::AttrKey;
using ir::FunctionId;
using ir::Ints;
using ir::Op;
using ir::OpId;
using ir::OpKind;
using ir::ValueId;

Backward::Backward(Differentiator& graph, FunctionId primal, FunctionId target, Mask varied)
    : graph_(graph),
      primal_(primal),
      own_target_(primal != target),
      builder_(graph.graph(), target),
      varied_(std::move(varied)),
      contributions_(varied_.size()) {
  builder_.phase = ir::Phase::Backward;
}

ir::Function& Backward::primal() { return graph_.graph().function(primal_); }

void Backward::seed(ValueId value, ValueId cotangent) {
  add(value, {.value = cotangent, .starts = {}});
}

void Backward::run() {
  for (size_t i = primal().ops.size(); i-- > 0;) {
    if (is_reached(primal().ops[i])) visit(OpId(i));
  }
}

/// Whether a cotangent goes into the op, and on to an operand.
bool Backward::is_reached(const Op& op) const {
  const bool in = std::any_of(op.results.begin(), op.results.end(), [&](ValueId v) {
    return v.index < contributions_.size() && !contributions_[v.index].empty();
  });
  if (!in) return false;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (varies(op.operands[i]) && propagates(op, i)) return true;
  }
  return false;
}

void Backward::visit(OpId id) {
  const Op& seen = primal().op(id);
  const bool fourth = seen.operands.size() > 3 && varies(seen.operands[3]);
  if (through_decomposition(seen, fourth)) outline_composite(id);
  const Op op = primal().op(id);  // a copy: ops are appended where it stands
  builder_.layer = op.layer;
  builder_.scope = op.scope;
  builder_.location = op.location;
  if (op.kind == OpKind::Call) return visit_call(id, op);
  const Rule rule = rule_of(op.kind);
  if (rule == nullptr) return graph_.refuse(op, primal().name, "no gradient rule");
  OpGradient gradient(*this, op);
  rule(gradient);
}

void Backward::visit_call(OpId id, const Op& op) {
  Mask inputs, outputs;
  std::vector<ValueId> operands;
  for (ValueId v : op.operands) inputs.push_back(varies(v));
  for (ValueId v : op.results) {
    outputs.push_back(!contributions_[v.index].empty());
    if (outputs.back()) operands.push_back(cotangent(v));
  }
  const Variant& variant = graph_.variant(op.attrs.get<FunctionId>(AttrKey::Body), inputs, outputs);
  if (variant.gradients.empty()) return;

  // The forward call returns the residuals too.
  const ir::Function& forward = graph_.graph().function(variant.forward);
  ir::Function& caller = primal();
  caller.ops[id.index].attrs.set(AttrKey::Body, variant.forward);
  for (size_t i = op.results.size(); i < forward.outputs.size(); ++i) {
    const ValueId v = caller.add_value(forward.type_of(forward.outputs[i].value), id);
    caller.ops[id.index].results.push_back(v);
  }
  const std::vector<ValueId> results = caller.ops[id.index].results;
  for (const Variant::Residual& r : variant.residuals) {
    const bool operand = r.from == Variant::Residual::From::Operand;
    operands.push_back(available(operand ? op.operands[r.index] : results[r.index]));
  }
  const std::vector<ValueId> gradients = builder_.call(variant.backward, std::move(operands));
  for (size_t i = 0; i < gradients.size(); ++i) {
    seed(op.operands[variant.gradients[i]], gradients[i]);
  }
}

void Backward::outline_composite(OpId id) {
  std::vector<TensorType> types;
  for (ValueId v : primal().op(id).operands) types.push_back(primal().type_of(v));
  const FunctionId function = graph_.decomposition(primal().op(id), types);
  Op& op = primal().ops[id.index];
  op.kind = OpKind::Call;
  op.attrs = {{AttrKey::Body, function}};
}

ValueId Backward::available(ValueId v) {
  const auto known = available_.find(v);
  if (known != available_.end()) return known->second;
  const ValueId made = make_available(v);
  available_.emplace(v, made);
  return made;
}

/// Sources, and ops whose operand is no larger than their result and that compute nothing: their
/// results need not be kept from the forward to the backward pass.
bool Backward::is_cheap(const Op& op) const {
  switch (op.kind) {
    case OpKind::Constant:
    case OpKind::Iota:
    case OpKind::BroadcastInDim:
    case OpKind::Reshape:
      return true;
    case OpKind::Convert: {
      const ir::Function& f = graph_.graph().function(primal_);
      return size_in_bytes(f.type_of(op.operands[0]).dtype) <=
             size_in_bytes(f.type_of(op.results[0]).dtype);
    }
    default:
      return false;
  }
}

ValueId Backward::make_available(ValueId v) {
  const OpId producer = primal().values[v.index].producer;
  if (producer.valid() && is_cheap(primal().op(producer))) {
    Op op = primal().op(producer);
    const TensorType type = primal().type_of(v);
    for (ValueId& operand : op.operands) operand = available(operand);
    op.phase = ir::Phase::Backward;
    ir::Function& target = builder_.function();
    return target.op(target.append(std::move(op), {type})).results[0];
  }
  if (!own_target_) return v;
  residuals_.push_back(v);
  return builder_.input("", primal().type_of(v));
}

void Backward::add(ValueId value, Contribution contribution) {
  if (varies(value)) contributions_[value.index].push_back(std::move(contribution));
}

ValueId Backward::cotangent(ValueId value) {
  std::vector<Contribution>& parts = contributions_[value.index];
  if (parts.empty()) return {};
  const TensorType type = primal().type_of(value);
  ValueId sum = joined(parts, type);
  if (!sum.valid()) {
    for (const Contribution& part : parts) {
      const ValueId term = whole(part, type);
      sum = sum.valid() ? builder_.add(sum, term) : term;
    }
  }
  parts = {{.value = sum, .starts = {}}};
  return sum;
}

ValueId Backward::whole(const Contribution& c, const TensorType& type) {
  const Shape part = builder_.shape_of(c.value);
  if (part == type.shape) return c.value;
  Ints high(part.size(), 0);
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] == type.shape[i]) continue;
    high[i] = type.shape[i].value() - c.starts[i] - part[i].value();
  }
  return builder_.emit1(
      OpKind::Pad, {c.value, builder_.scalar(0, type.dtype)},
      {{AttrKey::Low, c.starts}, {AttrKey::High, high}, {AttrKey::Interior, Ints(part.size(), 0)}});
}

ValueId Backward::joined(std::vector<Contribution> parts, const TensorType& type) {
  if (parts.size() < 2 || parts[0].starts.empty()) return {};
  // The one dimension in which the first part is not the whole.
  const Shape first = builder_.shape_of(parts[0].value);
  size_t dim = 0;
  while (dim < first.size() && first[dim] == type.shape[dim]) ++dim;
  if (dim == first.size() || !type.shape[dim].is_static()) return {};
  for (const Contribution& part : parts) {
    if (part.starts.empty()) return {};
    Shape shape = builder_.shape_of(part.value);
    shape[dim] = type.shape[dim];
    if (shape != type.shape) return {};
  }
  std::sort(parts.begin(), parts.end(), [&](const Contribution& a, const Contribution& c) {
    return a.starts[dim] < c.starts[dim];
  });
  int64_t next = 0;
  std::vector<ValueId> values;
  for (const Contribution& part : parts) {
    if (part.starts[dim] != next) return {};
    next += builder_.shape_of(part.value)[dim].value();
    values.push_back(part.value);
  }
  if (next != type.shape[dim].value()) return {};
  return builder_.concatenate(values, static_cast<int64_t>(dim));
}

}  // namespace wafer::autodiff
