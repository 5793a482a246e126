#include "wafer/compile/follower.h"

#include <algorithm>

namespace wafer::compile {

using ir::AttrKey;
using ir::ElementFn;
using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using Kind = PassStep::Kind;

ActivationPtr activation(double elements, bool shared) {
  auto t = std::make_shared<Activation>();
  t->elements = elements;
  t->shared = shared;
  return t;
}

double count(const Function& f, ValueId v) { return static_cast<double>(f.type_of(v).elements()); }

double dim(const Function& f, ValueId v, size_t d) {
  return static_cast<double>(f.type_of(v).shape[d].value());
}

std::string step_name(const Op& op) {
  return op.scope.empty() ? std::string(ir::name_of(op.kind)) : op.scope;
}

Follower::Operands Follower::run(const Function& f, const Operands& inputs) {
  std::vector<ActivationPtr> values(f.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[f.inputs[i].value.index] = inputs[i];
  for (const Op& op : f.ops) follow(f, op, values);
  std::vector<ActivationPtr> outputs;
  for (const ir::Output& o : f.outputs) {
    const ActivationPtr& t = values[o.value.index];
    if (t) finish(t, "residual");
    outputs.push_back(t);
  }
  return outputs;
}

/// Runs what is pending, as one pass: its operands are read, its result is written.
void Follower::finish(const ActivationPtr& t, const std::string& name) {
  if (!t->pending) return;
  PassStep step{.name = name,
                .kind = t->linear ? Kind::Linear : Kind::Nonlinear,
                .elements = t->elements,
                .read = 0,
                .operands = static_cast<int>(t->sources.size()),
                .shared = t->shared};
  for (const ActivationPtr& source : t->sources) {
    step.read += source->elements;
    if (!t->linear) keep(source);
  }
  layer_.steps.emplace_back(std::move(step));
  t->pending = false;
  t->sources.clear();
}

void Follower::follow(const Function& f, const Op& op, std::vector<ActivationPtr>& values) {
  std::vector<ActivationPtr> operands;
  for (ValueId v : op.operands) operands.push_back(values[v.index]);
  const bool active = std::any_of(operands.begin(), operands.end(),
                                  [](const ActivationPtr& t) { return t != nullptr; });
  if (!active) return;
  if (op.kind == OpKind::Call) {
    const Function& callee = graph_.function(op.attrs.get<ir::FunctionId>(AttrKey::Body));
    const std::vector<ActivationPtr> results = run(callee, operands);
    for (size_t i = 0; i < results.size(); ++i) values[op.results[i].index] = results[i];
    return;
  }
  const ActivationPtr result = result_of(f, op, operands);
  for (ValueId r : op.results) values[r.index] = result;
}

ActivationPtr Follower::result_of(const Function& f, const Op& op, const Operands& operands) {
  switch (op.kind) {
    case OpKind::DotGeneral:
      return dot(f, op, operands);
    case OpKind::Convolution:
      return convolution(f, op, operands);
    case OpKind::Attention:
      return attention(f, op, operands);
    case OpKind::LayerNorm:
    case OpKind::RmsNorm:
    case OpKind::BatchNorm:
      return norm(op, operands[0], Kind::Norm);
    case OpKind::Softmax:
      return norm(op, operands[0], Kind::Softmax);
    case OpKind::CrossEntropy:
      return loss(op, operands[0], count(f, op.results[0]));
    case OpKind::Gather:
      return lookup(op, operands, count(f, op.results[0]));
    case OpKind::Reshape:
    case OpKind::Transpose:
    case OpKind::Convert:
      return operands[0];
    case OpKind::Slice:
    case OpKind::BroadcastInDim:
      return part(operands[0], count(f, op.results[0]), op);
    case OpKind::Elementwise:
      return elementwise(f, op, operands);
    case OpKind::Gelu:
      return pending(operands, false, count(f, op.results[0]));
    case OpKind::Concatenate:
    case OpKind::Pad:
    case OpKind::Reverse:
      return pending(operands, true, count(f, op.results[0]));
    default:
      return pass(f, op, operands);
  }
}

void Follower::keep(const ActivationPtr& t) {
  if (t->kept) return;
  t->kept = true;
  (t->shared ? layer_.kept.shared : layer_.kept.whole) += t->elements;
}

/// Element-wise ops wait until somebody reads their result, and then run as one.
ActivationPtr Follower::pending(const Operands& operands, bool linear, double elements) {
  ActivationPtr result = activation(elements, false);
  result->pending = true;
  result->linear = linear;
  size_t active = 0;
  for (const ActivationPtr& t : operands) {
    if (!t) continue;
    ++active;
    result->shared = result->shared || t->shared;
    result->linear = result->linear && t->linear;
    for (const ActivationPtr& source : t->pending ? t->sources : std::vector<ActivationPtr>{t}) {
      const auto& known = result->sources;
      if (std::find(known.begin(), known.end(), source) == known.end()) {
        result->sources.push_back(source);
      }
    }
    result->maker = t->maker;
  }
  if (active != 1) result->maker.product = Maker::NoProduct;
  return result;
}

ActivationPtr Follower::elementwise(const Function& f, const Op& op, const Operands& operands) {
  const auto active = static_cast<size_t>(std::count_if(
      operands.begin(), operands.end(), [](const ActivationPtr& t) { return t != nullptr; }));
  const auto fn = op.attrs.get<ElementFn>(AttrKey::Fn);
  const ActivationPtr& first = operands[0] ? operands[0] : operands.back();
  if (fn == ElementFn::Add && active == 1 && first && !first->pending && is_product(first)) {
    std::get<ProductStep>(layer_.steps[first->maker.product]).bias = true;
    return first;  // a product adds its bias before it writes its result
  }
  const bool sum = fn == ElementFn::Add || fn == ElementFn::Subtract || fn == ElementFn::Negate;
  const bool scaled = (fn == ElementFn::Multiply || fn == ElementFn::Divide) && active == 1;
  return pending(operands, sum || scaled, count(f, op.results[0]));
}

/// A slice, or a smaller tensor broadcast: what is read of it.
ActivationPtr Follower::part(const ActivationPtr& whole, double elements, const Op& op) {
  if (elements == whole->elements) return whole;
  finish(whole, step_name(op));
  ActivationPtr result = activation(std::min(elements, whole->elements), whole->shared);
  result->maker = whole->maker;
  return result;
}

ActivationPtr Follower::norm(const Op& op, const ActivationPtr& x, Kind kind) {
  finish(x, step_name(op));
  keep(x);
  layer_.steps.emplace_back(PassStep{.name = step_name(op),
                                     .kind = kind,
                                     .elements = x->elements,
                                     .read = x->elements,
                                     .operands = 1,
                                     .shared = x->shared});
  return activation(x->elements, x->shared);
}

ActivationPtr Follower::loss(const Op& op, const ActivationPtr& logits, double rows) {
  finish(logits, step_name(op));
  layer_.steps.emplace_back(PassStep{.name = step_name(op),
                                     .kind = Kind::Loss,
                                     .elements = logits->elements,
                                     .read = logits->elements,
                                     .operands = 1,
                                     .shared = logits->shared});
  return activation(rows, false);
}

ActivationPtr Follower::lookup(const Op& op, const Operands& operands, double elements) {
  if (operands[0]) finish(operands[0], step_name(op));
  layer_.steps.emplace_back(PassStep{.name = step_name(op),
                                     .kind = Kind::Lookup,
                                     .elements = elements,
                                     .read = elements,
                                     .operands = 1});
  return activation(elements, operands[0] && operands[0]->shared);
}

/// Any other op: reads what it is given and writes what it makes.
ActivationPtr Follower::pass(const Function& f, const Op& op, const Operands& operands) {
  PassStep step{.name = step_name(op), .kind = Kind::Linear, .operands = 0};
  for (const ActivationPtr& t : operands) {
    if (!t) continue;
    finish(t, step_name(op));
    step.read += t->elements;
    ++step.operands;
    step.shared = step.shared || t->shared;
  }
  for (ValueId r : op.results) step.elements += count(f, r);
  const ActivationPtr result = activation(step.elements, step.shared);
  layer_.steps.emplace_back(std::move(step));
  return result;
}

}  // namespace wafer::compile
