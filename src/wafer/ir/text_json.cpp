#include <cmath>
#include <nlohmann/json.hpp>

#include "wafer/ir/cost.h"
#include "wafer/ir/text.h"
#include "wafer/ir/text_common.h"

namespace wafer::ir {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinities and NaN; they are written as text.
Json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

Json literal_json(const Literal& literal) {
  if (literal.elided) return {{"elided", true}};
  Json elements = Json::array();
  for (double x : literal.floats) elements.push_back(number(x));
  const bool bits = literal.type.dtype == DType::U64;
  for (int64_t x : literal.integers) {
    elements.push_back(bits ? Json(static_cast<uint64_t>(x)) : Json(x));
  }
  if (literal.splat && elements.size() == 1) return {{"splat", elements[0]}};
  return {{"elements", std::move(elements)}};
}

struct AttrJson {
  const Graph& graph;
  Json operator()(bool x) const { return x; }
  Json operator()(int64_t x) const { return x; }
  Json operator()(double x) const { return number(x); }
  Json operator()(const std::string& x) const { return x; }
  Json operator()(const Ints& x) const { return x; }
  Json operator()(const DimPairs& x) const { return {{"lhs", x.lhs}, {"rhs", x.rhs}}; }
  Json operator()(ElementFn x) const { return std::string(name_of(x)); }
  Json operator()(FunctionId x) const { return graph.function(x).name; }
  Json operator()(const std::vector<FunctionId>& x) const {
    Json names = Json::array();
    for (FunctionId id : x) names.push_back((*this)(id));
    return names;
  }
  Json operator()(const LiteralRef& x) const { return literal_json(*x); }
};

class FunctionJson {
 public:
  FunctionJson(const Graph& graph, const Function& function)
      : graph_(graph), function_(function), numbers_(numbering(function)) {}

  Json json() const {
    Json inputs = Json::array();
    Json ops = Json::array();
    Json outputs = Json::array();
    for (const Input& input : function_.inputs) inputs.push_back(input_json(input));
    for (const Op& op : function_.ops) ops.push_back(op_json(op));
    for (const Output& output : function_.outputs) {
      Json entry = value_json(output.value);
      entry["name"] = output.name;
      outputs.push_back(std::move(entry));
    }
    return {{"name", function_.name},
            {"inputs", std::move(inputs)},
            {"ops", std::move(ops)},
            {"outputs", std::move(outputs)}};
  }

 private:
  std::string value_name(ValueId v) const { return "%" + std::to_string(numbers_.at(v.index)); }
  Json value_json(ValueId v) const {
    return {{"value", value_name(v)}, {"type", function_.type_of(v).text()}};
  }

  Json input_json(const Input& input) const {
    Json entry = value_json(input.value);
    entry["name"] = input.name;
    entry["role"] = std::string(name_of(input.role));
    if (input.frozen) entry["frozen"] = true;
    if (input.donated_output != -1) entry["donated_output"] = input.donated_output;
    return entry;
  }

  Json op_json(const Op& op) const {
    Json operands = Json::array();
    Json results = Json::array();
    Json attrs = Json::object();
    for (ValueId v : op.operands) operands.push_back(value_name(v));
    for (ValueId v : op.results) results.push_back(value_json(v));
    for (const auto& [key, value] : op.attrs) {
      attrs[std::string(name_of(key))] = std::visit(AttrJson{graph_}, value);
    }
    return {{"kind", std::string(name_of(op.kind))},
            {"operands", std::move(operands)},
            {"results", std::move(results)},
            {"attrs", std::move(attrs)},
            {"phase", std::string(name_of(op.phase))},
            {"layer", op.layer},
            {"scope", op.scope},
            {"loc", op.location}};
  }

  const Graph& graph_;
  const Function& function_;
  std::vector<uint32_t> numbers_;
};

/// Elements of the parameters of main; null when one is symbolic.
Json parameter_count(const Graph& graph) {
  int64_t count = 0;
  for (const Input& input : graph.entry().inputs) {
    if (input.role != Role::Parameter) continue;
    const TensorType& type = graph.entry().type_of(input.value);
    if (!type.is_static()) return nullptr;
    count += type.elements();
  }
  return count;
}

}  // namespace

std::string print_json(const Graph& graph) {
  Json functions = Json::array();
  for (const Function& function : graph.functions) {
    functions.push_back(FunctionJson(graph, function).json());
  }
  const bool bound = unbound_symbols(graph).empty();
  const Json flops = bound ? number(cost_of(graph, graph.main).total().value) : Json();
  const Json document = {{"name", graph.name},
                         {"main", graph.entry().name},
                         {"parameters", parameter_count(graph)},
                         {"flops", flops},
                         {"functions", std::move(functions)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wafer::ir
