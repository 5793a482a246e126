#include "wafer/compile/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "wafer/base/error.h"

namespace wafer::compile {
namespace {

using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::Phase;
using ir::Role;
using ir::ValueId;

bool is_work(const Op& op) {
  switch (op.kind) {
    case OpKind::Constant:
    case OpKind::Iota:
      return false;
    default:
      return op.phase != Phase::Optimizer;
  }
}

std::optional<ir::FunctionId> callee_of(const Op& op) {
  if (op.kind != OpKind::Call) return std::nullopt;
  return op.attrs.get<ir::FunctionId>(ir::AttrKey::Body);
}

/// An op between two calls of one run that does not end the run.
bool is_glue(const Op& op) {
  return op.kind != OpKind::Call && op.kind != OpKind::DotGeneral && op.kind != OpKind::Convolution;
}

/// The label of a run: the layers' labels without their number.
std::string run_name(const std::string& layer) {
  const size_t end = layer.find_last_not_of("0123456789");
  if (end == std::string::npos) return "layer";
  const std::string name = layer.substr(0, layer[end] == '.' ? end : end + 1);
  return name.empty() ? "layer" : name;
}

std::string straight_name(const Function& main, const std::vector<uint32_t>& ops) {
  for (uint32_t i : ops) {
    if (!main.ops[i].layer.empty()) return main.ops[i].layer;
    if (!main.ops[i].scope.empty()) return main.ops[i].scope.substr(0, main.ops[i].scope.find('/'));
  }
  return "section";
}

/// Of each op: the number of the run of calls that it belongs to, or -1.
std::vector<int> runs_of_calls(const Function& main) {
  std::vector<int> run(main.ops.size(), -1);
  int next = 0;
  for (size_t i = 0; i < main.ops.size(); ++i) {
    const auto callee = callee_of(main.ops[i]);
    if (!callee || run[i] >= 0 || !is_work(main.ops[i])) continue;
    std::vector<size_t> calls;
    for (size_t j = i; j < main.ops.size(); ++j) {
      const Op& op = main.ops[j];
      if (!is_work(op)) continue;
      if (callee_of(op) == callee && op.phase == main.ops[i].phase) {
        calls.push_back(j);
      } else if (!is_glue(op)) {
        break;
      }
    }
    if (calls.size() < 2) continue;
    for (size_t j : calls) run[j] = next;
    ++next;
  }
  return run;
}

}  // namespace

std::vector<Section> find_sections(const ir::Graph& graph) {
  const Function& main = graph.entry();
  const std::vector<int> run = runs_of_calls(main);
  std::vector<Section> sections;
  std::map<int, size_t> section_of_run;
  std::optional<size_t> straight;  // the open section of ops outside runs
  for (uint32_t i = 0; i < main.ops.size(); ++i) {
    const Op& op = main.ops[i];
    if (!is_work(op)) continue;
    if (run[i] >= 0) {
      const auto [at, fresh] = section_of_run.try_emplace(run[i], sections.size());
      if (fresh) {
        sections.push_back({run_name(op.layer), op.phase, true, {}});
        straight.reset();
      }
      sections[at->second].ops.push_back(i);
      continue;
    }
    if (!straight || sections[*straight].phase != op.phase) {
      straight = sections.size();
      sections.push_back({"", op.phase, false, {}});
    }
    sections[*straight].ops.push_back(i);
  }
  for (Section& s : sections) {
    if (!s.repeated) s.name = straight_name(main, s.ops);
  }
  return sections;
}

namespace {

/// Finds who makes and who reads the values of main.
class TrafficFinder {
 public:
  TrafficFinder(const ir::Graph& graph, const std::vector<Section>& sections)
      : main_(graph.entry()), sections_(sections), section_of_op_(main_.ops.size(), -1) {
    for (size_t s = 0; s < sections.size(); ++s) {
      for (uint32_t i : sections[s].ops) section_of_op_[i] = static_cast<int64_t>(s);
    }
    find_roots();
  }

  std::vector<SectionTraffic> run() {
    result_.resize(sections_.size());
    reads_.resize(sections_.size());
    for (size_t s = 0; s < sections_.size(); ++s) find_reads(s);
    for (uint32_t i = 0; i < main_.ops.size(); ++i) {
      if (main_.ops[i].phase == Phase::Optimizer) find_gradients(main_.ops[i]);
      if (main_.ops[i].phase == Phase::Backward) find_saved(main_.ops[i]);
    }
    for (SectionTraffic& t : result_) {
      unique(t.parameters), unique(t.gradients), unique(t.data), unique(t.saved),
          unique(t.entering);
    }
    return std::move(result_);
  }

