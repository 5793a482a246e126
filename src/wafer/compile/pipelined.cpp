#include "wafer/compile/pipelined.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/estimate/pipelined.h"
#include "wafer/machine/figures.h"
#include "wafer/plan/parameter_bytes.h"
#include "wafer/solve/place.h"
#include "wafer/solve/size.h"

namespace wafer::compile {
namespace {

using plan::BufferKind;
using plan::PipelineKernel;
using Kind = PipelineKernel::Kind;

constexpr double LeastShare = 0.5;  // of the wafer, that a placement is looked for in
constexpr double NextShare = 0.98;

/// Sizes and places the kernels of one network on one wafer.
class Layout {
 public:
  Layout(const machine::Wafer& machine, DType precision, std::vector<PipelineKernel> kernels,
         Cycles shortest)
      : m_(machine), precision_(precision) {
    p_.kernels = std::move(kernels);
    p_.shortest_period = shortest;
    p_.width = machine.usable.width.value;
    p_.height = machine.usable.height.value;
  }

  plan::Pipeline run(std::optional<int64_t> region) {
    const int64_t wafer = machine::usable_pes(m_);
    p_.region = region.value_or(wafer);
    if (p_.region > wafer) {
      throw InputError(fmt::format("--region {}: {} has {} PEs; take a smaller region", p_.region,
                                   m_.name, wafer));
    }
    // Where rounding to whole rows and columns leaves no room, all is made a little smaller.
    for (double share = m_.pipelined.usable_share.value; share > LeastShare; share *= NextShare) {
      size(share);
      if (place()) return std::move(p_);
    }
    throw CapacityError(fmt::format(
        "mode pipelined: no placement of {} kernels on {} x {} PEs was found; use weight streaming "
        "(--mode streamed)",
        p_.kernels.size(), p_.width, p_.height));
  }

 private:
  void size(double share) {
    solve::SizeProblem problem;
    problem.shortest = p_.shortest_period.value;
    problem.area = share * static_cast<double>(machine::usable_pes(m_));
    problem.region_area = share * static_cast<double>(p_.region);
    for (const PipelineKernel& k : p_.kernels) {
      problem.stages.push_back(
          {k.name, [this, &k](double c) { return pes(k, Cycles(c)); }, k.kind != Kind::Fifo});
    }
    const auto sized = solve::size(problem);
    if (const auto* no = std::get_if<solve::SizeInfeasible>(&sized)) refuse(*no);
    const auto& solution = std::get<solve::SizeSolution>(sized);
    p_.period = Cycles(solution.period);
    p_.usable_share = share;
    for (size_t i = 0; i < p_.kernels.size(); ++i) {
      p_.kernels[i].pes = static_cast<int64_t>(solution.areas[i]);
      set_weights(p_.kernels[i]);
    }
  }

  double pes(const PipelineKernel& k, Cycles period) const {
    return std::max(1.0, estimate::pipelined_pes(k, period, m_, precision_));
  }

  void set_weights(PipelineKernel& k) const {
    if (k.kind == Kind::Product) {
      k.weights_of_pe = estimate::weights_of_pe(k, p_.period, m_, precision_);
    } else if (k.kind == Kind::Table) {
      k.weights_of_pe = estimate::most_weights_of_pe(m_, precision_);
    }
  }

  [[noreturn]] void refuse(const solve::SizeInfeasible& no) const {
    throw CapacityError(fmt::format(
        "mode pipelined: the network does not fit {}: its weights with optimizer state, and the "
        "activations that wait for the backward pass, take {:.0f} PEs at any rate, and {:.0f} may "
        "be used: {:.0f} are lacking. Use weight streaming (--mode streamed)",
        m_.name, no.needed, no.available, no.needed - no.available));
  }

  bool place() {
    solve::PlaceProblem problem{.width = p_.width, .height = p_.height, .blocks = {}, .wires = {}};
    for (const PipelineKernel& k : p_.kernels) problem.blocks.push_back({k.name, k.pes});
    problem.wires = wires();
    const auto placed = solve::place(problem);
    const auto* solution = std::get_if<solve::PlaceSolution>(&placed);
    if (solution == nullptr) return false;
    for (size_t i = 0; i < p_.kernels.size(); ++i) p_.kernels[i].at = solution->rectangles[i];
    p_.wire_length = solution->wire_length;
    return true;
  }

  // From each kernel to the next, and between a FIFO and the products and norms of its layer.
  std::vector<solve::Wire> wires() const {
    std::vector<solve::Wire> all;
    std::optional<size_t> before;
    for (size_t i = 0; i < p_.kernels.size(); ++i) {
      if (p_.kernels[i].kind == Kind::Fifo) {
        wire_fifo(i, all);
        continue;
      }
      if (before) all.push_back({*before, i});
      before = i;
    }
    return all;
  }

  void wire_fifo(size_t fifo, std::vector<solve::Wire>& all) const {
    const PipelineKernel& f = p_.kernels[fifo];
    for (size_t i = 0; i < p_.kernels.size(); ++i) {
      const PipelineKernel& k = p_.kernels[i];
      const bool same_layer = k.layer == f.layer && k.number == f.number;
      if (same_layer && k.kind != Kind::Fifo && k.kind != Kind::Table) all.push_back({i, fifo});
    }
  }

