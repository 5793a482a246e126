#include "wafer/compile/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "wafer/compile/kernels.h"
#include "wafer/compile/multipliers.h"

namespace wafer::compile {
namespace {

using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::Phase;
using ir::ValueId;

bool is_weight_product_kernel(const plan::Kernel& k) { return k.work.weight_product.value > 0; }

/// Kernels of the ops of a section: of one call when it is repeated, of each stretch of ops else.
std::vector<plan::Kernel> kernels_of(KernelCutter& cutter, const ir::Graph& graph,
                                     const Section& section) {
  if (section.repeated) return cutter.cut(graph.main, section.ops[0], 1);
  std::vector<plan::Kernel> kernels;
  for (size_t begin = 0; begin < section.ops.size();) {
    size_t end = begin + 1;
    while (end < section.ops.size() && section.ops[end] == section.ops[end - 1] + 1) ++end;
    const auto part =
        cutter.cut(graph.main, section.ops[begin], static_cast<uint32_t>(end - begin));
    kernels.insert(kernels.end(), part.begin(), part.end());
    begin = end;
  }
  return kernels;
}

/// A layer is set up once forward and twice backward (gradient of the input, of the weights); in a
/// section between layers each weight product is a pass of its own.
int passes_of(const SectionWork& work) {
  if (work.traffic.weights.empty() && work.traffic.gradients.empty()) return 0;
  if (work.section.repeated) return work.section.phase == Phase::Forward ? 1 : 2;
  const auto products = std::count_if(work.kernels.begin(), work.kernels.end(),
                                      [](const auto& k) { return is_weight_product_kernel(k); });
  return std::max(1, static_cast<int>(products));
}

bool is_broadcast(const Function& f, ValueId v) {
  const ir::OpId producer = f.values[v.index].producer;
  return producer.valid() && f.op(producer).kind == OpKind::BroadcastInDim;
}

/// Whether a value, made inside a called function if need be, is the result of a weight product,
/// perhaps with its bias added and in another form.
bool made_by_product(const ir::Graph& graph, const Function& function, ValueId v) {
  const ir::OpId producer = function.values[v.index].producer;
  if (!producer.valid()) return false;
  const Op& op = function.op(producer);
  if (op.kind == OpKind::Call) {
    const Function& callee = graph.function(op.attrs.get<ir::FunctionId>(ir::AttrKey::Body));
    const auto slot = std::find(op.results.begin(), op.results.end(), v) - op.results.begin();
    return made_by_product(graph, callee, callee.outputs[static_cast<size_t>(slot)].value);
  }
  if (op.kind == OpKind::DotGeneral || op.kind == OpKind::Convolution) {
    return is_weight_product(graph, function, op);
  }
  if (op.kind == OpKind::Reshape || op.kind == OpKind::Transpose) {
    return made_by_product(graph, function, op.operands[0]);
  }
  const bool sum = op.kind == OpKind::Elementwise &&
                   op.attrs.get<ir::ElementFn>(ir::AttrKey::Fn) == ir::ElementFn::Add;
  return sum && is_broadcast(function, op.operands[1]) &&
         made_by_product(graph, function, op.operands[0]);
}

Kept kept(const ir::Graph& symbolic, const ir::Graph& bound, const Section& section,
          std::string_view what, size_t number, const Values& values) {
  const std::set<ValueId> distinct(values.begin(), values.end());
  return {.name = fmt::format("{}.{}.{}", section.name, what, number),
          .type = bound.entry().type_of(values[0]),
          .instances = static_cast<double>(distinct.size()),
          .of_product = made_by_product(symbolic, symbolic.entry(), values[0])};
}

/// The forward section whose parameters a backward section makes gradients of.
size_t forward_of(const std::vector<SectionWork>& sections, const SectionWork& backward) {
  size_t best = SIZE_MAX;
  size_t best_common = 0;
  std::set<size_t> wanted;
  for (const Stream& s : backward.traffic.gradients) {
    wanted.insert(s.inputs.begin(), s.inputs.end());
  }
  for (size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].section.phase != Phase::Forward) continue;
    size_t common = 0;
    for (const Stream& s : sections[i].traffic.weights) {
      for (size_t input : s.inputs) common += wanted.count(input);
    }
    if (common > best_common) best = i, best_common = common;
  }
  return best;
}

/// The widest op of a function: its activations (where no batch is symbolic, all values), operands
/// and results, each once. Ops that only look at elements in another order hold nothing of their
/// own.
Bytes widest_of(const ir::Graph& symbolic, const ir::Graph& bound, ir::FunctionId id,
                std::set<ir::FunctionId>& seen) {
  if (!seen.insert(id).second) return {};
  Bytes widest;
  const Function& f = bound.function(id);
  const bool fixed = ir::unbound_symbols(symbolic).empty();
  for (size_t i = 0; i < f.ops.size(); ++i) {
    const Op& op = f.ops[i];
    for (ir::FunctionId callee : ir::functions_of(op)) {
      widest = std::max(widest, widest_of(symbolic, bound, callee, seen));
    }
    const bool view = op.kind == OpKind::Reshape || op.kind == OpKind::Transpose ||
                      op.kind == OpKind::BroadcastInDim || op.kind == OpKind::Call;
    if (view) continue;
    std::set<ValueId> values(op.operands.begin(), op.operands.end());
    values.insert(op.results.begin(), op.results.end());
    Bytes bytes;
    for (ValueId v : values) {
      if (fixed || holds_batch(symbolic.function(id).type_of(v))) bytes += f.type_of(v).bytes();
    }
    widest = std::max(widest, bytes);
  }
  return widest;
}

