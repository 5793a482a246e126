#include "wafer/ir/rewrite.h"

#include "wafer/base/error.h"

namespace wafer::ir {
namespace {

/// Copies one function into `to`, which has its name and nothing else.
class Copier {
 public:
  Copier(const Function& from, Graph& to, FunctionId id, const Replace& replace)
      : from_(from), builder_(to, id), replace_(replace), mapped_(from.values.size()) {}

  void copy() {
    for (const Input& input : from_.inputs) {
      Input copied = input;
      copied.value = target().add_value(from_.type_of(input.value), OpId());
      map(input.value, copied.value);
      target().inputs.push_back(std::move(copied));
    }
    for (const Op& op : from_.ops) copy_op(op);
    for (const Output& output : from_.outputs) {
      target().outputs.push_back({output.name, mapped(output.value)});
    }
  }

 private:
  Function& target() { return builder_.function(); }
  ValueId mapped(ValueId v) const { return mapped_[v.index]; }
  void map(ValueId from, ValueId to) { mapped_[from.index] = to; }

  void copy_op(const Op& op) {
    std::vector<ValueId> operands;
    operands.reserve(op.operands.size());
    for (ValueId v : op.operands) operands.push_back(mapped(v));
    builder_.phase = op.phase;
    builder_.layer = op.layer;
    builder_.scope = op.scope;
    builder_.location = op.location;
    std::vector<TensorType> types;
    for (ValueId v : op.results) types.push_back(from_.type_of(v));
    if (const auto values = replace_(builder_, op, operands, types)) {
      return map_replaced(op, *values);
    }
    Op copied = op;
    copied.operands = std::move(operands);
    const OpId id = target().append(std::move(copied), types);
    for (size_t i = 0; i < types.size(); ++i) map(op.results[i], target().op(id).results[i]);
  }

  void map_replaced(const Op& op, const std::vector<ValueId>& values) {
    WAFER_CHECK(values.size() == op.results.size(), std::string(name_of(op.kind)));
    for (size_t i = 0; i < values.size(); ++i) {
      WAFER_CHECK(target().type_of(values[i]) == from_.type_of(op.results[i]),
                  std::string(name_of(op.kind)));
      map(op.results[i], values[i]);
    }
  }

  const Function& from_;
  Builder builder_;
  const Replace& replace_;
  std::vector<ValueId> mapped_;
};

}  // namespace

Graph rewrite(const Graph& graph, const Replace& replace) {
  Graph result;
  result.name = graph.name;
  result.main = graph.main;
  for (const Function& function : graph.functions) result.add_function(function.name);
  for (FunctionId id : callees_first(graph)) {
    Copier(graph.function(id), result, id, replace).copy();
  }
  return result;
}

}  // namespace wafer::ir
