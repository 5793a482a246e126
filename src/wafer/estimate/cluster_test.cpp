// Rules G1 to G10 of docs/spec/cluster-cost.md, with a GPU of round numbers.
#include "wafer/estimate/cluster.h"

#include <gtest/gtest.h>

namespace wafer::estimate {
namespace {

using plan::Collective;
using Kind = Collective::Kind;

// 1 TFLOP/s, 1 GB/s of memory, 1 GB/s links, 0.5 GB/s network, all at full share; 8 GPUs a node.
machine::GpuCluster round_cluster() {
  machine::GpuCluster c;
  c.gpu.f16.value = FlopsPerSecond(1e12);
  c.gpu.bf16.value = FlopsPerSecond(0.9e12);
  c.gpu.tf32.value = FlopsPerSecond(0.5e12);
  c.gpu.f32.value = FlopsPerSecond(0.1e12);
  c.gpu.sustained_clock.value = 1;
  c.gpu.multiprocessors.value = 1;
  c.gpu.memory.value = Bytes(1e9);
  c.gpu.memory_bandwidth.value = BytesPerSecond(1e9);
  c.node.gpus.value = 8;
  c.node.link.value = BytesPerSecond(1e9);
  c.node.nic.value = BytesPerSecond(0.5e9);
  c.micro.memory_share.value = c.micro.link_share.value = 1;
  c.micro.link_step.value = Seconds(1e-3);
  c.fitted.product_efficiency.value = c.fitted.attention_efficiency.value = 1;
  c.fitted.nic_share.value = c.fitted.serving_nic_share.value = 1;
  c.fitted.nic_step.value = Seconds(2e-3);
  return c;
}

TEST(ClusterPrices, take_the_peak_of_the_precision) {
  plan::Plan plan;
  const machine::GpuCluster c = round_cluster();
  EXPECT_EQ(peak(c, plan), FlopsPerSecond(1e12));
  plan.precision = DType::Bf16;
  EXPECT_EQ(peak(c, plan), FlopsPerSecond(0.9e12));
  plan.precision = DType::F32;
  EXPECT_EQ(peak(c, plan), FlopsPerSecond(0.1e12));
  plan.tf32 = true;
  EXPECT_EQ(peak(c, plan), FlopsPerSecond(0.5e12));
}

TEST(ClusterPrices, charge_half_a_wave_of_small_tiles_and_each_wave_of_large_ones) {
  machine::GpuCluster c = round_cluster();
  c.fitted.wave_time.value = Seconds(10);
  c.gpu.memory_bandwidth.value = BytesPerSecond(1e30);
  const ClusterPrices prices(c, plan::Plan());
  // [256, 1e6] x [1e6, 128]: 2 x 256 x 128 x 1e6 = 65.536e9 FLOP at 1e12 /s = 65.536 ms; the
  // idle half wave is 0.5 x 128 x 128 / (256 x 128) = 1/4 of it; 1 wave of 128 x 256 and a half.
  EXPECT_NEAR(prices.of(plan::Product{256, 128, 1e6, 1}).value, 0.065536 * 1.25 + 15, 1e-9);
}

TEST(ClusterPrices, wait_for_operands_where_they_take_longer_than_the_arithmetic) {
  const machine::GpuCluster c = round_cluster();
  const ClusterPrices prices(c, plan::Plan());
  // [1, 1000] x [1000, 1000] in f16: (1 + 1000) x 1000 x 2 bytes in, 1000 x 2 out, at 1 GB/s.
  EXPECT_NEAR(prices.of(plan::Product{1, 1000, 1000, 1}).value, (2.002e6 + 2000) / 1e9, 1e-12);
}

TEST(ClusterPrices, send_each_tensor_twice_around_a_ring_in_a_node) {
  const machine::GpuCluster c = round_cluster();
  const ClusterPrices prices(c, plan::Plan());
  // 2 x (3/4 x 1 s + 3 steps of 1 ms); a reduce-scatter is half of it.
  const Collective all{.kind = Kind::AllReduce, .bytes = Bytes(1e9), .group = 4, .in_node = 4};
  EXPECT_NEAR(prices.of(all).value, 1.506, 1e-12);
  Collective half = all;
  half.kind = Kind::ReduceScatter;
  EXPECT_NEAR(prices.of(half).value, 0.753, 1e-12);
}

TEST(ClusterPrices, reduce_in_the_node_before_the_network) {
  const machine::GpuCluster c = round_cluster();
  const ClusterPrices prices(c, plan::Plan());
  // 4 nodes of 2: 2 x (1/2 x 1 s + 1 ms + 3/4 x 0.5e9 / 0.5e9 s + log2(4) x 2 ms) = 2.51 s.
  const Collective c8{.kind = Kind::AllReduce, .bytes = Bytes(1e9), .group = 8, .in_node = 2};
  EXPECT_NEAR(prices.of(c8).value, 2 * (0.5 + 0.001 + 0.75 + 0.004), 1e-12);
}

TEST(ClusterPrices, send_between_stages_at_the_share_that_a_link_gives) {
  machine::GpuCluster c = round_cluster();
  c.micro.link_share.value = 0.8;
  c.fitted.nic_share.value = 0.1;  // of rings between nodes alone
  const Collective send{.kind = Kind::SendReceive, .bytes = Bytes(1e9), .group = 2, .in_node = 1};
  EXPECT_NEAR(ClusterPrices(c, plan::Plan()).of(send).value, 1e9 / 0.4e9 + 0.002, 1e-12);
}

TEST(ExpectedLargest, is_that_of_tables_of_normal_order_statistics) {
  // Harter (1961): 1.4236 for 8, 2.8269 for 256 (Blom's estimate is within 1 %).
  EXPECT_NEAR(expected_largest(8), 1.4236, 0.01 * 1.4236);
  EXPECT_NEAR(expected_largest(256), 2.8269, 0.01 * 2.8269);
  EXPECT_EQ(expected_largest(1), 0);
}

// One micro-batch of a layer of 1 s (a pass of 1e9 bytes) a stage.
plan::Plan pipeline(int64_t stages, int64_t interleaving, double micro_batches) {
  plan::Plan plan;
  plan.target = plan::Target::Cluster;
  plan.systems = stages;
  plan.batch = static_cast<int64_t>(micro_batches);
  plan.micro_batches = micro_batches;
  plan.parallel.pipeline = stages;
  plan.parallel.interleaving = interleaving;
  plan.kernels.push_back({.name = "pass", .work = {}, .launches = 0});
  plan.kernels[0].work.read = Bytes(1e9);
  const plan::Launch launch{.kernel = plan::KernelId(0), .where = plan::Place::Gpu};
  plan::Repeat step{plan::Repeat::Over::MicroBatches, micro_batches, {}};
  step.body.push_back(plan::Layer{.name = "layer", .body = {launch}});
  plan.body.push_back(step);
  return plan;
}

TEST(ClusterStep, fills_and_drains_the_pipeline) {
  // 10 micro-batches of 1 s, and 3 more that the first one needs to come to the last of 4 stages;
  // with 3 runs of layers a stage, a third of these.
  const machine::GpuCluster c = round_cluster();
  EXPECT_NEAR(cluster_step(pipeline(4, 1, 10), c).value, 13, 1e-12);
  EXPECT_NEAR(cluster_step(pipeline(4, 3, 10), c).value, 11, 1e-12);
}

}  // namespace
}  // namespace wafer::estimate
