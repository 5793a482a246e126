#include <algorithm>
#include <map>
#include <set>

#include "wafer/compile/sections.h"

namespace wafer::compile {
namespace {

using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::Phase;
using ir::Role;
using ir::ValueId;

/// Finds who makes and who reads the values of main.
class TrafficFinder {
 public:
  TrafficFinder(const ir::Graph& graph, const std::vector<Section>& sections)
      : main_(graph.entry()), sections_(sections), section_of_op_(main_.ops.size(), -1) {
    for (size_t s = 0; s < sections.size(); ++s) {
      for (uint32_t i : sections[s].ops) section_of_op_[i] = static_cast<int64_t>(s);
    }
    find_roots();
    find_backward_reads();
  }

  std::vector<SectionTraffic> run() {
    result_.resize(sections_.size());
    for (size_t s = 0; s < sections_.size(); ++s) find_reads(s);
    for (const Op& op : main_.ops) {
      if (op.phase == Phase::Optimizer) find_gradients(op);
    }
    for (size_t s = 0; s < sections_.size(); ++s) {
      find_saved(s);
      for (auto& [slot, inputs] : gradients_[s]) result_[s].gradients.push_back({inputs});
    }
    return std::move(result_);
  }

 private:
  /// The parameter inputs that a value is made of, where it is made of nothing else.
  void find_roots() {
    roots_.resize(main_.values.size());
    weight_only_.assign(main_.values.size(), false);
    for (size_t i = 0; i < main_.inputs.size(); ++i) {
      if (main_.inputs[i].role != Role::Parameter) continue;
      roots_[main_.inputs[i].value.index] = {i};
      weight_only_[main_.inputs[i].value.index] = true;
    }
    for (const Op& op : main_.ops) {
      if (op.phase == Phase::Optimizer || !is_weight_only(op)) continue;
      for (ValueId r : op.results) {
        weight_only_[r.index] = true;
        for (ValueId v : op.operands) {
          const auto& roots = roots_[v.index];
          roots_[r.index].insert(roots_[r.index].end(), roots.begin(), roots.end());
        }
      }
    }
  }

  bool is_weight_only(const Op& op) const {
    if (op.kind == OpKind::Constant || op.kind == OpKind::Iota) return true;
    return !op.operands.empty() && op.kind != OpKind::Call &&
           std::all_of(op.operands.begin(), op.operands.end(),
                       [&](ValueId v) { return weight_only_[v.index]; });
  }

  void find_backward_reads() {
    for (const Op& op : main_.ops) {
      if (op.phase != Phase::Backward) continue;
      backward_reads_.insert(op.operands.begin(), op.operands.end());
    }
  }

  /// Operand columns of a section: operand k of all its calls, or each operand of a straight op.
  std::vector<Values> operand_columns(const Section& section) const {
    std::vector<Values> columns;
    if (!section.repeated) {
      std::set<ValueId> seen;
      for (uint32_t i : section.ops) {
        for (ValueId v : main_.ops[i].operands) {
          if (seen.insert(v).second) columns.push_back({v});
        }
      }
      return columns;
    }
    for (size_t k = 0; k < main_.ops[section.ops[0]].operands.size(); ++k) {
      Values column;
      for (uint32_t i : section.ops) column.push_back(main_.ops[i].operands[k]);
      columns.push_back(std::move(column));
    }
    return columns;
  }

  void find_reads(size_t s) {
    SectionTraffic& traffic = result_[s];
    std::set<std::vector<size_t>> streams;
    std::set<ValueId> data;
    for (const Values& column : operand_columns(sections_[s])) {
      if (weight_only_[column[0].index]) {
        add_streams(column, streams);
      } else if (!main_.values[column[0].index].producer.valid()) {
        data.insert(column[0]);
      } else if (enters(s, column)) {
        traffic.entering.push_back(column);
      }
    }
    for (const auto& inputs : streams) traffic.weights.push_back({inputs});
    for (size_t i = 0; i < main_.inputs.size(); ++i) {
      const ir::Input& input = main_.inputs[i];
      if (input.role == Role::Data && data.count(input.value) > 0) traffic.data.push_back(i);
    }
  }

