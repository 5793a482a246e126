#include "wafer/compile/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "wafer/base/error.h"
#include "wafer/compile/repeats.h"

namespace wafer::compile {
namespace {

using ir::AttrKey;
using ir::Function;
using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

/// Rewrites main so that the run's instances are calls of a new function.
class Rewriter {
 public:
  Rewriter(Graph& graph, const Sequence& s, const Run& run)
      : graph_(graph), f_(graph.entry()), s_(s), run_(run), matcher_(f_, s, run) {}

  void rewrite() {
    collect_inputs();
    collect_outputs();
    const ir::FunctionId callee = make_function();
    replace(callee);
  }

 private:
  /// Operand slots (op in period, operand index) that read from outside; equal slots in all
  /// instances share an input.
  void collect_inputs() {
    std::map<std::vector<ValueId>, size_t> seen;
    for (size_t i = 0; i < run_.period; ++i) {
      for (size_t k = 0; k < matcher_.op(0, i).operands.size(); ++k) {
        if (wire_kind(i, k) != Wire::Kind::Outside) continue;
        std::vector<ValueId> column;
        for (size_t n = 0; n < run_.times; ++n) column.push_back(matcher_.op(n, i).operands[k]);
        const auto [at, fresh] = seen.try_emplace(column, inputs_.size());
        if (fresh) inputs_.push_back(column);
        slot_input_[{i, k}] = at->second;
      }
    }
  }

  Wire::Kind wire_kind(size_t i, size_t k) const {
    return matcher_.wire(0, matcher_.op(0, i).operands[k]).kind;
  }

  /// Results that anything outside their own instance reads.
  void collect_outputs() {
    std::set<ValueId> used_outside;
    for (const ir::Output& out : f_.outputs) used_outside.insert(out.value);
    for (uint32_t reader = 0; reader < f_.ops.size(); ++reader) {
      for (ValueId v : f_.ops[reader].operands) {
        const ir::OpId producer = f_.values[v.index].producer;
        if (producer.valid() && instance_of(producer.index) != instance_of(reader))
          used_outside.insert(v);
      }
    }
    for (size_t i = 0; i < run_.period; ++i) {
      for (size_t r = 0; r < matcher_.op(0, i).results.size(); ++r) {
        for (size_t n = 0; n < run_.times; ++n) {
          if (used_outside.count(matcher_.op(n, i).results[r]) == 0) continue;
          outputs_.push_back({i, r});
          break;
        }
      }
    }
  }

  int64_t instance_of(uint32_t op) const {
    const int64_t at = s_.position[op];
    if (at < static_cast<int64_t>(run_.start)) return -1;
    const auto n = (static_cast<size_t>(at) - run_.start) / run_.period;
    return n < run_.times ? static_cast<int64_t>(n) : -1;
  }

  ir::FunctionId make_function() {
    Function body;
    body.name = fmt::format("repeated_{}", graph_.functions.size());
    std::map<ValueId, ValueId> map;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      input_values_.push_back(body.add_input(fmt::format("in{}", i), f_.type_of(inputs_[i][0])));
    }
    for (size_t i = 0; i < run_.period; ++i) {
      Op copy = matcher_.op(0, i);
      copy.layer.clear();
      for (size_t k = 0; k < copy.operands.size(); ++k) {
        copy.operands[k] = body_operand(body, map, i, k, copy.operands[k]);
      }
      const std::vector<ValueId> old_results = copy.results;
      std::vector<TensorType> types;
      for (ValueId v : old_results) types.push_back(f_.type_of(v));
      const ir::OpId id = body.append(std::move(copy), types);
      for (size_t r = 0; r < old_results.size(); ++r) map[old_results[r]] = body.op(id).results[r];
    }
    for (const auto& [i, r] : outputs_) {
      body.outputs.push_back(
          {fmt::format("out{}", body.outputs.size()), map.at(matcher_.op(0, i).results[r])});
    }
    callee_ = std::move(body);
    return ir::FunctionId(graph_.functions.size());
  }

