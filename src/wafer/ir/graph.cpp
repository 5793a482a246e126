#include "wafer/ir/graph.h"

#include <algorithm>
#include <set>

#include "wafer/base/error.h"

namespace wafer::ir {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::Forward:
      return "forward";
    case Phase::Backward:
      return "backward";
    case Phase::Optimizer:
      return "optimizer";
  }
  throw InternalError("no such phase");
}

std::string_view name_of(Role role) {
  switch (role) {
    case Role::Parameter:
      return "parameter";
    case Role::OptimizerState:
      return "optimizer_state";
    case Role::Data:
      return "data";
    case Role::Constant:
      return "constant";
  }
  throw InternalError("no such role");
}

ValueId Function::add_value(TensorType type, OpId producer) {
  values.push_back({std::move(type), producer});
  return ValueId(values.size() - 1);
}

ValueId Function::add_input(std::string input_name, TensorType type, Role role) {
  const ValueId value = add_value(std::move(type), OpId());
  inputs.push_back({.name = std::move(input_name), .value = value, .role = role});
  return value;
}

OpId Function::append(Op op, const std::vector<TensorType>& result_types) {
  const OpId id(ops.size());
  op.results.clear();
  for (const TensorType& type : result_types) op.results.push_back(add_value(type, id));
  ops.push_back(std::move(op));
  return id;
}

FunctionId Graph::add_function(std::string function_name) {
  functions.emplace_back();
  functions.back().name = std::move(function_name);
  return FunctionId(functions.size() - 1);
}

FunctionId Graph::find(std::string_view function_name) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& f) { return f.name == function_name; });
  return found == functions.end() ? FunctionId() : FunctionId(found - functions.begin());
}

namespace {

LiteralRef bind_literal(const LiteralRef& literal, const DimBindings& bindings) {
  if (literal->type.is_static()) return literal;
  Literal copy = *literal;
  copy.type = copy.type.bound(bindings);
  return std::make_shared<const Literal>(std::move(copy));
}

enum class Mark : uint8_t { New, Open, Done };

/// A function on the way of a depth-first walk, with what it calls and how far that is done.
struct Frame {
  FunctionId id;
  std::vector<FunctionId> callees;
  size_t next = 0;
};

Frame frame_of(const Graph& graph, FunctionId id) {
  Frame frame{id, {}, 0};
  for (const Op& op : graph.function(id).ops) {
    for (FunctionId callee : functions_of(op)) frame.callees.push_back(callee);
  }
  return frame;
}

/// A walk without recursion of its own: chains of calls may be long.
void visit(const Graph& graph, FunctionId root, std::vector<Mark>& marks,
           std::vector<FunctionId>& order) {
  std::vector<Frame> path;
  const auto enter = [&](FunctionId id) {
    if (marks[id.index] == Mark::Done) return;
    if (marks[id.index] == Mark::Open) {
      throw InputError("function @" + graph.function(id).name +
                       " calls itself; recursion has no plan [GRF3]");
    }
    marks[id.index] = Mark::Open;
    path.push_back(frame_of(graph, id));
  };
  enter(root);
  while (!path.empty()) {
    Frame& top = path.back();
    if (top.next < top.callees.size()) {
      enter(top.callees[top.next++]);
      continue;
    }
    marks[top.id.index] = Mark::Done;
    order.push_back(top.id);
    path.pop_back();
  }
}

}  // namespace

Graph bind(const Graph& graph, const DimBindings& bindings) {
  for (const auto& [name, value] : bindings) {
    if (value < 1) {
      throw InputError("dimension " + name + " must be at least 1, not " + std::to_string(value));
    }
  }
  Graph bound = graph;
  for (Function& function : bound.functions) {
    for (Value& value : function.values) {
      if (!value.type.is_static()) value.type = value.type.bound(bindings);
    }
    for (Op& op : function.ops) {
      if (op.kind != OpKind::Constant) continue;
      op.attrs.set(AttrKey::Value,
                   bind_literal(op.attrs.get<LiteralRef>(AttrKey::Value), bindings));
    }
  }
  return bound;
}

std::vector<std::string> unbound_symbols(const Graph& graph) {
  std::set<std::string> symbols;
  for (const Function& function : graph.functions) {
    for (const Value& value : function.values) {
      for (const Dim& dim : value.type.shape)
        symbols.insert(dim.symbols().begin(), dim.symbols().end());
    }
  }
  return {symbols.begin(), symbols.end()};
}

std::vector<FunctionId> functions_of(const Op& op) {
  std::vector<FunctionId> result;
  for (const auto& [key, value] : op.attrs) {
    if (const auto* one = std::get_if<FunctionId>(&value)) result.push_back(*one);
    if (const auto* many = std::get_if<std::vector<FunctionId>>(&value)) {
      result.insert(result.end(), many->begin(), many->end());
    }
  }
  return result;
}

std::vector<FunctionId> callees_first(const Graph& graph) {
  std::vector<Mark> marks(graph.functions.size(), Mark::New);
  std::vector<FunctionId> order;
  for (size_t i = 0; i < graph.functions.size(); ++i) visit(graph, FunctionId(i), marks, order);
  return order;
}

std::vector<FunctionId> callees_first(const Graph& graph, FunctionId root) {
  std::vector<Mark> marks(graph.functions.size(), Mark::New);
  std::vector<FunctionId> order;
  visit(graph, root, marks, order);
  return order;
}

std::vector<double> run_counts(const Graph& graph) {
  std::vector<double> counts(graph.functions.size(), 0.0);
  counts[graph.main.index] = 1;
  const std::vector<FunctionId> order = callees_first(graph);
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    for (const Op& op : graph.function(*id).ops) {
      for (FunctionId callee : functions_of(op)) counts[callee.index] += counts[id->index];
    }
  }
  return counts;
}

}  // namespace wafer::ir
