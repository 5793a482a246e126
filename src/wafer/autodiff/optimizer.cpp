#include "wafer/autodiff/optimizer.h"

#include <fmt/format.h>

#include "wafer/autodiff/expr.h"

namespace wafer::autodiff {
namespace {

using ir::Builder;
using ir::FunctionId;
using ir::ValueId;

bool needs_master(DType parameter) { return size_in_bytes(parameter) < 4; }

/// "f16.768x768", "f32" for a scalar.
std::string short_text(const TensorType& type) {
  std::string text(name_of(type.dtype));
  for (size_t i = 0; i < type.shape.size(); ++i) {
    text += (i == 0 ? "." : "x") + type.shape[i].text();
  }
  return text;
}

/// The inputs of an update function, in their order, in the type that the update is computed in.
struct UpdateInputs {
  Builder& b;
  TensorType parameter;
  DType dtype;

  Expr take(const char* name, const TensorType& type, ir::Role role) const {
    return {b, b.input(name, type, role)};
  }
  Expr state(const char* name) const {
    return take(name, {dtype, parameter.shape}, ir::Role::OptimizerState);
  }
  /// f32 scalars as factors of elements.
  Expr scalar(const char* name) const {
    return convert(take(name, {DType::F32, {}}, ir::Role::Data), dtype);
  }
};

/// w: the weights, from the master copy where there is one.
struct Weights {
  Expr w, g;
};

Weights take_weights(const UpdateInputs& in) {
  const Expr parameter = in.take("parameter", in.parameter, ir::Role::Parameter);
  const Expr gradient = in.take("gradient", in.parameter, ir::Role::Data);
  const Expr w =
      needs_master(in.parameter.dtype) ? in.state("master") : convert(parameter, in.dtype);
  return {w, convert(gradient, in.dtype)};
}

void put_weights(Builder& b, const TensorType& parameter, const Expr& w) {
  b.output("parameter", convert(w, parameter.dtype));
  if (needs_master(parameter.dtype)) b.output("master", w);
}

/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// w = keep w - rate m / (sqrt(scale v) + epsilon)
void write_adamw(const UpdateInputs& in, const AdamW& o, bool decayed, bool clipped) {
  auto [w, g] = take_weights(in);
  const Expr m0 = in.state("m");
  const Expr v0 = in.state("v");
  const Expr rate = in.scalar("rate");
  const Expr scale = in.scalar("scale");
  if (decayed) w = w * in.scalar("keep");
  if (clipped) g = g * in.scalar("clip");
  const Expr m = o.beta1 * m0 + (1 - o.beta1) * g;
  const Expr v = o.beta2 * v0 + (1 - o.beta2) * square(g);
  put_weights(in.b, in.parameter, w - rate * m / (sqrt(scale * v) + o.epsilon));
  in.b.output("m", m);
  in.b.output("v", v);
}

/// g += weight_decay w; momentum = factor momentum + g; w -= rate momentum
void write_sgd(const UpdateInputs& in, const Sgd& o, bool clipped) {
  auto [w, g] = take_weights(in);
  const bool moves = o.momentum != 0;
  Expr step = moves ? o.momentum * in.state("momentum") : g;
  const Expr rate = in.scalar("rate");
  if (clipped) g = g * in.scalar("clip");
  if (o.weight_decay != 0) g = g + o.weight_decay * w;
  step = moves ? step + g : g;
  put_weights(in.b, in.parameter, w - rate * step);
  if (moves) in.b.output("momentum", step);
}

}  // namespace

OptimizerBuilder::OptimizerBuilder(Builder& b, const TrainingOptions& options)
    : b_(b), options_(options) {
  scalars_.rate = b_.input("learning_rate", {DType::F32, {}});
  if (const auto* adamw = std::get_if<AdamW>(&options.optimizer)) prepare_adamw(*adamw);
}

void OptimizerBuilder::prepare_adamw(const AdamW& o) {
  const Expr rate(b_, scalars_.rate);
  const Expr step = convert(Expr(b_, b_.input("step", {DType::I32, {}})), DType::F32);
  const auto correction = [&](double beta) { return 1.0 - pow(scalar_like(rate, beta), step); };
  if (o.weight_decay != 0) scalars_.keep = 1.0 - o.weight_decay * rate;
  scalars_.rate = rate / correction(o.beta1);
  scalars_.scale = scalar_like(rate, 1) / correction(o.beta2);
}

std::vector<std::string> OptimizerBuilder::state_of(DType parameter) const {
  std::vector<std::string> names;
  if (needs_master(parameter)) names.push_back("master");
  if (std::holds_alternative<AdamW>(options_.optimizer)) {
    names.insert(names.end(), {"m", "v"});
  } else if (std::get<Sgd>(options_.optimizer).momentum != 0) {
    names.push_back("momentum");
  }
  return names;
}

std::vector<ValueId> OptimizerBuilder::scalars(bool decayed) const {
  std::vector<ValueId> values = {scalars_.rate};
  if (scalars_.scale.valid()) values.push_back(scalars_.scale);
  if (decayed) values.push_back(scalars_.keep);
  if (clip_.valid()) values.push_back(clip_);
  return values;
}

std::vector<ValueId> OptimizerBuilder::update(ValueId parameter, ValueId gradient,
                                              const std::vector<ValueId>& state) {
  const TensorType type = b_.type_of(parameter);
  const auto* adamw = std::get_if<AdamW>(&options_.optimizer);
  const bool decayed =
      scalars_.keep.valid() && adamw != nullptr && (adamw->decay_vectors || type.rank() > 1);
  std::vector<ValueId> operands = {parameter, gradient};
  operands.insert(operands.end(), state.begin(), state.end());
  for (ValueId v : scalars(decayed)) operands.push_back(v);
  return b_.call(update_function(type, decayed), std::move(operands));
}

FunctionId OptimizerBuilder::update_function(const TensorType& parameter, bool decayed) {
  // Whether it decays follows from the type.
  const char* optimizer = std::holds_alternative<AdamW>(options_.optimizer) ? "adamw" : "sgd";
  const std::string name = fmt::format("{}.{}", optimizer, short_text(parameter));
  const auto known = functions_.find(name);
  if (known != functions_.end()) return known->second;
  std::string free = name;
  while (b_.graph().find(free).valid()) free += "_";
  const FunctionId function = b_.graph().add_function(free);
  write_update(function, parameter, decayed);
  functions_.emplace(name, function);
  return function;
}

void OptimizerBuilder::write_update(FunctionId function, const TensorType& parameter,
                                    bool decayed) {
  Builder inner(b_.graph(), function);
  inner.phase = ir::Phase::Optimizer;
  const UpdateInputs in{inner, parameter, exact(parameter.dtype)};
  if (const auto* adamw = std::get_if<AdamW>(&options_.optimizer)) {
    write_adamw(in, *adamw, decayed, clip_.valid());
  } else {
    write_sgd(in, std::get<Sgd>(options_.optimizer), clip_.valid());
  }
}

}  // namespace wafer::autodiff