  ValueId body_operand(Function& body, std::map<ValueId, ValueId>& map, size_t i, size_t k,
                       ValueId v) {
    if (wire_kind(i, k) == Wire::Kind::Outside) return input_values_[slot_input_.at({i, k})];
    const auto found = map.find(v);
    if (found != map.end()) return found->second;
    const Op& constant = f_.op(f_.values[v.index].producer);
    WAFER_CHECK(constant.kind == OpKind::Constant);
    const ir::OpId id = body.append(constant, {f_.type_of(v)});
    return map[v] = body.op(id).results[0];
  }

  void replace(ir::FunctionId callee) {
    const Function old = f_;
    Function fresh;
    fresh.name = old.name;
    std::vector<ValueId> map(old.values.size());
    for (const ir::Input& in : old.inputs) {
      const ValueId v = fresh.add_input(in.name, old.type_of(in.value), in.role);
      fresh.inputs.back().frozen = in.frozen;
      fresh.inputs.back().donated_output = in.donated_output;
      map[in.value.index] = v;
    }
    for (uint32_t i = 0; i < old.ops.size(); ++i) {
      const int64_t n = instance_of(i);
      if (n < 0) {
        copy_op(old, i, fresh, map);
      } else if ((static_cast<size_t>(s_.position[i]) - run_.start) % run_.period ==
                 run_.period - 1) {
        call_instance(old, static_cast<size_t>(n), callee, fresh, map);
      }
    }
    for (const ir::Output& out : old.outputs)
      fresh.outputs.push_back({out.name, map[out.value.index]});
    graph_.entry() = std::move(fresh);
    graph_.functions.push_back(std::move(callee_));
  }

  static void copy_op(const Function& old, uint32_t i, Function& fresh, std::vector<ValueId>& map) {
    Op copy = old.ops[i];
    std::vector<TensorType> types;
    for (ValueId& v : copy.operands) v = map[v.index];
    for (ValueId v : copy.results) types.push_back(old.type_of(v));
    const ir::OpId id = fresh.append(std::move(copy), types);
    for (size_t r = 0; r < types.size(); ++r)
      map[old.ops[i].results[r].index] = fresh.op(id).results[r];
  }

  void call_instance(const Function& old, size_t n, ir::FunctionId callee, Function& fresh,
                     std::vector<ValueId>& map) {
    const uint32_t first = s_.ops[run_.start + n * run_.period];
    Op call{.kind = OpKind::Call,
            .operands = {},
            .results = {},
            .attrs = {{AttrKey::Body, callee}},
            .phase = old.ops[first].phase,
            .layer = fmt::format("layer.{}", n),
            .scope = {},
            .location = old.ops[first].location};
    for (const std::vector<ValueId>& column : inputs_)
      call.operands.push_back(map[column[n].index]);
    std::vector<ValueId> results;
    std::vector<TensorType> types;
    for (const auto& [i, r] : outputs_) {
      results.push_back(old.ops[s_.ops[run_.start + n * run_.period + i]].results[r]);
      types.push_back(old.type_of(results.back()));
    }
    const ir::OpId id = fresh.append(std::move(call), types);
    for (size_t r = 0; r < results.size(); ++r) map[results[r].index] = fresh.op(id).results[r];
  }

  Graph& graph_;
  Function& f_;
  const Sequence& s_;
  const Run run_;
  Matcher matcher_;
  std::vector<std::vector<ValueId>> inputs_;  ///< of each input, the value in each instance
  std::map<std::pair<size_t, size_t>, size_t> slot_input_;
  std::vector<std::pair<size_t, size_t>> outputs_;  ///< (op in period, result)
  std::vector<ValueId> input_values_;
  Function callee_;
};

}  // namespace

Graph outline(const Graph& graph) {
  Graph result = graph;
  while (true) {
    const Sequence s = sequence_of(result.entry());
    const std::optional<Run> run = best_run(result.entry(), s);
    if (!run) return result;
    Rewriter(result, s, *run).rewrite();
  }
}

}  // namespace wafer::compile
