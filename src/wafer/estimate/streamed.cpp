#include "wafer/estimate/streamed.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "wafer/base/error.h"
#include "wafer/machine/figures.h"

// The rules (W1, W2, ...) are numbered in docs/spec/streamed-cost.md.

namespace wafer::estimate {
namespace {

using plan::BufferKind;
using plan::Move;
using plan::Plan;

constexpr double BytesOf16Bits = 2;

/// W1. Multiply-adds that a PE can feed: its lanes, or what its memory ports bear. A streamed
/// weight meets a vector of activations: two vectors are read, one is written.
double fed_multiply_adds(const machine::Wafer& m, DType precision) {
  const bool wide = size_in_bytes(precision) > 2;
  const double lanes =
      multiply_adds_per_cycle(m, wide ? machine::Arithmetic::F32 : machine::Arithmetic::F16);
  const double bytes = 3.0 * std::max<double>(BytesOf16Bits, size_in_bytes(precision));
  const double ports =
      (m.sram.read_bytes_per_cycle.value + m.sram.write_bytes_per_cycle.value) / bytes;
  return std::min(lanes, ports);
}

struct Rates {
  FlopsPerSecond peak;            ///< lanes x clock x PEs x 2
  FlopsPerSecond weight_product;  ///< W2
  FlopsPerSecond local_product;   ///< W3
  double scores_per_second = 0;   ///< W4
};

Rates rates_of(const machine::Wafer& m, DType precision) {
  const double pe_cycles = m.clock.value.value * static_cast<double>(usable_pes(m));
  const bool wide = size_in_bytes(precision) > 2;
  const auto arithmetic = wide ? machine::Arithmetic::F32 : machine::Arithmetic::F16;
  const FlopsPerSecond fed(2 * fed_multiply_adds(m, precision) * pe_cycles);
  const FlopsPerSecond weight = fed * m.fitted.product_efficiency.value;
  return {
      .peak = machine::peak_flops(m, arithmetic),
      .weight_product = weight,
      .local_product = weight * m.streaming.local_product_ratio.value,
      .scores_per_second = pe_cycles / (m.fitted.score_cycles.value.value * (wide ? 2.0 : 1.0))};
}

class Coster {
 public:
  Coster(const Plan& plan, const machine::Wafer& m)
      : plan_(plan), m_(m), rates_(rates_of(m, plan.precision)) {}

  Answer run() {
    walk(plan_.body, 1, nullptr);
    for (LayerCost& layer : answer_.layers) settle(layer);
    add_step_parts();
    add_rates();
    add_memory();
    add_rooflines();
    add_energy();
    answer_.bound = bound_of_step();
    return std::move(answer_);
  }

 private:
  void walk(const std::vector<plan::Node>& nodes, double times, LayerCost* layer) {
    for (const plan::Node& node : nodes) {
      std::visit([&](const auto& n) { visit(n, times, layer); }, node);
    }
  }

  void visit(const plan::Repeat& n, double times, LayerCost* layer) {
    walk(n.body, times * n.times, layer);
  }

  void visit(const plan::Layer& n, double times, LayerCost*) {
    LayerCost cost{.name = n.name, .phase = n.phase, .times = times};
    cost.overhead = m_.fitted.pass_time.value * (n.passes * times);  // W5
    walk(n.body, times, &cost);
    answer_.layers.push_back(cost);
  }

  void visit(const plan::Launch& n, double times, LayerCost* layer) {
    WAFER_CHECK(layer != nullptr, "a launch outside layers");
    const plan::Kernel& k = plan_.kernel(n.kernel);
    const plan::Work& w = k.work;
    const Seconds seconds =
        time_of(w.weight_product * sparse_share(k.sparse), rates_.weight_product) +
        time_of(w.local_product, rates_.local_product) +
        Seconds(w.scores / rates_.scores_per_second);
    layer->compute += seconds * times;
    const Flops executed = w.weight_product * plan::density_of(k.sparse) + w.local_product;
    layer->executed += executed * times;
    sram_traffic_ += (w.read + w.written) * times;
    if (n.recompute) return;
    layer->flops += (w.weight_product + w.local_product) * times;
    layer->weight_flops += w.weight_product * times;
    layer->zero_flops += w.weight_product * ((1 - plan::density_of(k.sparse)) * times);
  }

