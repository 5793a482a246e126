#include "wafer/estimate/streamed.h"

#include <gtest/gtest.h>

#include "wafer/machine/load.h"

// Expected times are worked out by hand from the rules of docs/spec/streamed-cost.md on a WSE-2 of
// 745,500 PEs at 0.85 GHz with round constants.

namespace wafer::estimate {
namespace {

using plan::Buffer;
using plan::BufferId;
using plan::BufferKind;
using plan::Kernel;
using plan::KernelId;
using plan::Launch;
using plan::Layer;
using plan::Move;
using plan::Place;
using plan::Plan;
using plan::Repeat;

constexpr double PeCycles = 745500 * 0.85e9;  // a second
constexpr double Peak = 2 * 4 * PeCycles;     // FLOP/s in 16 bit

machine::Wafer round_wse2() {
  auto m = std::get<machine::Wafer>(machine::load("wse2"));
  m.fitted.product_efficiency.value = 0.5;
  m.fitted.pass_time.value = Seconds(1e-3);
  m.fitted.score_cycles.value = Cycles(100);
  m.fitted.step_time.value = Seconds(5e-3);
  m.streaming.local_product_ratio.value = 0.5;
  return m;
}

BufferId add_buffer(Plan& plan, const std::string& name, BufferKind kind, int64_t elements) {
  plan.buffers.push_back({.name = name,
                          .type = {DType::F16, {Dim(elements)}},
                          .kind = kind,
                          .home = kind == BufferKind::Activation ? Place::Wafer : Place::Store});
  return BufferId(plan.buffers.size() - 1);
}

KernelId add_kernel(Plan& plan, const plan::Work& work, plan::SparseParts sparse = {}) {
  plan.kernels.push_back(
      {.name = "k", .implementation = "test", .sparse = std::move(sparse), .work = work});
  return KernelId(plan.kernels.size() - 1);
}

/// One forward layer with these steps, `layers` times in each of `micro_batches`.
Plan inference(const std::vector<plan::Node>& steps, double layers = 1, double micro_batches = 1) {
  Plan plan;
  plan.training = false;
  plan.micro_batches = micro_batches;
  plan.batch = 8;
  Layer layer{.name = "layer", .phase = ir::Phase::Forward, .passes = 1, .body = steps};
  Repeat over_layers{Repeat::Over::Layers, layers, {layer}};
  plan.body.push_back(Repeat{Repeat::Over::MicroBatches, micro_batches, {over_layers}});
  return plan;
}

TEST(Streamed, W2_products_with_weights_run_at_their_share_of_peak) {
  Plan plan = inference({Launch{KernelId(0)}});
  add_kernel(plan, {.weight_product = Flops(Peak * 0.5 * 0.2)});
  EXPECT_NEAR(streamed(plan, round_wse2()).step.value, 0.2 + 1e-3, 1e-9);
}

TEST(Streamed, W1_wider_lanes_do_not_help_where_memory_ports_do_not_feed_them) {
  Plan plan = inference({Launch{KernelId(0)}});
  add_kernel(plan, {.weight_product = Flops(Peak * 0.5)});
  machine::Wafer m = round_wse2();
  m.lanes.f16_multiply_add.value = 8;
  EXPECT_NEAR(streamed(plan, m).step.value, 1 + 1e-3, 1e-9);
  m.sram.read_bytes_per_cycle.value = 32;
  m.sram.write_bytes_per_cycle.value = 16;
  EXPECT_NEAR(streamed(plan, m).step.value, 0.5 + 1e-3, 1e-9);
}

TEST(Streamed, W1_f32_has_one_lane_of_four) {
  Plan plan = inference({Launch{KernelId(0)}});
  plan.precision = DType::F32;
  add_kernel(plan, {.weight_product = Flops(Peak * 0.5)});
  EXPECT_NEAR(streamed(plan, round_wse2()).step.value, 4 + 1e-3, 1e-9);
}

TEST(Streamed, W3_and_W4_attention_pays_for_its_products_and_its_scores) {
  Plan plan = inference({Launch{KernelId(0)}});
  add_kernel(plan, {.local_product = Flops(Peak * 0.25 * 0.1), .scores = PeCycles / 100 * 0.3});
  EXPECT_NEAR(streamed(plan, round_wse2()).step.value, 0.1 + 0.3 + 1e-3, 1e-9);
}

TEST(Streamed, W5_and_W7_every_layer_pays_its_pass_and_all_parts_add) {
  Plan plan = inference(
      {Move{Move::Kind::WeightIn, BufferId(0), {}, Bytes(150e9 * 0.01)}, Launch{KernelId(0)}}, 3,
      2);
  add_buffer(plan, "w", BufferKind::Parameter, 10);
  add_kernel(plan, {.weight_product = Flops(Peak * 0.5 * 0.02)});
  const Answer answer = streamed(plan, round_wse2());
  EXPECT_NEAR(answer.step.value, 6 * (0.01 + 0.02 + 0.001), 1e-9);
  EXPECT_NEAR(answer.samples_per_second, 8 / 0.186, 1e-6);
  ASSERT_EQ(answer.layers.size(), 1u);
  EXPECT_EQ(answer.layers[0].times, 6);
  EXPECT_EQ(answer.layers[0].bound, Bound::Compute);
  EXPECT_NEAR(answer.layers[0].bytes.value, 6 * 1.5e9, 1);
}

TEST(Streamed, W6_sparse_weights_skip_work_but_pay_a_cycle_each) {
  Plan plan = inference({Launch{KernelId(0)}});
  plan.micro_batch = 750;
  plan.tokens_per_sample = 20;  // 20 tokens a column
  add_kernel(plan, {.weight_product = Flops(Peak * 0.5)}, {{1, plan::Sparsity(0.75)}});
  // 20 tokens take 20 / (4 x 0.5) = 10 cycles, one more for the weight: 11/10 of a quarter.
  EXPECT_NEAR(streamed(plan, round_wse2()).step.value, 0.25 * 1.1 + 1e-3, 1e-9);
}

TEST(Streamed, W8_the_store_hides_behind_the_last_backward_pass) {
  Plan plan = inference({Launch{KernelId(0)}});
  plan.training = true;
  add_kernel(plan, {});
  const KernelId update = add_kernel(plan, {.read = Bytes(1.2e12 * 0.3), .written = Bytes(0)});
  plan.body.push_back(plan::Update{update, {}});
  machine::Wafer m = round_wse2();
  m.store.nodes.value = 12;
  m.store.node_memory_bandwidth.value = BytesPerSecond(100e9);
  // No backward pass to hide behind: all of 0.3 s is seen, and 5 ms of the step (W10).
  EXPECT_NEAR(streamed(plan, m).step.value, 0.001 + 0.3 + 0.005, 1e-9);
}

TEST(Streamed, W9_systems_pay_two_latencies_a_level_of_the_tree) {
  Plan plan = inference({Launch{KernelId(0)}});
  plan.training = true;
  plan.systems = 16;
  plan.batch = 16;
  add_kernel(plan, {});
  machine::Wafer m = round_wse2();
  m.reduce_tree.fan_out.value = 4;
  m.reduce_tree.level_latency.value = Seconds(1e-3);
  const Answer answer = streamed(plan, m);
  EXPECT_NEAR(answer.reduce_tree.value, 4e-3, 1e-12);  // log4(16) = 2 levels, down and up
  EXPECT_NEAR(answer.step.value, 0.001 + 0.005 + 0.004, 1e-9);
}

TEST(Streamed, W11_energy_is_idle_power_and_the_rest_by_lanes_in_use) {
  Plan plan = inference({Launch{KernelId(0)}});
  add_kernel(plan, {.weight_product = Flops(Peak * 0.5)});
  machine::Wafer m = round_wse2();
  m.fitted.pass_time.value = Seconds(0);
  m.power.peak.value = Watts(20000);
  m.power.idle_share.value = 0.4;
  // 1 s in which half of the lane-cycles work: 20 kW x (0.4 + 0.6 x 0.5).
  EXPECT_NEAR(streamed(plan, m).energy_per_step.value, 14000, 1e-6);
}

TEST(Streamed, W12_the_hosts_latency_is_stated_beside_the_step_and_adds_nothing_to_it) {
  Plan plan = inference({Launch{KernelId(0)}});
  add_kernel(plan, {.weight_product = Flops(Peak * 0.5 * 0.2)});
  machine::Wafer m = round_wse2();
  m.host.latency.value = Seconds(7);
  const Answer answer = streamed(plan, m);
  EXPECT_EQ(answer.host_latency, Seconds(7));
  EXPECT_NEAR(answer.step.value, 0.2 + 1e-3, 1e-9);
  EXPECT_NEAR(answer.samples_per_second, 8 / 0.201, 1e-6);
  plan.training = true;
  EXPECT_FALSE(streamed(plan, m).host_latency);
}

TEST(Streamed, says_what_bounds_the_step) {
  Plan plan = inference({Move{Move::Kind::WeightIn, BufferId(0), {}, Bytes(150e9)}});
  add_buffer(plan, "w", BufferKind::Parameter, 10);
  EXPECT_EQ(streamed(plan, round_wse2()).bound, Bound::Weights);
  Plan idle = inference({});
  EXPECT_EQ(streamed(idle, round_wse2()).bound, Bound::LayerOverhead);
}

TEST(Streamed, activations_that_spill_cross_the_edge) {
  Plan plan = inference({Move{Move::Kind::ActivationOut, BufferId(0), {}, Bytes(150e9 * 0.5)}});
  add_buffer(plan, "x", BufferKind::Activation, 1000);
  plan.spilled = true;
  const Answer answer = streamed(plan, round_wse2());
  EXPECT_NEAR(answer.step.value, 0.5 + 1e-3, 1e-9);
  EXPECT_EQ(answer.bound, Bound::Memory);
  EXPECT_EQ(answer.memory.activations_spilled.value, 2000);
  EXPECT_EQ(answer.memory.activations_on_wafer.value, 0);
}

}  // namespace
}  // namespace wafer::estimate
