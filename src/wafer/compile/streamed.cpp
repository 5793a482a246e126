#include "wafer/compile/streamed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/compile/assemble.h"
#include "wafer/compile/passes.h"
#include "wafer/compile/sparse_weights.h"
#include "wafer/estimate/streamed.h"
#include "wafer/ir/cost.h"
#include "wafer/machine/figures.h"

namespace wafer::compile {
namespace {

using plan::Recompute;

double gigabytes(Bytes b) { return b.value / 1e9; }

/// SRAM that activations may fill: of each PE, what is not reserved for code, stack and weights.
Bytes activation_capacity(const machine::Wafer& m) {
  return (m.sram.bytes.value - m.sram.reserved.value) * static_cast<double>(usable_pes(m));
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Samples that one run of a graph with a fixed batch takes: the leading dimension of its data.
int64_t fixed_batch(const ir::Graph& graph) {
  for (const ir::Input& input : graph.entry().inputs) {
    const Shape& shape = graph.entry().type_of(input.value).shape;
    if (input.role == ir::Role::Data && !shape.empty()) return shape[0].value();
  }
  return 1;
}

double parameter_count(const ir::Graph& graph) {
  double count = 0;
  for (const ir::Input& input : graph.entry().inputs) {
    if (input.role != ir::Role::Parameter) continue;
    count += static_cast<double>(graph.entry().type_of(input.value).elements());
  }
  return count;
}

}  // namespace

struct StreamedCompiler::Analysis {
  ir::Graph graph;
  int64_t tokens_per_sample = 1;
  DType precision = DType::F16;
  bool training = false;
  std::optional<int64_t> fixed_batch;  ///< where the graph's batch is a number
  ir::Graph one_graph;                 ///< bound to one sample, or of the fixed batch
  StepAnalysis one;                    ///< of it
  double parameters = 0;
  Flops model_flops_per_sample;
};

namespace {

/// One request on one machine: finds the choice, by the rule of docs/decisions.
class Chooser {
 public:
  Chooser(const ir::Graph& graph, const StepAnalysis& one, int64_t unit, bool training,
          DType precision, const machine::Wafer& machine, const StreamedRequest& request)
      : graph_(graph),
        one_(one),
        unit_(unit),
        training_(training),
        precision_(precision),
        machine_(machine),
        request_(request),
        capacity_(activation_capacity(machine)),
        share_(divide_up(request.batch, request.systems)) {}

  Choice choose(bool fixed) const {
    std::vector<int64_t> candidates = fixed                  ? fixed_candidate()
                                      : request_.micro_batch ? pinned_candidate()
                                                             : free_candidates();
    std::optional<Choice> best;
    double best_seconds = 0;
    for (int64_t m : candidates) {
      for (const Choice& choice : residences(m)) {
        const double seconds = step_seconds(choice);
        if (!best || seconds < best_seconds) best = choice, best_seconds = seconds;
      }
    }
    WAFER_CHECK(best.has_value());
    best->micro_batch_reason = micro_batch_reason(*best, fixed);
    return *best;
  }

  double scale(int64_t micro_batch) const {
    return static_cast<double>(micro_batch) / static_cast<double>(unit_);
  }

 private:
  bool fits(int64_t m) const { return one_.widest_kernel * scale(m) <= capacity_; }

  [[noreturn]] void too_wide(int64_t m) const {
    const auto most =
        static_cast<int64_t>(capacity_ / one_.widest_kernel * static_cast<double>(unit_));
    throw CapacityError(fmt::format(
        "a micro-batch of {} does not fit {}: the activations of the widest kernel take {:.3g} GB, "
        "the wafer has {:.3g} GB for them. {}",
        m, machine_.name, gigabytes(one_.widest_kernel * scale(m)), gigabytes(capacity_),
        most >= 1 ? fmt::format("At most {} samples fit.", most)
                  : std::string("Not even one sample fits: use a shorter sequence (--seq).")));
  }

  std::vector<int64_t> fixed_candidate() const {
    if (request_.micro_batch && *request_.micro_batch != unit_) {
      throw InputError(
          fmt::format("the graph's batch is fixed at {}: --micro-batch must be {}, or "
                      "export it with a symbolic batch",
                      unit_, unit_));
    }
    if (request_.batch % (request_.systems * unit_) != 0) {
      throw InputError(
          fmt::format("the graph's batch is fixed at {}: --batch must be a multiple of "
                      "{} (batch x systems), or export it with a symbolic batch",
                      unit_, request_.systems * unit_));
    }
    if (!fits(unit_)) too_wide(unit_);
    return {unit_};
  }

  std::vector<int64_t> pinned_candidate() const {
    if (*request_.micro_batch > share_) {
      throw InputError(fmt::format("--micro-batch {} is more than the {} samples of one system",
                                   *request_.micro_batch, share_));
    }
    if (!fits(*request_.micro_batch)) too_wide(*request_.micro_batch);
    return {*request_.micro_batch};
  }