  /// W6. A weight that is not zero costs one cycle and its vector, tokens of the micro-batch over
  /// the wafer's columns; one that is zero costs nothing.
  double sparse_share(const plan::SparseParts& parts) const {
    if (parts.empty()) return 1;
    const double tokens = static_cast<double>(plan_.micro_batch * plan_.tokens_per_sample);
    const double vector = std::max(1.0, tokens / static_cast<double>(m_.usable.width.value));
    const double lanes =
        fed_multiply_adds(m_, plan_.precision) * m_.fitted.product_efficiency.value;
    double share = 0;
    for (const plan::SparsePart& p : parts) {
      const bool dense = p.sparsity.dense();
      share += p.share * (dense ? 1 : std::min(1.0, p.sparsity.density() * (1 + lanes / vector)));
    }
    return share;
  }

  void visit(const Move& n, double times, LayerCost* layer) {
    WAFER_CHECK(layer != nullptr, "a move outside layers");
    const Bytes bytes = n.bytes * times;
    layer->bytes += bytes;
    switch (n.kind) {
      case Move::Kind::WeightIn:
        layer->weights_in += time_of(bytes, m_.io.in.value);
        break;
      case Move::Kind::GradientOut:
        layer->gradients_out += time_of(bytes, m_.io.out.value);
        break;
      case Move::Kind::DataIn:
      case Move::Kind::ActivationIn:
        layer->activations += time_of(bytes, servers(m_.io.in.value));
        break;
      case Move::Kind::ActivationOut:
        layer->activations += time_of(bytes, servers(m_.io.out.value));
        break;
    }
  }

  /// The slower of the wafer's edge and its activation servers.
  BytesPerSecond servers(BytesPerSecond edge) const {
    const auto& s = m_.activation_store;
    return std::min(edge, s.node_bandwidth.value * static_cast<double>(s.nodes.value));
  }

  void visit(const plan::Update& n, double, LayerCost*) {
    const plan::Work& w = plan_.kernel(n.kernel).work;
    update_ += w.read + w.written;
  }

  void visit(const plan::Barrier&, double, LayerCost*) {}
  void visit(const plan::Collective& n, double, LayerCost*) {
    throw InternalError("a streamed plan has no collective of " + n.what);
  }

  /// W7. The parts of a layer add: measurements show no overlap of link and arithmetic.
  static void settle(LayerCost& layer) {
    layer.seconds =
        layer.compute + layer.weights_in + layer.gradients_out + layer.activations + layer.overhead;
    const std::pair<Seconds, Bound> parts[] = {{layer.compute, Bound::Compute},
                                               {layer.weights_in, Bound::Weights},
                                               {layer.gradients_out, Bound::Gradients},
                                               {layer.activations, Bound::Memory},
                                               {layer.overhead, Bound::LayerOverhead}};
    layer.bound = std::max_element(std::begin(parts), std::end(parts), [](auto& a, auto& b) {
                    return a.first < b.first;
                  })->second;
  }

  void add_step_parts() {
    Seconds step, last_backward;
    for (const LayerCost& layer : answer_.layers) {
      step += layer.seconds;
      if (layer.phase == ir::Phase::Backward) last_backward += layer.seconds / plan_.micro_batches;
    }
    if (plan_.training) {
      add_update(last_backward);
      add_tree();
      answer_.hand_over = m_.fitted.step_time.value;  // W10
      step += answer_.hand_over + answer_.store_update + answer_.reduce_tree;
    } else {
      answer_.host_latency = m_.host.latency.value;  // W12
    }
    answer_.step = step;
  }

  /// W8. The store updates a layer when its last gradient has come, beside the backward pass of
  /// the layers before it; what it takes longer is seen.
  void add_update(Seconds last_backward) {
    const BytesPerSecond memory =
        m_.store.node_memory_bandwidth.value * static_cast<double>(m_.store.nodes.value);
    answer_.store_update = std::max(Seconds(0), time_of(update_, memory) - last_backward);
  }

  /// W9. Several systems: weights pass down the tree and gradients up at line rate; its levels add
  /// their latency to the first and to the last of the step.
  void add_tree() {
    if (plan_.systems == 1) return;
    const double levels =
        std::ceil(std::log(static_cast<double>(plan_.systems)) /
                      std::log(static_cast<double>(m_.reduce_tree.fan_out.value)) -
                  1e-9);
    answer_.reduce_tree = m_.reduce_tree.level_latency.value * (2 * levels);
  }

  void add_rates() {
    const double samples = static_cast<double>(plan_.batch);
    answer_.samples_per_second = samples / answer_.step.value;
    answer_.tokens_per_second =
        answer_.samples_per_second * static_cast<double>(plan_.tokens_per_sample);
    answer_.model_flops_per_step = plan_.model_flops_per_sample * samples;
    answer_.model_flops_per_second = rate_of(answer_.model_flops_per_step, answer_.step);
    answer_.utilization =
        answer_.model_flops_per_second / (rates_.peak * static_cast<double>(plan_.systems));
  }