 private:
  template <typename T>
  static void unique(std::vector<T>& v) {
    std::sort(v.begin(), v.end());
    v.erase(std::unique(v.begin(), v.end()), v.end());
  }

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
      if (op.phase == Phase::Optimizer) continue;
      const bool constant = op.kind == OpKind::Constant || op.kind == OpKind::Iota;
      const bool only = constant || (!op.operands.empty() && op.kind != OpKind::Call &&
                                     std::all_of(op.operands.begin(), op.operands.end(),
                                                 [&](ValueId v) { return weight_only_[v.index]; }));
      if (!only) continue;
      for (ValueId r : op.results) {
        weight_only_[r.index] = true;
        for (ValueId v : op.operands) append(roots_[r.index], roots_[v.index]);
      }
    }
  }

  static void append(std::vector<size_t>& to, const std::vector<size_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  void find_reads(size_t s) {
    for (uint32_t i : sections_[s].ops) {
      for (ValueId v : main_.ops[i].operands) {
        append(result_[s].parameters, roots_[v.index]);
        if (weight_only_[v.index]) continue;
        const ir::OpId producer = main_.values[v.index].producer;
        if (!producer.valid()) continue;
        const bool other_layer = section_of_op_[producer.index] != static_cast<int64_t>(s) ||
                                 (sections_[s].repeated && producer.index != i);
        if (other_layer) result_[s].entering.push_back(v);
      }
    }
    for (size_t i = 0; i < main_.inputs.size(); ++i) {
      if (main_.inputs[i].role == Role::Data && reads_input(s, main_.inputs[i].value)) {
        result_[s].data.push_back(i);
      }
    }
  }

  bool reads_input(size_t s, ValueId input) {
    if (reads_[s].empty()) {
      for (uint32_t i : sections_[s].ops) {
        for (ValueId v : main_.ops[i].operands) reads_[s].insert(v);
      }
    }
    return reads_[s].count(input) > 0;
  }

  /// An optimizer op reads parameters and what the backward pass made for them.
  void find_gradients(const Op& op) {
    std::vector<size_t> parameters;
    for (ValueId v : op.operands) append(parameters, roots_[v.index]);
    for (ValueId v : op.operands) {
      const ir::OpId producer = main_.values[v.index].producer;
      if (!producer.valid() || main_.op(producer).phase != Phase::Backward) continue;
      for (size_t p : parameters) attribute_gradient(p, v);
    }
  }

  /// Follows sums of parts (a parameter used twice) back to the sections that make the parts.
  void attribute_gradient(size_t parameter, ValueId value) {
    const ir::OpId producer = main_.values[value.index].producer;
    if (!producer.valid()) return;
    const Op& op = main_.op(producer);
    const bool sum = op.kind == OpKind::Elementwise &&
                     op.attrs.get<ir::ElementFn>(ir::AttrKey::Fn) == ir::ElementFn::Add;
    if (sum && op.phase == Phase::Backward) {
      for (ValueId v : op.operands) attribute_gradient(parameter, v);
      return;
    }
    const int64_t s = section_of_op_[producer.index];
    if (s >= 0) result_[static_cast<size_t>(s)].gradients.push_back(parameter);
  }

  void find_saved(const Op& op) {
    for (ValueId v : op.operands) {
      const ir::OpId producer = main_.values[v.index].producer;
      if (!producer.valid() || weight_only_[v.index]) continue;
      const int64_t s = section_of_op_[producer.index];
      if (s < 0 || main_.op(producer).phase != Phase::Forward) continue;
      result_[static_cast<size_t>(s)].saved.push_back(v);
    }
  }

  const Function& main_;
  const std::vector<Section>& sections_;
  std::vector<int64_t> section_of_op_;
  std::vector<std::vector<size_t>> roots_;
  std::vector<bool> weight_only_;
  std::vector<std::set<ValueId>> reads_;
  std::vector<SectionTraffic> result_;
};

}  // namespace

std::vector<SectionTraffic> traffic_of(const ir::Graph& graph,
                                       const std::vector<Section>& sections) {
  return TrafficFinder(graph, sections).run();
}

}  // namespace wafer::compile
