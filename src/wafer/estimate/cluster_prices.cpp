#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/estimate/cluster.h"

namespace wafer::estimate {
namespace {

using plan::Collective;

/// Tiles of a result that a multiprocessor works on at a time.
constexpr double SmallTile = 128.0 * 128.0;
constexpr double LargeTile = 128.0 * 256.0;

double doubled(int64_t n) { return static_cast<double>(n); }

/// Every member of a ring of n passes on (n - 1) / n of the whole.
double ring_share(double n) { return (n - 1) / n; }

}  // namespace

FlopsPerSecond peak(const machine::GpuCluster& machine, const plan::Plan& plan) {
  if (plan.precision == DType::Bf16) return machine.gpu.bf16.value;
  if (size_in_bytes(plan.precision) <= 2) return machine.gpu.f16.value;
  return plan.tf32 ? machine.gpu.tf32.value : machine.gpu.f32.value;
}

ClusterPrices::ClusterPrices(const machine::GpuCluster& machine, const plan::Plan& plan)
    : m_(machine),
      training_(plan.training),
      element_bytes_(size_in_bytes(plan.precision)),
      rate_(peak(machine, plan) * machine.gpu.sustained_clock.value *
            machine.fitted.product_efficiency.value),
      memory_(machine.gpu.memory_bandwidth.value * machine.micro.memory_share.value),
      link_(machine.node.link.value * machine.micro.link_share.value),
      nic_(machine.node.nic.value * machine.fitted.nic_share.value) {}

Seconds ClusterPrices::of(const plan::Product& p) const {
  const double cells = p.batch * p.m * p.n;
  const double multiprocessors = doubled(m_.gpu.multiprocessors.value);
  const double filled = std::min(1.0, p.m / 128) * std::min(1.0, p.n / 128);
  const double idle = 0.5 * multiprocessors * SmallTile * filled / cells;
  const double waves = cells / (multiprocessors * LargeTile) + 0.5 * filled;
  const Seconds compute =
      time_of(p.flops() * (1 + idle), rate_) + m_.fitted.wave_time.value * waves;
  return std::max(compute, time_of(operands(p), memory_)) + time_of(result(p), memory_) +
         m_.micro.launch.value;
}

Bytes ClusterPrices::operands(const plan::Product& p) const {
  return Bytes(p.batch * (p.m + p.n) * p.k * element_bytes_);
}

Bytes ClusterPrices::result(const plan::Product& p) const {
  return Bytes(p.batch * p.m * p.n * element_bytes_);
}

Bytes ClusterPrices::traffic(const plan::Kernel& k) const {
  Bytes all = k.work.read + k.work.written;
  for (const plan::Product& p : k.products) all += operands(p) + result(p);
  return all;
}

Seconds ClusterPrices::pass(Bytes bytes, double launches) const {
  return time_of(bytes, memory_) + m_.micro.launch.value * launches;
}

ClusterPrices::KernelTime ClusterPrices::of(const plan::Kernel& k) const {
  KernelTime time;
  const bool attention = k.work.local_product.value > 0;
  for (const plan::Product& p : k.products) (attention ? time.attention : time.products) += of(p);
  const Seconds passes = pass(k.work.read + k.work.written, k.launches);
  if (!attention) {
    time.passes = passes;
    return time;
  }
  time.attention += passes;
  if (k.products.empty()) {
    time.attention += time_of(k.work.local_product, rate_ * m_.fitted.attention_efficiency.value);
  }
  return time;
}

Seconds ClusterPrices::serving(const Collective& c) const {
  const double n = doubled(c.group);
  const double share = 1 / doubled(m_.node.gpus.value);
  const bool inside = c.in_node >= c.group;
  const Seconds step =
      inside ? m_.micro.link_step.value
             : m_.micro.link_step.value * (1 - share) + m_.fitted.nic_step.value * share;
  const BytesPerSecond bus = std::min(link_, m_.node.nic.value * m_.fitted.serving_nic_share.value);
  return 2 * (ring_share(n) * time_of(c.bytes, bus) + step * (n - 1));
}

Seconds ClusterPrices::of(const Collective& c) const {
  using Kind = Collective::Kind;
  if (!training_) return serving(c);
  // One stream, that waits for no ring.
  if (c.kind == Kind::SendReceive) {
    return time_of(c.bytes, m_.node.nic.value * m_.micro.link_share.value) +
           m_.fitted.nic_step.value;
  }
  const double n = doubled(c.group);
  const double inside = doubled(c.in_node);
  const double nodes = n / inside;
  const double passes = c.kind == Kind::AllReduce ? 2 : 1;
  if (nodes <= 1) {
    return passes * (ring_share(n) * time_of(c.bytes, link_) + m_.micro.link_step.value * (n - 1));
  }
  if (c.kind != Kind::AllReduce) {
    return ring_share(n) * (time_of(c.bytes, link_) + time_of(c.bytes / inside, nic_)) +
           m_.fitted.nic_step.value * (n - 1);
  }
  return 2 *
         (ring_share(inside) * time_of(c.bytes, link_) + m_.micro.link_step.value * (inside - 1) +
          ring_share(nodes) * time_of(c.bytes / inside, nic_) +
          m_.fitted.nic_step.value * std::ceil(std::log2(nodes)));
}

}  // namespace wafer::estimate