  void add_memory() {
    Memory& memory = answer_.memory;
    for (const plan::Buffer& b : plan_.buffers) {
      switch (b.kind) {
        case BufferKind::Parameter:
          memory.weights += b.bytes();
          break;
        case BufferKind::OptimizerState:
          memory.optimizer_state += b.bytes();
          break;
        case BufferKind::Activation:
          memory.activations += b.bytes();
          break;
        case BufferKind::Workspace:
          memory.workspace = std::max(memory.workspace, b.bytes());
          break;
        case BufferKind::Gradient:
        case BufferKind::Data:
        case BufferKind::Cache:
          break;
      }
    }
    memory.activations_on_wafer = plan_.spilled ? Bytes(0) : memory.activations;
    memory.activations_spilled = memory.activations - memory.activations_on_wafer;
    memory.wafer_capacity = Bytes((m_.sram.bytes.value - m_.sram.reserved.value).value *
                                  static_cast<double>(usable_pes(m_)));
    memory.store_total = memory.weights + memory.optimizer_state;
    memory.store_capacity = machine::store_bytes(m_.store);
  }

  void add_rooflines() {
    Bytes edge;
    for (const LayerCost& layer : answer_.layers) edge += layer.bytes;
    const double systems = static_cast<double>(plan_.systems);
    const Flops flops = answer_.model_flops_per_step / systems;
    Roofline& r = answer_.roofline;
    r.peak = rates_.peak * systems;
    r.on_wafer_intensity = flops.value / sram_traffic_.value;
    r.off_wafer_intensity = flops.value / edge.value;
    const double sram = machine::sram_bandwidth(m_).value;
    const double link = machine::edge_bandwidth(m_).value;
    r.on_wafer_roof = std::min(r.peak, FlopsPerSecond(r.on_wafer_intensity * sram * systems));
    r.off_wafer_roof = std::min(r.peak, FlopsPerSecond(r.off_wafer_intensity * link * systems));
    r.attained = answer_.model_flops_per_second;
    const double tokens = static_cast<double>(plan_.batch * plan_.tokens_per_sample);
    answer_.paper_roofline.attained = FlopsPerSecond(plan_.parameters * answer_.tokens_per_second);
    answer_.paper_roofline.intensity = tokens / 4;  // f32 weights once, one FLOP a weight and token
  }

  /// W11. Idle power all the time, the rest in the measure in which the lanes work.
  Joules energy(Flops executed, Seconds time) const {
    const double busy = std::min(1.0, executed.value / (rates_.peak.value * time.value));
    const double idle = m_.power.idle_share.value;
    const Watts power = m_.power.peak.value * (idle + (1 - idle) * busy);
    return energy_of(power, time) * static_cast<double>(plan_.systems);
  }

  void add_energy() {
    Flops executed;
    for (LayerCost& layer : answer_.layers) {
      if (layer.seconds.value > 0) layer.energy = energy(layer.executed, layer.seconds);
      executed += layer.executed;
    }
    answer_.energy_per_step = energy(executed, answer_.step);
  }

  Bound bound_of_step() const {
    std::map<Bound, double> parts;
    for (const LayerCost& layer : answer_.layers) {
      parts[Bound::Compute] += layer.compute.value;
      parts[Bound::Weights] += layer.weights_in.value;
      parts[Bound::Gradients] += layer.gradients_out.value;
      parts[Bound::Memory] += layer.activations.value;
      parts[Bound::LayerOverhead] += layer.overhead.value;
    }
    parts[Bound::LayerOverhead] += answer_.hand_over.value;
    parts[Bound::Network] += answer_.reduce_tree.value;
    parts[Bound::Gradients] += answer_.store_update.value;
    return std::max_element(parts.begin(), parts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  const Plan& plan_;
  const machine::Wafer& m_;
  const Rates rates_;
  Bytes sram_traffic_;  ///< of one system in a step
  Bytes update_;        ///< memory traffic of the optimizer at the store in a step
  Answer answer_;
};

}  // namespace

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::Compute:
      return "compute";
    case Bound::Weights:
      return "weights";
    case Bound::Gradients:
      return "gradients";
    case Bound::LayerOverhead:
      return "layer_overhead";
    case Bound::Memory:
      return "memory";
    case Bound::Network:
      return "network";
  }
  throw InternalError("no such bound");
}

Answer streamed(const Plan& plan, const machine::Wafer& machine) {
  return Coster(plan, machine).run();
}

}  // namespace wafer::estimate
