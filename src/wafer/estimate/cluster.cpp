#include "wafer/estimate/cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "wafer/base/error.h"

namespace wafer::estimate {
namespace {

using plan::BufferKind;
using plan::Collective;
using plan::Plan;
using plan::Stage;

/// Where the plan's tree stands: how often, on which stage, in which layer.
struct Place {
  double times = 1;
  bool in_micro_batch = false;
  Stage stage = Stage::Every;
  LayerCost* layer = nullptr;
};

/// Sums the parts of one stage kind.
struct StageTime {
  Seconds products, attention, passes, exchange;
  Seconds total() const { return products + attention + passes + exchange; }
  StageTime& operator+=(const StageTime& o) {
    products += o.products;
    attention += o.attention;
    passes += o.passes;
    exchange += o.exchange;
    return *this;
  }
};

class Coster {
 public:
  Coster(const Plan& plan, const machine::GpuCluster& machine)
      : plan_(plan), m_(machine), prices_(machine, plan) {
    walk(plan.body, {});
  }

  /// G9.
  Seconds step() {
    const plan::Parallelism& p = plan_.parallel;
    StageTime micro = stages_[Stage::Every];
    if (p.pipeline > 1) {
      StageTime& first = stages_[Stage::First];
      StageTime& last = stages_[Stage::Last];
      micro += last.total() > first.total() ? last : first;
    } else {
      micro += stages_[Stage::First];
      micro += stages_[Stage::Last];
    }
    const Seconds busy = (micro.total() + send_ + shards_per_micro_batch_) * plan_.micro_batches;
    const Seconds filled = stages_[Stage::Every].total() + send_;
    const auto stages = static_cast<double>(p.pipeline);
    parts_.bubble = filled * ((stages - 1) / static_cast<double>(p.interleaving));
    parts_.products = micro.products * plan_.micro_batches;
    parts_.attention = micro.attention * plan_.micro_batches;
    parts_.passes = micro.passes * plan_.micro_batches;
    parts_.tensor_exchange = micro.exchange * plan_.micro_batches;
    parts_.stage_exchange = send_ * plan_.micro_batches;
    parts_.shard_exchange += shards_per_micro_batch_ * plan_.micro_batches;
    parts_.straggler = straggler();
    return (busy + parts_.bubble) * parts_.straggler + shards_per_step_ + parts_.replica_exchange +
           parts_.update;
  }

  StageSeconds stages() {
    return {stages_[Stage::Every].total(), stages_[Stage::First].total(),
            stages_[Stage::Last].total()};
  }

  Answer run() {
    Answer a;
    a.step = step();
    parts_.shard_exchange += shards_per_step_;
    const auto samples = static_cast<double>(plan_.batch);
    const auto gpus = static_cast<double>(plan_.systems);
    a.samples_per_second = samples / a.step.value;
    a.tokens_per_second = a.samples_per_second * static_cast<double>(plan_.tokens_per_sample);
    a.model_flops_per_step = plan_.model_flops_per_sample * samples;
    a.model_flops_per_second = rate_of(a.model_flops_per_step, a.step);
    a.utilization = a.model_flops_per_second / (peak(m_, plan_) * gpus);
    parts_.parallel = plan_.parallel;
    parts_.hardware_flops_per_gpu =
        rate_of(plan_.hardware_flops_per_sample * (samples / gpus), a.step);
    set_memory(a.memory);
    a.bound = bound();
    set_energy(a, gpus);
    a.roofline.peak = peak(m_, plan_) * gpus;
    a.roofline.attained = a.model_flops_per_second;
    set_intensity(a.roofline);
    a.cluster = parts_;
    a.layers = std::move(layers_);
    return a;
  }

 private:
  void walk(const std::vector<plan::Node>& nodes, const Place& at) {
    for (const plan::Node& node : nodes) {
      std::visit([&](const auto& n) { visit(n, at); }, node);
    }
  }

  void visit(const plan::Repeat& n, Place at) {
    at.times *= n.over == plan::Repeat::Over::Layers ? n.times : 1;
    at.in_micro_batch = at.in_micro_batch || n.over == plan::Repeat::Over::MicroBatches;
    walk(n.body, at);
  }

  void visit(const plan::Layer& n, Place at) {
    layers_.push_back({.name = n.name,
                       .phase = n.phase,
                       .times = at.times * (at.in_micro_batch ? plan_.micro_batches : 1)});
    at.stage = n.stage;
    LayerCost cost;
    at.layer = &cost;
    walk(n.body, at);
    LayerCost& layer = layers_.back();
    layer.compute = cost.compute * layer.times;
    layer.activations = cost.activations * layer.times;
    layer.exchange = cost.exchange * layer.times;
    layer.flops = cost.flops * layer.times;
    layer.bytes = cost.bytes * layer.times;
    layer.memory_bytes = cost.memory_bytes * layer.times;
    layer.seconds = layer.compute + layer.activations + layer.exchange;
    const Seconds most = std::max({layer.compute, layer.activations, layer.exchange});
    layer.bound = most == layer.compute       ? Bound::Compute
                  : most == layer.activations ? Bound::Memory
                                              : Bound::Network;
  }

