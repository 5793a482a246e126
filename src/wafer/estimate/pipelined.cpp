#include "wafer/estimate/pipelined.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "wafer/base/error.h"
#include "wafer/machine/figures.h"
#include "wafer/plan/parameter_bytes.h"

namespace wafer::estimate {
namespace {

using plan::Pipeline;
using plan::PipelineKernel;
using Kind = PipelineKernel::Kind;

constexpr double Passes = 3;  // a product forward, for its operand's and for its weight's gradient

double lanes(const machine::Wafer& m, DType precision) {
  return size_in_bytes(precision) <= 2 ? m.lanes.f16_multiply_add.value
                                       : m.lanes.f32_multiply_add.value;
}

machine::Arithmetic arithmetic(DType precision) {
  return size_in_bytes(precision) <= 2 ? machine::Arithmetic::F16 : machine::Arithmetic::F32;
}

double bytes_of_weight(DType precision) { return plan::parameter_bytes(precision).total(); }

double pes_of_weights(double weights, double of_pe) {
  return of_pe > 0 ? std::ceil(weights / of_pe) : std::numeric_limits<double>::infinity();
}

/// Kernels that work element by element share them over PEs.
double pes_of_elements(double elements, Cycles each, Cycles period) {
  return std::ceil(elements * each.value / period.value);
}

/// A step, and what of it is asked of whom.
class Coster {
 public:
  Coster(const plan::Plan& plan, const machine::Wafer& machine)
      : plan_(plan), pipeline_(*plan.pipeline), m_(machine) {}

  Answer run() {
    add_rates();
    add_memory();
    add_parts();
    add_roofline();
    answer_.bound = bound();
    return std::move(answer_);
  }

 private:
  // P8.
  void add_rates() {
    const Hertz clock = m_.clock.value;
    const auto samples = static_cast<double>(plan_.batch);
    const Seconds period = time_of(pipeline_.period, clock);
    parts_.period = period;
    parts_.fill = period * static_cast<double>(pipeline_.depth);
    parts_.latency = parts_.fill;
    parts_.update = time_of(m_.pipelined.update.value * most_weights(), clock);
    answer_.step = period * samples + parts_.fill + parts_.update;
    answer_.samples_per_second = samples / answer_.step.value;
    answer_.tokens_per_second =
        answer_.samples_per_second * static_cast<double>(plan_.tokens_per_sample);
    answer_.model_flops_per_step = plan_.model_flops_per_sample * samples;
    answer_.model_flops_per_second = rate_of(answer_.model_flops_per_step, answer_.step);
    const FlopsPerSecond peak = machine::peak_flops(m_, arithmetic(plan_.precision));
    answer_.utilization = answer_.model_flops_per_second / peak;
    // P11.
    const double idle = m_.power.idle_share.value;
    const double busy = std::min(1.0, answer_.utilization);
    answer_.energy_per_step =
        energy_of(m_.power.peak.value * (idle + (1 - idle) * busy), answer_.step);
  }

  double most_weights() const {
    double most = 0;
    for (const PipelineKernel& k : pipeline_.kernels) most = std::max(most, k.weights_of_pe);
    return most;
  }

  void add_memory() {
    Memory& memory = answer_.memory;
    for (const plan::Buffer& b : plan_.buffers) {
      switch (b.kind) {
        case plan::BufferKind::Parameter:
          memory.weights += b.bytes();
          break;
        case plan::BufferKind::Gradient:
          memory.gradients += b.bytes();
          break;
        case plan::BufferKind::OptimizerState:
          memory.optimizer_state += b.bytes();
          break;
        case plan::BufferKind::Activation:
          memory.activations += b.bytes();
          break;
        case plan::BufferKind::Workspace:
        case plan::BufferKind::Data:
        case plan::BufferKind::Cache:
          break;
      }
    }
    memory.activations_on_wafer = memory.activations;
    memory.wafer_capacity = Bytes((m_.sram.bytes.value - m_.sram.reserved.value).value *
                                  static_cast<double>(machine::usable_pes(m_)));
  }

  void add_parts() {
    parts_.kernel_pes = pipeline_.kernel_pes();
    parts_.fifo_pes = pipeline_.fifo_pes();
    parts_.wafer_pes = pipeline_.width * pipeline_.height;
    parts_.region_pes = pipeline_.region;
    parts_.depth = pipeline_.depth;
    parts_.wire_length = pipeline_.wire_length;
    parts_.pe_capacity = m_.sram.bytes.value;
    parts_.pe_used =
        m_.sram.reserved.value + Bytes(most_weights() * bytes_of_weight(plan_.precision));
    if (parts_.fifo_pes > 0) {
      parts_.pe_used = std::max(parts_.pe_used, m_.pipelined.fifo_bytes.value);
    }
    for (const PipelineKernel& k : pipeline_.kernels) add_kernel(k);
    answer_.pipelined = std::move(parts_);
  }

