#include "wafer/ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "wafer/base/error.h"
#include "wafer/ir/infer.h"

namespace wafer::ir {
namespace {

using Names = std::unordered_set<std::string_view>;

/// Rules of the graph as a whole and of the ids in it, which all other checks rely on.
class Structure {
 public:
  Structure(const Graph& graph, std::vector<Problem>& problems)
      : graph_(graph), problems_(problems) {}

  void check() {
    if (graph_.main.index >= graph_.functions.size()) {
      add({}, {}, fmt::format("main is none of the {} functions [GRF1]", graph_.functions.size()));
    }
    Names names;
    for (size_t i = 0; i < graph_.functions.size(); ++i) {
      const Function& function = graph_.functions[i];
      if (function.name.empty() || !names.insert(function.name).second) {
        add(FunctionId(i), {},
            fmt::format("function names are unique and not empty; found \"{}\" [GRF2]",
                        function.name));
      }
      check_function(FunctionId(i), function);
    }
    if (problems_.empty()) check_recursion();
  }

 private:
  void add(FunctionId function, OpId op, std::string text) {
    problems_.push_back({function, op, std::move(text)});
  }

  void check_recursion() {
    try {
      callees_first(graph_);
    } catch (const InputError& e) {
      add({}, {}, e.what());
    }
  }

  void check_function(FunctionId id, const Function& function) {
    std::vector<bool> defined(function.values.size(), false);
    check_inputs(id, function, defined);
    for (size_t i = 0; i < function.ops.size(); ++i) {
      check_op(id, OpId(i), function, defined);
    }
    check_outputs(id, function, defined);
  }

  /// Rule FUN2: a value is defined once.
  void define(FunctionId id, OpId op, ValueId value, OpId producer, const Function& function,
              std::vector<bool>& defined) {
    const bool exists = value.index < defined.size();
    if (!exists || defined[value.index] || function.values[value.index].producer != producer) {
      add(id, op, fmt::format("%{} is not a new value of its op [FUN2]", value.index));
    }
    if (exists) defined[value.index] = true;
  }

  void check_inputs(FunctionId id, const Function& function, std::vector<bool>& defined) {
    Names names;
    for (const Input& input : function.inputs) {
      define(id, {}, input.value, OpId(), function, defined);
      if (!names.insert(input.name).second) {
        add(id, {}, fmt::format("two inputs have the name \"{}\" [FUN1]", input.name));
      }
    }
  }

  void check_op(FunctionId id, OpId op_id, const Function& function, std::vector<bool>& defined) {
    const Op& op = function.op(op_id);
    for (ValueId v : op.operands) {
      if (v.index >= defined.size() || !defined[v.index]) {
        add(id, op_id, fmt::format("operand %{} is not defined before its use [FUN3]", v.index));
      }
    }
    for (ValueId v : op.results) define(id, op_id, v, op_id, function, defined);
    for (FunctionId callee : functions_of(op)) {
      if (callee.index >= graph_.functions.size()) {
        add(id, op_id, "an attribute names a function that the graph does not have [OP5]");
      }
    }
  }

  void check_outputs(FunctionId id, const Function& function, const std::vector<bool>& defined) {
    Names names;
    for (const Output& output : function.outputs) {
      if (output.value.index >= defined.size() || !defined[output.value.index]) {
        add(id, {}, fmt::format("output \"{}\" is not defined [FUN3]", output.name));
      }
      if (!names.insert(output.name).second) {
        add(id, {}, fmt::format("two outputs have the name \"{}\" [FUN1]", output.name));
      }
    }
  }

