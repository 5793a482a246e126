#pragma once

#include <string>
#include <vector>

#include "wafer/ir/op.h"

namespace wafer::ir {

/// The part of a training step that an op belongs to; compile splits by it.
enum class Phase : uint8_t { Forward, Backward, Optimizer };
/// What an input of the graph is to its user.
enum class Role : uint8_t { Parameter, OptimizerState, Data, Constant };

std::string_view name_of(Phase phase);
std::string_view name_of(Role role);

struct Value {
  TensorType type;
  OpId producer;  ///< invalid: an input of the function
};

/// SSA: each result is a new value; operands stand before their op.
struct Op {
  OpKind kind = OpKind::Constant;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  Attributes attrs;
  Phase phase = Phase::Forward;
  std::string layer;     ///< e.g. "layer.3"; empty outside layers
  std::string scope;     ///< e.g. "attention/query"
  std::string location;  ///< where in the user's file, e.g. "mlp.onnx:fc1"
};

struct Input {
  std::string name;
  ValueId value;
  Role role = Role::Data;
  bool frozen = false;      ///< a parameter that gets no gradient
  int donated_output = -1;  ///< the output that may reuse its memory (an updated parameter), or -1
};

struct Output {
  std::string name;
  ValueId value;
};

/// A sub-graph: inputs, ops in an order that is valid to run, outputs.
struct Function {
  std::string name;
  std::vector<Input> inputs;
  std::vector<Value> values;
  std::vector<Op> ops;
  std::vector<Output> outputs;

  const TensorType& type_of(ValueId v) const { return values[v.index].type; }
  const Op& op(OpId id) const { return ops[id.index]; }
  ValueId add_value(TensorType type, OpId producer);
  ValueId add_input(std::string input_name, TensorType type, Role role = Role::Data);
  /// Appends the op; makes its results of the given types and returns its id.
  OpId append(Op op, const std::vector<TensorType>& result_types);
};

/// A network or a training step: functions that call each other (no recursion) and the one that is
/// run. The batch is the symbolic dimension `batch` where it is not bound. A plain value: copy,
/// change, verify(), print().
struct Graph {
  std::string name;
  std::vector<Function> functions;
  FunctionId main;

  FunctionId add_function(std::string function_name);
  Function& function(FunctionId id) { return functions[id.index]; }
  const Function& function(FunctionId id) const { return functions[id.index]; }
  Function& entry() { return function(main); }
  const Function& entry() const { return function(main); }
  /// The function of that name; invalid when there is none.
  FunctionId find(std::string_view function_name) const;
};

/// Name of the symbolic batch dimension of built-in models.
inline constexpr std::string_view BatchSymbol = "batch";

/// A copy in which the named dimensions are numbers. Names that the graph does not have are
/// ignored.
Graph bind(const Graph& graph, const DimBindings& bindings);
/// The symbols that occur in any type of the graph, sorted.
std::vector<std::string> unbound_symbols(const Graph& graph);

/// Functions in an order in which each stands after those it calls (callees first).
/// Throws InputError on recursion.
std::vector<FunctionId> callees_first(const Graph& graph);
/// Likewise, of `root` (the last) and all that it comes to call.
std::vector<FunctionId> callees_first(const Graph& graph, FunctionId root);
/// The functions that an op refers to (body, condition, branches).
std::vector<FunctionId> functions_of(const Op& op);
/// How often each function runs in one run of main, by FunctionId (a while body counts once).
std::vector<double> run_counts(const Graph& graph);

}  // namespace wafer::ir