  void add_kernel(const PipelineKernel& k) {
    const auto alike = std::find_if(
        parts_.kernels.begin(), parts_.kernels.end(),
        [&](const PipelinedKernels& of) { return of.layer == k.layer && of.name == k.name; });
    if (alike == parts_.kernels.end()) {
      parts_.kernels.push_back({.layer = k.layer,
                                .name = k.name,
                                .kind = std::string(plan::name_of(k.kind)),
                                .count = 1,
                                .pes = k.pes,
                                .weights_of_pe = k.weights_of_pe});
      return;
    }
    ++alike->count;
    alike->pes += k.pes;
  }

  void add_roofline() {
    answer_.roofline.peak = machine::peak_flops(m_, arithmetic(plan_.precision));
    answer_.roofline.attained = answer_.model_flops_per_second;
    const double tokens = static_cast<double>(plan_.batch * plan_.tokens_per_sample);
    answer_.paper_roofline.attained = FlopsPerSecond(plan_.parameters * answer_.tokens_per_second);
    answer_.paper_roofline.intensity = tokens / 4;  // f32 weights once, one FLOP a weight and token
  }

  // What a larger wafer of the same PEs would relieve is bound by its PEs: their arithmetic, or
  // their memory where each product's PEs hold all weights that they can.
  Bound bound() const {
    if (pipeline_.period <= pipeline_.shortest_period * (1 + 1e-6)) return Bound::Network;
    const double most = most_weights_of_pe(m_, plan_.precision);
    double full = 0, all = 0;
    for (const PipelineKernel& k : pipeline_.kernels) {
      all += static_cast<double>(k.pes);
      const bool holds = k.kind == Kind::Fifo || k.weights_of_pe > 0.99 * most;
      if (holds) full += static_cast<double>(k.pes);
    }
    return full > all / 2 ? Bound::Memory : Bound::Compute;
  }

  const plan::Plan& plan_;
  const Pipeline& pipeline_;
  const machine::Wafer& m_;
  PipelinedParts parts_;
  Answer answer_;
};

}  // namespace

// P1.
double most_weights_of_pe(const machine::Wafer& m, DType precision) {
  const Bytes room = m.sram.bytes.value - m.sram.reserved.value;
  return std::floor(room.value / bytes_of_weight(precision));
}

// P2: w / lanes + e sqrt(w) = k, solved for w.
double weights_of_pe(const PipelineKernel& product, Cycles period, const machine::Wafer& m,
                     DType precision) {
  const double for_losses =
      product.predicts ? product.rows * m.pipelined.prediction.value.value : 0;
  const double k = (period.value - for_losses) / (Passes * product.rows);
  if (k <= 0) return 0;
  const double l = lanes(m, precision), e = m.pipelined.edge.value.value;
  const double root = l / 2 * (std::sqrt(e * e + 4 * k / l) - e);
  const double of_pe = root * root;
  return of_pe < 1 ? 0 : std::min(of_pe, most_weights_of_pe(m, precision));
}

double pipelined_pes(const PipelineKernel& k, Cycles period, const machine::Wafer& m,
                     DType precision) {
  const machine::Pipelined& c = m.pipelined;
  const double half = size_in_bytes(precision) <= 2 ? 1 : 2;  // f32 takes twice the cycles
  const auto elements = [&](Cycles each) {
    return pes_of_elements(k.elements, each * half, period);
  };
  const double adapters = pes_of_elements(k.moved, c.adapter.value * half, period);
  switch (k.kind) {
    case Kind::Product:
      return pes_of_weights(k.inner * k.columns, weights_of_pe(k, period, m, precision)) + adapters;
    case Kind::Attention: {
      const double slower = m.lanes.f16_multiply_add.value / lanes(m, precision);
      const double flops = Passes * k.flops.value * slower;
      return std::ceil(flops / (c.attention_flops.value * period.value)) + adapters;
    }
    case Kind::Nonlinear:
      return elements(c.nonlinear.value);
    case Kind::Norm:
      return elements(c.norm.value);
    case Kind::Sum:
      return elements(c.sum.value);
    case Kind::Loss:
      return elements(c.loss.value);
    case Kind::Table:
      return pes_of_weights(k.elements, most_weights_of_pe(m, precision));
    case Kind::Fifo:
      return std::ceil(k.elements * size_in_bytes(precision) / c.fifo_bytes.value.value);
  }
  throw InternalError("no such kernel");
}

Answer pipelined(const plan::Plan& plan, const machine::Wafer& machine) {
  WAFER_CHECK(plan.pipeline.has_value());
  return Coster(plan, machine).run();
}

}  // namespace wafer::estimate