  void add_streams(const Values& column, std::set<std::vector<size_t>>& streams) const {
    for (size_t r = 0; r < roots_[column[0].index].size(); ++r) {
      std::vector<size_t> inputs;
      for (ValueId v : column) {
        if (r < roots_[v.index].size()) inputs.push_back(roots_[v.index][r]);
      }
      streams.insert(inputs);
    }
  }

  /// Made by another section, or by another layer of this one.
  bool enters(size_t s, const Values& column) const {
    return std::any_of(column.begin(), column.end(), [&](ValueId v) {
      const ir::OpId producer = main_.values[v.index].producer;
      return producer.valid() &&
             (sections_[s].repeated || section_of_op_[producer.index] != static_cast<int64_t>(s));
    });
  }

  /// An optimizer op reads parameters and what the backward pass made for them.
  void find_gradients(const Op& op) {
    for (ValueId v : op.operands) {
      const ir::OpId producer = main_.values[v.index].producer;
      if (!producer.valid() || main_.op(producer).phase != Phase::Backward) continue;
      for (ValueId p : op.operands) {
        for (size_t input : roots_[p.index]) {
          if (main_.type_of(v).shape == main_.type_of(main_.inputs[input].value).shape) {
            attribute_gradient(input, v);
          }
        }
      }
    }
  }

  /// Follows sums of parts (a parameter used twice) and casts back to the sections that make them.
  void attribute_gradient(size_t parameter, ValueId value) {
    const ir::OpId producer = main_.values[value.index].producer;
    if (!producer.valid()) return;
    const Op& op = main_.op(producer);
    if (op.phase == Phase::Backward && passes_on(op)) {
      for (ValueId v : op.operands) attribute_gradient(parameter, v);
      return;
    }
    const int64_t s = section_of_op_[producer.index];
    if (s < 0) return;
    const auto section = static_cast<size_t>(s);
    const size_t slot =
        sections_[section].repeated
            ? static_cast<size_t>(std::find(op.results.begin(), op.results.end(), value) -
                                  op.results.begin())
            : value.index;
    gradients_[section][slot].push_back(parameter);
  }

  /// A sum, or another form of the same numbers.
  static bool passes_on(const Op& op) {
    switch (op.kind) {
      case OpKind::Elementwise:
        return op.attrs.get<ir::ElementFn>(ir::AttrKey::Fn) == ir::ElementFn::Add;
      case OpKind::Convert:
      case OpKind::Reshape:
      case OpKind::Transpose:
        return true;
      default:
        return false;
    }
  }

  void find_saved(size_t s) {
    if (sections_[s].phase != Phase::Forward) return;
    std::map<std::pair<uint32_t, size_t>, Values> columns;
    for (uint32_t i : sections_[s].ops) {
      const Op& op = main_.ops[i];
      for (size_t r = 0; r < op.results.size(); ++r) {
        const ValueId v = op.results[r];
        if (weight_only_[v.index] || backward_reads_.count(v) == 0) continue;
        columns[{sections_[s].repeated ? 0 : i, r}].push_back(v);
      }
    }
    for (auto& [place, values] : columns) result_[s].saved.push_back(std::move(values));
  }

  const Function& main_;
  const std::vector<Section>& sections_;
  std::vector<int64_t> section_of_op_;
  std::vector<std::vector<size_t>> roots_;
  std::vector<bool> weight_only_;
  std::set<ValueId> backward_reads_;
  std::map<size_t, std::map<size_t, std::vector<size_t>>> gradients_;
  std::vector<SectionTraffic> result_;
};

}  // namespace

std::vector<SectionTraffic> traffic_of(const ir::Graph& graph,
                                       const std::vector<Section>& sections) {
  return TrafficFinder(graph, sections).run();
}

}  // namespace wafer::compile
