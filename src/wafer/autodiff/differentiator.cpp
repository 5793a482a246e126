#include "wafer/autodiff/differentiator.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "wafer/autodiff/backward.h"
#include "wafer/ir/builder.h"
#include "wafer/ir/decompose.h"

namespace wafer::autodiff {
namespace {

using ir::Function;
using ir::FunctionId;
using ir::ValueId;

/// Where a value of a forward function is found by its caller; adds an output where it is not.
Variant::Residual locate(Function& f, ValueId v, size_t results) {
  using From = Variant::Residual::From;
  for (size_t i = 0; i < f.inputs.size(); ++i) {
    if (f.inputs[i].value == v) return {From::Operand, i};
  }
  for (size_t i = 0; i < f.outputs.size(); ++i) {
    if (f.outputs[i].value == v) return {From::Result, i};
  }
  f.outputs.push_back({fmt::format("residual.{}", f.outputs.size() - results), v});
  return {From::Result, f.outputs.size() - 1};
}

/// Adds the inputs that hold cotangents of outputs and seeds the backward pass with them.
void take_cotangents(Backward& backward, const Function& forward, Function& target,
                     const Mask& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    const ir::Output& output = forward.outputs[i];
    backward.seed(output.value,
                  target.add_input("grad." + output.name, forward.type_of(output.value)));
  }
}

/// Names the inputs of a backward function that hold values of the forward one.
void name_residuals(const Function& forward, const Variant& variant, Function& backward) {
  const size_t first = backward.inputs.size() - variant.residuals.size();
  std::set<std::string> taken;
  for (size_t i = 0; i < first; ++i) taken.insert(backward.inputs[i].name);
  for (size_t i = 0; i < variant.residuals.size(); ++i) {
    const auto [from, index] = variant.residuals[i];
    ir::Input& input = backward.inputs[first + i];
    if (from == Variant::Residual::From::Operand) {
      input.role = forward.inputs[index].role;
      input.name = forward.inputs[index].name;
    } else {
      input.name = forward.outputs[index].name;
    }
    while (!taken.insert(input.name).second) input.name += ".value";
  }
}

}  // namespace

std::vector<ValueId> Differentiator::run(ValueId loss, const std::vector<size_t>& inputs) {
  Mask mask(graph_.entry().inputs.size(), false);
  for (size_t i : inputs) mask[i] = true;
  Backward backward(*this, graph_.main, graph_.main, activity_.varied_values(graph_.main, mask));
  ir::Builder b(graph_, graph_.main);
  b.phase = ir::Phase::Backward;
  backward.seed(loss, b.constant(1, graph_.entry().type_of(loss)));
  backward.run();
  problems_.throw_if_any("the graph cannot be differentiated:");
  std::vector<ValueId> gradients;
  for (size_t i : inputs) gradients.push_back(backward.cotangent(graph_.entry().inputs[i].value));
  return gradients;
}

const Variant& Differentiator::variant(FunctionId function, const Mask& inputs,
                                       const Mask& outputs) {
  Key key(function, inputs, outputs);
  const auto known = variants_.find(key);
  if (known != variants_.end()) return known->second;
  Variant made = make_variant(function, inputs, outputs);
  return variants_.emplace(std::move(key), std::move(made)).first->second;
}

Variant Differentiator::make_variant(FunctionId function, const Mask& inputs, const Mask& outputs) {
  const std::string name = graph_.function(function).name;
  const size_t results = outputs.size();
  Variant variant;
  variant.forward = graph_.add_function("");
  graph_.function(variant.forward) = graph_.function(function);
  graph_.function(variant.forward).name = free_name(name + ".forward");
  variant.backward = graph_.add_function(free_name(name + ".backward"));
  Backward backward(*this, variant.forward, variant.backward,
                    activity_.varied_values(variant.forward, inputs));
  take_cotangents(backward, graph_.function(variant.forward), graph_.function(variant.backward),
                  outputs);
  backward.run();

  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const ir::Input& input = graph_.function(variant.forward).inputs[i];
    const ValueId gradient = backward.cotangent(input.value);
    if (!gradient.valid()) continue;
    graph_.function(variant.backward).outputs.push_back({"grad." + input.name, gradient});
    variant.gradients.push_back(i);
  }
  Function& forward = graph_.function(variant.forward);
  for (ValueId v : backward.residuals()) variant.residuals.push_back(locate(forward, v, results));
  name_residuals(forward, variant, graph_.function(variant.backward));
  return variant;
}

FunctionId Differentiator::decomposition(const ir::Op& op,
                                         const std::vector<TensorType>& operands) {
  for (const Decomposed& d : decomposed_) {
    if (d.kind == op.kind && d.operands == operands && d.attrs == op.attrs) return d.function;
  }
  const Decomposed made{op.kind, operands, op.attrs,
                        graph_.add_function(free_name(std::string(ir::name_of(op.kind))))};
  ir::Builder b(graph_, made.function);
  std::vector<ValueId> inputs;
  for (const TensorType& type : operands) {
    inputs.push_back(b.input(fmt::format("operand.{}", inputs.size()), type));
  }
  size_t count = 0;
  for (ValueId v : ir::decompose(b, made.kind, inputs, made.attrs)) {
    b.output(fmt::format("result.{}", count++), v);
  }
  decomposed_.push_back(made);
  return made.function;
}

void Differentiator::refuse(const ir::Op& op, const std::string& function, const std::string& why) {
  const std::string& where = op.location.empty() ? op.scope : op.location;
  problems_.add(fmt::format("{} in {}{}: {}", ir::name_of(op.kind), function,
                            where.empty() ? "" : " (" + where + ")", why));
}

/// `wanted`, or with .2, .3, ... behind it where there is such a function.
std::string Differentiator::free_name(const std::string& wanted) const {
  std::string name = wanted;
  for (int i = 2; graph_.find(name).valid(); ++i) name = fmt::format("{}.{}", wanted, i);
  return name;
}

void prune_functions(ir::Graph& graph) {
  std::vector<bool> reached(graph.functions.size(), false);
  const std::vector<FunctionId> order = ir::callees_first(graph);
  reached[graph.main.index] = true;
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    if (!reached[id->index]) continue;
    for (const ir::Op& op : graph.function(*id).ops) {
      for (FunctionId callee : ir::functions_of(op)) reached[callee.index] = true;
    }
  }
  std::vector<FunctionId> moved(graph.functions.size());
  std::vector<Function> kept;
  for (size_t i = 0; i < reached.size(); ++i) {
    if (!reached[i]) continue;
    moved[i] = FunctionId(kept.size());
    kept.push_back(std::move(graph.functions[i]));
  }
  for (Function& f : kept) {
    for (ir::Op& op : f.ops) {
      if (ir::functions_of(op).empty()) continue;
      ir::Attributes attrs;
      for (auto [key, value] : op.attrs) {
        if (auto* one = std::get_if<FunctionId>(&value)) *one = moved[one->index];
        if (auto* many = std::get_if<std::vector<FunctionId>>(&value)) {
          for (FunctionId& id : *many) id = moved[id.index];
        }
        attrs.set(key, std::move(value));
      }
      op.attrs = std::move(attrs);
    }
  }
  graph.functions = std::move(kept);
  graph.main = moved[graph.main.index];
}

}  // namespace wafer::autodiff
