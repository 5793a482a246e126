#include "wafer/autodiff/gradient.h"

#include <fmt/format.h>

#include <algorithm>

#include "wafer/autodiff/differentiator.h"
#include "wafer/base/error.h"
#include "wafer/ir/builder.h"

namespace wafer::autodiff {
namespace {

using ir::Function;
using ir::Input;
using ir::ValueId;

ValueId scalar_output(const Function& f, const std::string& name) {
  const auto found = std::find_if(f.outputs.begin(), f.outputs.end(),
                                  [&](const ir::Output& o) { return o.name == name; });
  if (found == f.outputs.end()) {
    throw InputError(fmt::format("{} has no output \"{}\" to differentiate", f.name, name));
  }
  const TensorType& type = f.type_of(found->value);
  if (type.rank() != 0 || !is_float(type.dtype)) {
    throw InputError(fmt::format("only a float scalar can be differentiated; output \"{}\" is {}",
                                 name, type.text()));
  }
  return found->value;
}

/// Indices of the inputs of these names, or of the trained parameters where none is named.
std::vector<size_t> chosen_inputs(const Function& f, const std::vector<std::string>& names) {
  std::vector<size_t> chosen;
  Problems problems;
  for (const std::string& name : names) {
    const auto found = std::find_if(f.inputs.begin(), f.inputs.end(),
                                    [&](const Input& input) { return input.name == name; });
    if (found == f.inputs.end()) {
      problems.add(fmt::format("{} has no input \"{}\"", f.name, name));
    } else if (!is_float(f.type_of(found->value).dtype)) {
      problems.add(fmt::format("input \"{}\" is {}: only floats have gradients", name,
                               f.type_of(found->value).text()));
    } else {
      chosen.push_back(static_cast<size_t>(found - f.inputs.begin()));
    }
  }
  problems.throw_if_any("these gradients cannot be computed:");
  for (size_t i = 0; names.empty() && i < f.inputs.size(); ++i) {
    if (is_trained(f, f.inputs[i])) chosen.push_back(i);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace

ir::Graph differentiate(const ir::Graph& forward, const GradientOptions& options) {
  ir::Graph graph = forward;
  const ValueId loss = scalar_output(graph.entry(), options.output);
  const std::vector<size_t> inputs = chosen_inputs(graph.entry(), options.inputs);
  const std::vector<ValueId> gradients = Differentiator(graph).run(loss, inputs);
  ir::Builder b(graph, graph.main);
  b.phase = ir::Phase::Backward;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = graph.entry().inputs[inputs[i]];
    const std::string name = "grad." + input.name;
    const TensorType type = graph.entry().type_of(input.value);
    b.output(name, gradients[i].valid() ? gradients[i] : b.constant(0, type));
  }
  prune_functions(graph);
  return graph;
}

}  // namespace wafer::autodiff
