#include "wafer/autodiff/training_step.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>

#include "wafer/autodiff/differentiator.h"
#include "wafer/autodiff/expr.h"
#include "wafer/autodiff/loss.h"
#include "wafer/autodiff/optimizer.h"
#include "wafer/base/error.h"

namespace wafer::autodiff {
namespace {

using ir::Builder;
using ir::Function;
using ir::Ints;
using ir::Op;
using ir::Output;
using ir::Role;
using ir::ValueId;

struct Trained {
  size_t input;  ///< index into main's inputs
  ValueId gradient;
  const Op* first_use;  ///< in the forward graph
};

void check_options(const TrainingOptions& options) {
  Problems problems;
  const auto number = [&](const char* name, double value, double below) {
    if (std::isfinite(value) && value >= 0 && value < below) return;
    problems.add(fmt::format("{} must lie in [0, {}); found {}", name, below, value));
  };
  constexpr double Large = HUGE_VAL;
  number("clip_norm", options.clip_norm, Large);
  if (const auto* adamw = std::get_if<AdamW>(&options.optimizer)) {
    number("beta1", adamw->beta1, 1);
    number("beta2", adamw->beta2, 1);
    number("epsilon", adamw->epsilon, Large);
    number("weight_decay", adamw->weight_decay, Large);
  } else {
    number("momentum", std::get<Sgd>(options.optimizer).momentum, Large);
    number("weight_decay", std::get<Sgd>(options.optimizer).weight_decay, Large);
  }
  problems.throw_if_any("these are not options of training:");
}

/// The first op of `f` that reads each value; nullptr for none.
std::vector<const Op*> first_uses(const Function& f) {
  std::vector<const Op*> first(f.values.size(), nullptr);
  for (const Op& op : f.ops) {
    for (ValueId v : op.operands) {
      if (first[v.index] == nullptr) first[v.index] = &op;
    }
  }
  return first;
}

/// Keeps the outputs of the forward graph that an input donates its memory to, with the loss before
/// them.
void keep_outputs(Function& main, ValueId loss, const std::string& name) {
  std::vector<Output> kept = {{name, loss}};
  for (ir::Input& input : main.inputs) {
    if (input.donated_output < 0) continue;
    const Output& output = main.outputs[static_cast<size_t>(input.donated_output)];
    if (output.value == loss) {
      input.donated_output = -1;
      continue;
    }
    input.donated_output = static_cast<int>(kept.size());
    kept.push_back(output);
  }
  main.outputs = std::move(kept);
}

/// Sum of the squares of a gradient's elements, in f32, by a function shared by its type.
class SquareSums {
 public:
  explicit SquareSums(Builder& b) : b_(b) {}

  Expr of(ValueId gradient) {
    const TensorType type = b_.type_of(gradient);
    const auto [at, fresh] = functions_.try_emplace(type.text());
    if (fresh) at->second = write(type);
    return {b_, b_.call(at->second, {gradient})[0]};
  }

 private:
  ir::FunctionId write(const TensorType& type) {
    std::string name = fmt::format("square_sum.{}", functions_.size() - 1);
    while (b_.graph().find(name).valid()) name += "_";
    const ir::FunctionId function = b_.graph().add_function(name);
    Builder inner(b_.graph(), function);
    inner.phase = ir::Phase::Optimizer;
    Ints dims(type.shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    const Expr g(inner, inner.input("gradient", type));
    const ValueId sum =
        inner.reduce_sum(square(convert(g, OptimizerBuilder::exact(type.dtype))), dims);
    inner.output("sum", inner.convert(sum, DType::F32));
    return function;
  }

  Builder& b_;
  std::map<std::string, ir::FunctionId> functions_;
};

/// min(1, clip_norm / |gradients|) with the norm over all of them; 1e-6 as in PyTorch's
/// clip_grad_norm_.
ValueId clip_scale(Builder& b, const std::vector<Trained>& trained, double clip_norm) {
  b.scope = "clip";
  SquareSums sums(b);
  Expr total(b, b.scalar(0, DType::F32));
  for (const Trained& t : trained) total = total + sums.of(t.gradient);
  const ValueId norm = sqrt(total);
  const Expr one(b, b.scalar(1, DType::F32));
  return min(one, scalar_like(one, clip_norm) / (Expr(b, norm) + 1e-6));
}

/// Adds the inputs of a parameter's state and the outputs of its update; each output takes the
/// memory of its input.
void add_update(Builder& b, OptimizerBuilder& optimizer, const Trained& t) {
  const ir::Input parameter = b.function().inputs[t.input];
  const TensorType type = b.type_of(parameter.value);
  const TensorType state_type{OptimizerBuilder::exact(type.dtype), type.shape};
  std::vector<size_t> donors = {t.input};
  std::vector<ValueId> state;
  for (const std::string& suffix : optimizer.state_of(type.dtype)) {
    donors.push_back(b.function().inputs.size());
    state.push_back(b.input(parameter.name + "." + suffix, state_type, Role::OptimizerState));
  }
  b.layer = t.first_use == nullptr ? "" : t.first_use->layer;
  b.scope = t.first_use == nullptr ? "" : t.first_use->scope;
  b.location = t.first_use == nullptr ? "" : t.first_use->location;
  const std::vector<ValueId> updated = optimizer.update(parameter.value, t.gradient, state);
  for (size_t i = 0; i < updated.size(); ++i) {
    Function& main = b.function();
    main.inputs[donors[i]].donated_output = static_cast<int>(main.outputs.size());
    const std::string name = main.inputs[donors[i]].name;
    b.output(name, updated[i]);
  }
}

/// Names of new inputs must be free.
void check_names(const Function& main) {
  std::map<std::string, int> count;
  Problems problems;
  for (const ir::Input& input : main.inputs) {
    if (++count[input.name] == 2) problems.add(fmt::format("input \"{}\"", input.name));
  }
  problems.throw_if_any(
      "the training step adds inputs of these names, which the graph has already:");
}

}  // namespace

ir::Graph training_step(const ir::Graph& forward, const TrainingOptions& options) {
  check_options(options);
  ir::Graph graph = forward;
  const ValueId loss = find_or_attach_loss(graph, options.loss, options.ignore_index);
  keep_outputs(graph.entry(), loss, options.loss);

  std::vector<size_t> parameters;
  for (size_t i = 0; i < graph.entry().inputs.size(); ++i) {
    if (is_trained(graph.entry(), graph.entry().inputs[i])) parameters.push_back(i);
  }
  const std::vector<const Op*> uses = first_uses(forward.entry());
  const std::vector<ValueId> gradients = Differentiator(graph).run(loss, parameters);
  std::vector<Trained> trained;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!gradients[i].valid()) continue;
    const ValueId value = graph.entry().inputs[parameters[i]].value;
    trained.push_back({parameters[i], gradients[i], uses[value.index]});
  }
  if (trained.empty()) {
    throw InputError(graph.entry().name +
                     " has nothing to train: the loss depends on no parameter");
  }

  Builder b(graph, graph.main);
  b.phase = ir::Phase::Optimizer;
  b.scope = "optimizer";
  OptimizerBuilder optimizer(b, options);
  if (options.clip_norm > 0) optimizer.set_clip(clip_scale(b, trained, options.clip_norm));
  for (const Trained& t : trained) add_update(b, optimizer, t);
  check_names(graph.entry());
  prune_functions(graph);
  return graph;
}

}  // namespace wafer::autodiff