Bytes widest_kernel_of(const ir::Graph& symbolic, const ir::Graph& bound,
                       const std::vector<SectionWork>& sections) {
  std::set<ir::FunctionId> seen;
  Bytes widest;
  for (const SectionWork& work : sections) {
    if (!work.section.repeated) continue;
    const Op& call = bound.entry().ops[work.section.ops[0]];
    for (ir::FunctionId callee : ir::functions_of(call)) {
      widest = std::max(widest, widest_of(symbolic, bound, callee, seen));
    }
  }
  return widest.value > 0 ? widest : widest_of(symbolic, bound, bound.main, seen);
}

plan::Work update_of(const std::vector<size_t>& inputs,
                     const std::map<size_t, ParameterUpdate>& updates) {
  plan::Work work;
  for (const size_t input : inputs) {
    const auto found = updates.find(input);
    if (found == updates.end()) continue;
    const ir::Cost& cost = found->second.cost;
    work.elementwise += cost.elementwise;
    work.read += cost.read;
    work.written += cost.written;
  }
  return work;
}

/// Gives each stream its group.
void find_groups(StepAnalysis& analysis) {
  std::map<std::vector<size_t>, size_t> group_of;
  const auto assign = [&](std::vector<Stream>& streams) {
    for (Stream& stream : streams) {
      std::vector<size_t> inputs = stream.inputs;
      std::sort(inputs.begin(), inputs.end());
      inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
      const auto [at, fresh] = group_of.try_emplace(inputs, analysis.groups.size());
      if (fresh) {
        plan::Work update = update_of(inputs, analysis.updates);
        analysis.groups.push_back({.inputs = std::move(inputs), .update = update});
      }
      stream.group = at->second;
    }
  };
  for (SectionWork& work : analysis.sections) {
    assign(work.traffic.weights);
    assign(work.traffic.gradients);
  }
}

/// Gives each group the kernel that multiplies by its parameters in the forward pass.
void find_kernels(const ir::Graph& symbolic, StepAnalysis& analysis) {
  for (const SectionWork& work : analysis.sections) {
    if (work.section.phase != ir::Phase::Forward) continue;
    const std::map<size_t, std::string> kernels = multipliers_of(symbolic, work.section);
    for (const Stream& stream : work.traffic.weights) {
      ParameterGroup& group = analysis.groups[stream.group];
      for (const size_t input : stream.inputs) {
        const auto found = kernels.find(input);
        if (found == kernels.end()) continue;
        if (group.kernel.empty()) group.kernel = found->second, group.section = work.section.name;
        break;
      }
    }
  }
}

/// Forward sections whose activations wait for the backward pass: those that a backward section
/// answers, but for the last ones (the head), which the backward pass begins with: what they make
/// is used up at once, row by row, and need not be kept or made again.
std::vector<bool> waiting_sections(const std::vector<SectionWork>& sections) {
  std::vector<bool> waiting(sections.size(), false);
  for (size_t s = 0; s < sections.size(); ++s) {
    const size_t forward = sections[s].forward;
    if (forward == SIZE_MAX) continue;
    const auto weighs = [](const SectionWork& w) { return !w.traffic.weights.empty(); };
    const auto begin = sections.begin();
    if (std::any_of(begin + static_cast<int64_t>(forward) + 1, begin + static_cast<int64_t>(s),
                    weighs)) {
      waiting[forward] = true;
    }
  }
  return waiting;
}

}  // namespace

StepAnalysis analyse(const ir::Graph& symbolic, const ir::Graph& bound) {
  StepAnalysis result;
  const std::vector<Section> sections = find_sections(symbolic);
  std::vector<SectionTraffic> traffic = traffic_of(symbolic, sections);
  KernelCutter cutter(symbolic, bound);
  for (size_t s = 0; s < sections.size(); ++s) {
    SectionWork work{.section = sections[s],
                     .traffic = std::move(traffic[s]),
                     .kernels = kernels_of(cutter, bound, sections[s]),
                     .saved = {},
                     .entering = {}};
    for (const Values& values : work.traffic.saved) {
      work.saved.push_back(kept(symbolic, bound, work.section, "saved", work.saved.size(), values));
    }
    for (const Values& values : work.traffic.entering) {
      work.entering.push_back(
          kept(symbolic, bound, work.section, "input", work.entering.size(), values));
    }
    work.passes = passes_of(work);
    result.sections.push_back(std::move(work));
  }
  for (SectionWork& work : result.sections) {
    if (work.section.phase == Phase::Backward) work.forward = forward_of(result.sections, work);
  }
  result.waiting = waiting_sections(result.sections);
  result.updates = find_updates(bound);
  find_groups(result);
  find_kernels(symbolic, result);
  result.widest_kernel = widest_kernel_of(symbolic, bound, result.sections);
  return result;
}

}  // namespace wafer::compile