  /// What fits of the divisors of a system's share, and of its cuts into 1, 2, 4, ... near-equal
  /// parts: a share that divides badly (a prime, say) has parts of every size too. The last part
  /// of an uneven cut is priced as if it were full.
  std::vector<int64_t> free_candidates() const {
    if (!fits(1)) too_wide(1);
    std::vector<int64_t> sizes;
    for (int64_t d = 1; d * d <= share_; ++d) {
      if (share_ % d == 0) sizes.insert(sizes.end(), {d, share_ / d});
    }
    for (int64_t size = share_; size > 1; size = divide_up(size, 2)) sizes.push_back(size);
    std::erase_if(sizes, [&](int64_t m) { return !fits(m); });
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  /// Where activations may live at a micro-batch, by the recompute asked for or else the first
  /// that fits: all kept on the wafer; recomputed from each layer's input, kept on the wafer;
  /// recomputed, the inputs kept at the activation servers.
  std::vector<Choice> residences(int64_t m) const {
    Choice choice{.micro_batch = m, .micro_batches = divide_up(share_, m)};
    if (!training_) {
      choice.activation_reason = "nothing is kept: there is no backward pass";
      return {choice};
    }
    const std::vector<Recompute> policies =
        request_.recompute ? std::vector<Recompute>{*request_.recompute}
                           : std::vector<Recompute>{Recompute::None, Recompute::Full};
    for (Recompute policy : policies) {
      const Bytes kept = kept_bytes(one_, policy) * scale(m);
      const Bytes widest = one_.widest_kernel * scale(m);
      choice.recompute = policy;
      choice.activation_reason = fmt::format(
          "{:.3g} GB kept ({}) and {:.3g} GB at the widest kernel "
          "fit the wafer's {:.3g} GB",
          gigabytes(kept), meaning(policy), gigabytes(widest), gigabytes(capacity_));
      if (kept + widest <= capacity_) return {choice};
      choice.activation_reason = fmt::format(
          "{:.3g} GB kept ({}) do not fit the wafer's {:.3g} GB beside {:.3g} GB at the widest "
          "kernel: they go out to the activation servers and come back",
          gigabytes(kept), meaning(policy), gigabytes(capacity_), gigabytes(widest));
    }
    choice.spill = true;
    return {choice};
  }

  static std::string_view meaning(Recompute policy) {
    switch (policy) {
      case Recompute::None:
        return "all that the backward pass reads";
      case Recompute::Selective:
        return "results of weight products";
      case Recompute::Full:
        return "the input of each layer";
    }
    throw InternalError("no such recompute policy");
  }

  double step_seconds(const Choice& choice) const {
    const plan::Plan plan =
        assemble_streamed(graph_, one_, scale(choice.micro_batch), request_, choice, precision_);
    return estimate::streamed(plan, machine_).step.value;
  }

  std::string micro_batch_reason(const Choice& choice, bool fixed) const {
    if (fixed) return "fixed by the graph";
    if (request_.micro_batch) return "asked for";
    if (choice.micro_batches == 1) return "the whole share of a system at once";
    return fmt::format(
        "fastest that fits of the batch's divisors and halvings; {} in turn make the {} samples of "
        "a system",
        choice.micro_batches, share_);
  }

  const ir::Graph& graph_;
  const StepAnalysis& one_;
  const int64_t unit_;
  const bool training_;
  const DType precision_;
  const machine::Wafer& machine_;
  const StreamedRequest& request_;
  const Bytes capacity_;
  const int64_t share_;
};

void check(const StreamedRequest& r) {
  Problems problems;
  if (r.batch < 1) problems.add(fmt::format("--batch must be at least 1, not {}", r.batch));
  if (r.systems < 1) problems.add(fmt::format("--systems must be at least 1, not {}", r.systems));
  if (r.batch >= 1 && r.systems > r.batch) {
    problems.add(
        fmt::format("{} systems for {} samples: each needs at least one", r.systems, r.batch));
  }
  if (r.micro_batch && *r.micro_batch < 1) {
    problems.add(fmt::format("--micro-batch must be at least 1, not {}", *r.micro_batch));
  }
  const auto check_zeros = [&](const plan::Sparsity& s) {
    if (s.zeros >= 0 && s.zeros < 1) return;
    problems.add(fmt::format("the share of zeros must be in [0, 1), not {}", s.zeros));
  };
  check_zeros(r.sparsity);
  for (const plan::WeightSparsity& w : r.sparsity_of) check_zeros(w.sparsity);
  problems.throw_if_any("the request contradicts itself:");
}

void check_store(const plan::Plan& plan, const machine::Wafer& m) {
  Bytes needed;
  for (const plan::Buffer& b : plan.buffers) {
    const bool stored =
        b.kind == plan::BufferKind::Parameter || b.kind == plan::BufferKind::OptimizerState;
    if (stored && b.home == plan::Place::Store) needed += b.bytes();
  }
  const Bytes capacity = machine::store_bytes(m.store);
  if (needed <= capacity) return;
  throw CapacityError(fmt::format(
      "the model does not fit the weight store of {}: parameters and optimizer state take {:.4g} "
      "GB, "
      "{} nodes hold {:.4g} GB. Describe a larger store in a machine file (store.nodes, "
      "store.node_bytes)",
      m.name, gigabytes(needed), m.store.nodes.value, gigabytes(capacity)));
}

}  // namespace

StreamedCompiler::StreamedCompiler(ir::Graph step, int64_t tokens_per_sample, DType precision) {
  auto a = std::make_unique<Analysis>();
  a->graph = std::move(step);
  a->tokens_per_sample = tokens_per_sample;
  a->precision = precision;
  const std::vector<std::string> symbols = ir::unbound_symbols(a->graph);
  Problems problems;
  for (const std::string& s : symbols) {
    if (s != ir::BatchSymbol)
      problems.add(fmt::format("dimension {} is not bound: --dim {}=VALUE", s, s));
  }
  problems.throw_if_any("the graph has unbound dimensions:");
  if (symbols.empty()) a->fixed_batch = fixed_batch(a->graph);
  a->one_graph = ir::bind(a->graph, {{std::string(ir::BatchSymbol), 1}});
  a->one = analyse(a->graph, a->one_graph);
  a->parameters = parameter_count(a->one_graph);
  Flops forward;
  for (const SectionWork& work : a->one.sections) {
    a->training = a->training || work.section.phase == ir::Phase::Backward;
    if (work.section.phase != ir::Phase::Forward) continue;
    for (const plan::Kernel& k : work.kernels) {
      forward += (k.work.weight_product + k.work.local_product) * work.section.layers();
    }
  }
  const double samples = static_cast<double>(a->fixed_batch.value_or(1));
  a->model_flops_per_sample = forward * ((a->training ? 3.0 : 1.0) / samples);
  if (a->parameters == 0) throw InputError("the graph has no parameters: nothing streams");
  analysis_ = std::move(a);
}

StreamedCompiler::~StreamedCompiler() = default;

std::string StreamedCompiler::layers_text() const {
  return print_layers(analysis_->one_graph, analysis_->one);
}

std::string StreamedCompiler::kernels_text() const { return print_kernels(analysis_->one); }

plan::Plan StreamedCompiler::skeleton(const machine::Wafer& machine,
                                      const StreamedRequest& request) const {
  check(request);
  const Analysis& a = *analysis_;
  check_patterns(request, a.one_graph.entry(), a.one);
  const int64_t unit = a.fixed_batch.value_or(1);
  const Chooser chooser(a.one_graph, a.one, unit, a.training, a.precision, machine, request);
  const Choice choice = chooser.choose(a.fixed_batch.has_value());
  plan::Plan plan = assemble_streamed(a.one_graph, a.one, chooser.scale(choice.micro_batch),
                                      request, choice, a.precision);
  plan.model = a.graph.name;
  plan.machine = machine.name;
  plan.tokens_per_sample = a.tokens_per_sample;
  plan.parameters = a.parameters;
  plan.model_flops_per_sample = a.model_flops_per_sample;
  plan.spilled = choice.spill;
  check_store(plan, machine);
  return plan;
}

plan::Plan StreamedCompiler::plan(const machine::Wafer& machine,
                                  const StreamedRequest& request) const {
  const Analysis& a = *analysis_;
  const plan::Plan chosen = skeleton(machine, request);
  if (a.fixed_batch) {
    plan::Plan whole = chosen;
    whole.graph = a.graph;
    return whole;
  }
  ir::Graph bound = ir::bind(a.graph, {{std::string(ir::BatchSymbol), chosen.micro_batch}});
  const StepAnalysis exact = analyse(a.graph, bound);
  const Choice choice{.micro_batch = chosen.micro_batch,
                      .micro_batches = static_cast<int64_t>(chosen.micro_batches),
                      .recompute = chosen.recompute,
                      .spill = chosen.spilled,
                      .micro_batch_reason = chosen.micro_batch_reason,
                      .activation_reason = chosen.activation_reason};
  plan::Plan plan = assemble_streamed(bound, exact, 1, request, choice, a.precision);
  plan.model = chosen.model;
  plan.machine = chosen.machine;
  plan.tokens_per_sample = chosen.tokens_per_sample;
  plan.parameters = chosen.parameters;
  plan.model_flops_per_sample = chosen.model_flops_per_sample;
  plan.spilled = chosen.spilled;
  plan.graph = std::move(bound);
  const std::vector<std::string> problems = plan::problems_of(plan);
  WAFER_CHECK(problems.empty(), problems.front());
  return plan;
}

}  // namespace wafer::compile
