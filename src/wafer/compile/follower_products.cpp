#include "wafer/base/error.h"
#include "wafer/compile/follower.h"
#include "wafer/ir/convolution.h"

namespace wafer::compile {

using ir::AttrKey;
using ir::Function;
using ir::Op;
bool Follower::is_product(const ActivationPtr& t) const {
  return t->maker.layer == &layer_ && t->maker.product != Maker::NoProduct;
}

ActivationPtr Follower::attention(const Function& f, const Op& op, const Operands& operands) {
  AttentionStep step{.name = step_name(op),
                     .batch_heads = dim(f, op.operands[0], 0) * dim(f, op.operands[0], 1),
                     .batch_kv_heads = dim(f, op.operands[1], 0) * dim(f, op.operands[1], 1),
                     .queries = dim(f, op.operands[0], 2),
                     .keys = dim(f, op.operands[1], 2),
                     .depth = dim(f, op.operands[0], 3),
                     .value_depth = dim(f, op.operands[2], 3),
                     .causal = op.attrs.get_or<bool>(AttrKey::Causal, false)};
  for (size_t i = 0; i < 3; ++i) {
    const ActivationPtr& t = operands[i];
    if (!t) continue;
    if (is_product(t)) {
      std::get<ProductStep>(layer_.steps[t->maker.product]).grains[t->maker.column] =
          i == 2 ? step.value_depth : step.depth;
    }
    finish(t, step_name(op));
    keep(t);
    step.shared = step.shared || t->shared;
  }
  const bool shared = step.shared;
  layer_.steps.emplace_back(std::move(step));
  return activation(count(f, op.results[0]), shared);
}

ActivationPtr Follower::dot(const Function& f, const Op& op, const Operands& operands) {
  double k = 1, batch = 1;
  for (int64_t d : op.attrs.get<ir::DimPairs>(AttrKey::Contract).lhs) {
    k *= dim(f, op.operands[0], static_cast<size_t>(d));
  }
  for (int64_t d : op.attrs.get_or<ir::DimPairs>(AttrKey::Batch, {}).lhs) {
    batch *= dim(f, op.operands[0], static_cast<size_t>(d));
  }
  const size_t left = operands[0] ? 0 : 1;
  const double m = count(f, op.operands[left]) / (batch * k);
  const double n = count(f, op.operands[1 - left]) / (batch * k);
  const plan::Product shape{.m = m, .n = n, .k = k, .batch = batch};
  if (operands[0] && operands[1]) return local(op, shape, operands);
  return weighted(op, shape, operands[left]);
}

ActivationPtr Follower::local(const Op& op, const plan::Product& shape, const Operands& operands) {
  bool shared = false;
  for (const ActivationPtr& t : operands) {
    finish(t, step_name(op));
    keep(t);
    shared = shared || t->shared;
  }
  layer_.steps.emplace_back(ProductStep{.name = step_name(op),
                                        .shape = shape,
                                        .weight = false,
                                        .shared = shared,
                                        .columns = {shape.n},
                                        .grains = {0}});
  return activation(shape.batch * shape.m * shape.n, shared);
}

ActivationPtr Follower::weighted(const Op& op, const plan::Product& shape, const ActivationPtr& x) {
  finish(x, step_name(op));
  keep(x);
  Split split = Split::None;
  if (layer_.repeated) split = x->shared ? Split::Rows : Split::Columns;
  // Outside layers only a matrix wider than its rows, a vocabulary, is dealt to ranks.
  if (!layer_.repeated && !x->shared && shape.n > shape.k) split = Split::Columns;
  const bool shared = split == Split::Columns || (split == Split::None && x->shared);
  ActivationPtr result = activation(shape.batch * shape.m * shape.n, shared);
  ProductStep* joined = split == Split::Columns ? product_of(x, shape) : nullptr;
  if (joined != nullptr) {
    joined->shape.n += shape.n;
    joined->columns.push_back(shape.n);
    joined->grains.push_back(0);
    result->maker = {&layer_, readers_.at(x.get()), joined->columns.size() - 1};
    return result;
  }
  if (split == Split::Columns) readers_[x.get()] = layer_.steps.size();
  result->maker = {&layer_, layer_.steps.size(), 0};
  layer_.steps.emplace_back(ProductStep{
      .name = step_name(op), .shape = shape, .split = split, .columns = {shape.n}, .grains = {0}});
  inputs_.push_back(x);  // readers_ knows it by its address
  return result;
}

/// The product that reads the same operand, which this one can be a part of.
ProductStep* Follower::product_of(const ActivationPtr& x, const plan::Product& shape) {
  const auto found = readers_.find(x.get());
  if (found == readers_.end()) return nullptr;
  auto& step = std::get<ProductStep>(layer_.steps[found->second]);
  const bool alike = step.shape.k == shape.k && step.shape.m == shape.m && shape.batch == 1 &&
                     step.shape.batch == 1;
  return alike ? &step : nullptr;
}

ActivationPtr Follower::convolution(const Function& f, const Op& op, const Operands& operands) {
  WAFER_CHECK(operands[0] != nullptr, "a convolution reads an activation");
  const auto spec = ir::convolution_spec(op.attrs, f.type_of(op.operands[0]).rank());
  const double features = dim(f, op.operands[1], spec.kernel.batch);
  const plan::Product shape{.m = count(f, op.results[0]) / features,
                            .n = features,
                            .k = count(f, op.operands[1]) / features};
  const ActivationPtr result = weighted(op, shape, operands[0]);
  if (is_product(result)) {
    std::get<ProductStep>(layer_.steps[result->maker.product]).convolution = true;
  }
  return result;
}

}  // namespace wafer::compile