  const Graph& graph_;
  std::vector<Problem>& problems_;
};

/// Rule TYPE4: the bytes of every value can be counted.
bool is_countable(const TensorType& type) {
  try {
    static_cast<void>(element_count(type.shape) * Dim(size_in_bytes(type.dtype)));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::string size_problem(const Op& op, const std::vector<TensorType>& results) {
  for (const TensorType& type : results) {
    if (!is_countable(type)) {
      return fmt::format("{}: {} is larger than 2^62 bytes [TYPE4]", name_of(op.kind), type.text());
    }
  }
  return {};
}

/// Rules of the op's kind; empty when it keeps them.
std::string type_problem(const Graph& graph, const Function& function, const Op& op) {
  std::vector<TensorType> operands;
  std::vector<TensorType> results;
  operands.reserve(op.operands.size());
  results.reserve(op.results.size());
  for (ValueId v : op.operands) operands.push_back(function.type_of(v));
  for (ValueId v : op.results) results.push_back(function.type_of(v));
  try {
    const auto inferred = infer_types(graph, op.kind, operands, op.attrs, results);
    if (inferred.size() != results.size()) {
      return fmt::format("{}: has {} results; found {} [TYPE2]", name_of(op.kind), inferred.size(),
                         results.size());
    }
    return size_problem(op, results);
  } catch (const InputError& e) {
    return e.what();
  }
}

void check_input_types(FunctionId id, const Function& function, std::vector<Problem>& problems) {
  const auto add = [&](const Input& input, const char* what) {
    problems.push_back({id,
                        {},
                        fmt::format("input \"{}\" of {} {}", input.name,
                                    function.type_of(input.value).text(), what)});
  };
  for (const Input& input : function.inputs) {
    const TensorType& type = function.type_of(input.value);
    if (!is_countable(type)) add(input, "is larger than 2^62 bytes [TYPE4]");
    if (std::any_of(type.shape.begin(), type.shape.end(),
                    [](const Dim& dim) { return dim.factor() < 0; })) {
      add(input, "has a negative dimension [TYPE3]");
    }
  }
}

/// Rule DON1: an output takes the memory of at most one input, which has its type.
void check_donations(FunctionId id, const Function& function, std::vector<Problem>& problems) {
  std::vector<bool> taken(function.outputs.size(), false);
  for (const Input& input : function.inputs) {
    if (input.donated_output == -1) continue;
    const auto at = static_cast<size_t>(input.donated_output);
    if (input.donated_output < 0 || at >= function.outputs.size()) {
      problems.push_back({id,
                          {},
                          fmt::format("input \"{}\" is donated to output {}, which there "
                                      "is not [DON1]",
                                      input.name, input.donated_output)});
      continue;
    }
    const Output& output = function.outputs[at];
    if (taken[at] || function.type_of(output.value) != function.type_of(input.value)) {
      problems.push_back({id,
                          {},
                          fmt::format("output \"{}\" ({}) cannot take the memory of input "
                                      "\"{}\" ({}) [DON1]",
                                      output.name, function.type_of(output.value).text(),
                                      input.name, function.type_of(input.value).text())});
    }
    taken[at] = true;
  }
}

std::string where(const Graph& graph, const Problem& problem) {
  if (!problem.function.valid()) return {};
  const Function& function = graph.function(problem.function);
  std::string text = "@" + function.name + ": ";
  if (!problem.op.valid()) return text;
  const Op& op = function.op(problem.op);
  text += op.results.empty() ? fmt::format("op {}", problem.op.index)
                             : fmt::format("%{}", op.results[0].index);
  if (!op.location.empty()) text += fmt::format(" ({})", op.location);
  return text + ": ";
}

}  // namespace

std::vector<Problem> problems_of(const Graph& graph) {
  std::vector<Problem> problems;
  Structure(graph, problems).check();
  if (!problems.empty()) return problems;
  for (size_t i = 0; i < graph.functions.size(); ++i) {
    const FunctionId id(i);
    const Function& function = graph.function(id);
    check_input_types(id, function, problems);
    check_donations(id, function, problems);
    for (size_t j = 0; j < function.ops.size(); ++j) {
      std::string problem = type_problem(graph, function, function.ops[j]);
      if (!problem.empty()) problems.push_back({id, OpId(j), std::move(problem)});
    }
  }
  return problems;
}

void verify(const Graph& graph) {
  Problems problems;
  for (const Problem& p : problems_of(graph)) problems.add(where(graph, p) + p.text);
  problems.throw_if_any("graph \"" + graph.name + "\" is not valid");
}

}  // namespace wafer::ir
