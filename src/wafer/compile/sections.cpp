#include "wafer/compile/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "wafer/base/error.h"

namespace wafer::compile {
namespace {

using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::Phase;
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

/// The label of the ops, or the outermost scope of a product among them, or of any.
std::string straight_name(const Function& main, const std::vector<uint32_t>& ops) {
  std::string name;
  for (uint32_t i : ops) {
    const Op& op = main.ops[i];
    if (!op.layer.empty()) return op.layer;
    const bool product = op.kind == OpKind::DotGeneral || op.kind == OpKind::Convolution;
    if (op.scope.empty() || !(product || name.empty())) continue;
    name = op.scope.substr(0, op.scope.find('/'));
    if (product) return name;
  }
  return name.empty() ? "section" : name;
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

}  // namespace wafer::compile