  void visit(const plan::Launch& n, const Place& at) {
    const plan::Kernel& kernel = plan_.kernel(n.kernel);
    const ClusterPrices::KernelTime time = prices_.of(kernel);
    stages_[at.stage] +=
        {time.products * at.times, time.attention * at.times, time.passes * at.times, {}};
    if (at.layer == nullptr) return;
    at.layer->compute += time.products + time.attention;
    at.layer->activations += time.passes;
    at.layer->memory_bytes += prices_.traffic(kernel);
    if (n.recompute) return;
    for (const plan::Product& p : kernel.products) at.layer->flops += p.flops();
    if (kernel.products.empty()) at.layer->flops += kernel.work.local_product;
  }

  void visit(const Collective& n, const Place& at) {
    Seconds time = prices_.of(n) * n.times;
    for (plan::KernelId id : n.beside) time -= prices_.of(plan_.kernel(id)).total();
    time = std::max(time, Seconds(0));
    if (at.layer != nullptr) {
      stages_[at.stage].exchange += time * at.times;
      at.layer->exchange += time;
      at.layer->bytes += n.bytes * n.times;
    } else if (n.what == plan::BetweenStages) {
      send_ += time;
    } else if (n.what == plan::OfShards) {
      (at.in_micro_batch ? shards_per_micro_batch_ : shards_per_step_) += time;
    } else {
      parts_.replica_exchange += time;
    }
  }

  void visit(const plan::Update& n, const Place&) {
    parts_.update += prices_.of(plan_.kernel(n.kernel)).passes;
    update_bytes_ += prices_.traffic(plan_.kernel(n.kernel));
  }
  void visit(const plan::Barrier&, const Place&) {}
  void visit(const plan::Move&, const Place&) {
    throw InternalError("a cluster plan moves nothing over a wafer's edge");
  }

  /// G10. Unpadded samples differ in length; all replicas wait for the one with most tokens.
  double straggler() const {
    const auto replicas = static_cast<double>(plan_.parallel.data);
    const double samples = static_cast<double>(plan_.batch) / replicas;
    return 1 + plan_.length_variation / std::sqrt(samples) * expected_largest(replicas);
  }

  void set_memory(Memory& memory) {
    for (const plan::Buffer& b : plan_.buffers) {
      parts_.gpu_used += b.bytes();
      if (b.kind == BufferKind::Parameter) memory.weights += b.bytes();
      if (b.kind == BufferKind::Gradient) memory.gradients += b.bytes();
      if (b.kind == BufferKind::OptimizerState) memory.optimizer_state += b.bytes();
      if (b.kind == BufferKind::Activation) memory.activations += b.bytes();
      if (b.kind == BufferKind::Workspace) memory.workspace += b.bytes();
    }
    parts_.gpu_capacity = m_.gpu.memory.value;
  }

  /// FLOPs of the model a byte of a GPU's memory; what is computed again moves bytes only.
  void set_intensity(Roofline& roofline) const {
    Flops flops;
    Bytes bytes = update_bytes_;
    for (const LayerCost& layer : layers_) flops += layer.flops, bytes += layer.memory_bytes;
    if (bytes.value <= 0) return;
    roofline.on_wafer_intensity = flops.value / bytes.value;
    const FlopsPerSecond fed(roofline.on_wafer_intensity * m_.gpu.memory_bandwidth.value.value *
                             static_cast<double>(plan_.systems));
    roofline.on_wafer_roof = std::min(roofline.peak, fed);
  }

  Bound bound() const {
    const ClusterParts& p = parts_;
    const std::pair<double, Bound> parts[] = {
        {(p.products + p.attention).value, Bound::Compute},
        {(p.passes + p.update).value, Bound::Memory},
        {(p.tensor_exchange + p.shard_exchange + p.stage_exchange + p.replica_exchange).value,
         Bound::Network},
        {p.bubble.value, Bound::LayerOverhead}};
    return std::max_element(std::begin(parts), std::end(parts),
                            [](const auto& a, const auto& b) { return a.first < b.first; })
        ->second;
  }

  /// G11. Idle power all the time, the rest in the measure of executed FLOPs to the sustained peak.
  void set_energy(Answer& a, double gpus) const {
    const FlopsPerSecond most = peak(m_, plan_) * m_.gpu.sustained_clock.value;
    const double busy = std::min(1.0, parts_.hardware_flops_per_gpu / most);
    const double idle = m_.node.idle_share.value;
    const Watts gpu = m_.node.peak_power.value / static_cast<double>(m_.node.gpus.value);
    a.energy_per_step = energy_of(gpu * ((idle + (1 - idle) * busy) * gpus), a.step);
  }

  const Plan& plan_;
  const machine::GpuCluster& m_;
  const ClusterPrices prices_;
  std::map<Stage, StageTime> stages_;
  Bytes update_bytes_;
  Seconds send_;
  Seconds shards_per_micro_batch_, shards_per_step_;
  ClusterParts parts_;
  std::vector<LayerCost> layers_;
};

}  // namespace

Answer cluster(const Plan& plan, const machine::GpuCluster& machine) {
  return Coster(plan, machine).run();
}

Seconds cluster_step(const Plan& plan, const machine::GpuCluster& machine) {
  return Coster(plan, machine).step();
}

StageSeconds cluster_stages(const Plan& plan, const machine::GpuCluster& machine) {
  return Coster(plan, machine).stages();
}

double expected_largest(double n) {
  if (n <= 1) return 0;
  const double wanted = (n - 0.375) / (n + 0.25);
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const double below = 1 - 0.5 * std::erfc(middle / std::sqrt(2.0));
    (below < wanted ? low : high) = middle;
  }
  return low;
}

}  // namespace wafer::estimate