  const machine::Wafer& m_;
  const DType precision_;
  plan::Pipeline p_;
};

/// P7. What a layer passes on crosses to the next as words of a link.
Cycles shortest_period(const Profile& profile, const machine::Wafer& m, DType precision) {
  double most = 1;
  for (const LayerProfile& layer : profile.layers) {
    if (layer.repeated) most = std::max(most, layer.passed_on);
  }
  const double bits = most / static_cast<double>(profile.unit) * 8 * size_in_bytes(precision);
  return Cycles(std::max(1.0, bits / static_cast<double>(m.router.link_bits.value)));
}

/// The parts of a plan that do not depend on where kernels lie.
class Assembler {
 public:
  Assembler(const Profile& profile, DType precision) : profile_(profile), precision_(precision) {}

  plan::Plan run(plan::Pipeline pipeline, int64_t batch) {
    plan_.target = plan::Target::WaferPipelined;
    plan_.training = true;
    plan_.batch = batch;
    plan_.micro_batch = 1;
    plan_.micro_batches = static_cast<double>(batch);
    plan_.tokens_per_sample = profile_.tokens;
    plan_.precision = precision_;
    plan_.parameters = profile_.parameters;
    set_flops();
    add_body(pipeline);
    add_state();
    add_fifos(pipeline);
    plan_.micro_batch_reason = fmt::format("one every {:.0f} cycles", pipeline.period.value);
    plan_.activation_reason =
        fmt::format("in FIFOs of {} PEs beside the kernels", pipeline.fifo_pes());
    plan_.pipeline = std::move(pipeline);
    return std::move(plan_);
  }

 private:
  void set_flops() {
    Flops model;
    for (const LayerProfile& l : profile_.layers) {
      model += (l.products() + l.attention()) * l.times;
    }
    plan_.model_flops_per_sample = model * (3 / static_cast<double>(profile_.unit));
  }

  // Every kernel works on each sample; after the last one, the weights are updated where they lie.
  void add_body(const plan::Pipeline& pipeline) {
    plan::Repeat samples{plan::Repeat::Over::MicroBatches, plan_.micro_batches, {}};
    for (const PipelineKernel& k : pipeline.kernels) {
      if (k.kind == Kind::Fifo || k.kind == Kind::Table) continue;
      samples.body.push_back(plan::Launch{.kernel = add_kernel(k)});
    }
    plan_.body.push_back(std::move(samples));
    plan_.body.push_back(plan::Barrier{"all samples of the batch have passed"});
  }

  plan::KernelId add_kernel(const PipelineKernel& k) {
    plan::Kernel kernel{.name = fmt::format("{} {}/{}", k.layer, k.number, k.name),
                        .implementation = fmt::format("pipelined_{}", plan::name_of(k.kind)),
                        .function = {},
                        .work = {}};
    Flops& flops = k.kind == Kind::Product     ? kernel.work.weight_product
                   : k.kind == Kind::Attention ? kernel.work.local_product
                                               : kernel.work.elementwise;
    flops = k.kind == Kind::Product || k.kind == Kind::Attention ? k.flops : Flops(k.elements);
    plan_.kernels.push_back(std::move(kernel));
    return plan::KernelId(plan_.kernels.size() - 1);
  }

  plan::BufferId add_buffer(const std::string& name, BufferKind kind, DType type, double elements,
                            const std::string& layer = {}) {
    plan_.buffers.push_back({.name = name,
                             .type = {type, {Dim(static_cast<int64_t>(elements))}},
                             .kind = kind,
                             .home = plan::Place::Wafer,
                             .layer = layer});
    return plan::BufferId(plan_.buffers.size() - 1);
  }

  void add_state() {
    const plan::ParameterBytes each = plan::parameter_bytes(precision_);
    const double n = profile_.parameters;
    const plan::BufferId weights = add_buffer("weights", BufferKind::Parameter, precision_, n);
    add_buffer("gradients", BufferKind::Gradient, DType::U8, n * each.gradient);
    add_buffer("optimizer state", BufferKind::OptimizerState, DType::U8, n * each.state);
    plan_.kernels.push_back({.name = "update",
                             .implementation = "optimizer",
                             .phase = ir::Phase::Optimizer,
                             .function = {},
                             .work = {}});
    plan_.body.push_back(plan::Update{plan::KernelId(plan_.kernels.size() - 1), {weights}});
  }

  void add_fifos(const plan::Pipeline& pipeline) {
    for (const PipelineKernel& k : pipeline.kernels) {
      if (k.kind != Kind::Fifo) continue;
      const std::string layer = fmt::format("{} {}", k.layer, k.number);
      add_buffer(layer + "/fifo", BufferKind::Activation, precision_, k.elements, layer);
    }
  }

  const Profile& profile_;
  const DType precision_;
  plan::Plan plan_;
};

}  // namespace

PipelinedCompiler::PipelinedCompiler(const ir::Graph& forward, int64_t tokens_per_sample,
                                     DType precision)
    : model_(forward.name),
      profile_(compile::profile(forward, tokens_per_sample)),
      precision_(precision),
      kernels_(pipeline_kernels(profile_)) {}

plan::Plan PipelinedCompiler::plan(const machine::Wafer& machine,
                                   const PipelinedRequest& request) const {
  const Cycles shortest = shortest_period(profile_, machine, precision_);
  plan::Pipeline pipeline = Layout(machine, precision_, kernels_, shortest).run(request.region);
  pipeline.depth = static_cast<int64_t>(2 * profile_.repeated()) + 2;
  plan::Plan plan = Assembler(profile_, precision_).run(std::move(pipeline), request.batch);
  plan.model = model_;
  plan.machine = machine.name;
  const std::vector<std::string> problems = plan::problems_of(plan);
  WAFER_CHECK(problems.empty(), problems.front());
  return plan;
}

}  // namespace wafer::compile
