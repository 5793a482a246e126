#include "wafer/estimate/pipelined.h"

#include <gtest/gtest.h>

#include <cmath>

#include "wafer/machine/load.h"

// PEs are of the layer-pipelined compile report of GPT-2 (release 1.6): 860.3 samples/s of 1024
// tokens at 0.85 GHz, a sample every 988,027 cycles. The constants are fitted on it, so that it
// tests the form of the rules; hand computations test the arithmetic.

namespace wafer::estimate {
namespace {

using plan::PipelineKernel;
using Kind = PipelineKernel::Kind;

const Cycles Period(0.85e9 / 860.3);

machine::Wafer wse2() { return std::get<machine::Wafer>(machine::load("wse2")); }

double pes(const PipelineKernel& k, Cycles period = Period, DType type = DType::F16) {
  return pipelined_pes(k, period, wse2(), type);
}

PipelineKernel product(double rows, double inner, double columns) {
  PipelineKernel k;
  k.rows = rows;
  k.inner = inner;
  k.columns = columns;
  return k;
}

PipelineKernel elements(Kind kind, double count) {
  PipelineKernel k;
  k.kind = kind;
  k.elements = count;
  return k;
}

TEST(PipelinedPes, are_those_of_the_products_of_gpt2) {
  EXPECT_NEAR(pes(product(1024, 768, 2304)) / 2304, 1, 0.03);
  EXPECT_NEAR(pes(product(1024, 768, 768)) / 798, 1, 0.05);
  EXPECT_NEAR(pes(product(1024, 768, 3072)) / 3037, 1, 0.03);
  PipelineKernel head = product(1024, 768, 50257);
  head.predicts = true;
  head.moved = 1024 * 768;
  EXPECT_NEAR(pes(head) / 65604, 1, 0.01);
}

TEST(PipelinedPes, are_those_of_the_other_kernels_of_gpt2) {
  PipelineKernel core = elements(Kind::Attention, 0);
  core.flops = Flops(4.0 * 1024 * 1024 * 768);
  EXPECT_NEAR(pes(core) / 4608, 1, 0.01);
  EXPECT_NEAR(12 * pes(elements(Kind::Nonlinear, 1024 * 3072)) / 13028, 1, 0.01);
  EXPECT_NEAR(25 * pes(elements(Kind::Norm, 1024 * 768)) / 3444, 1, 0.01);
  EXPECT_NEAR(24 * pes(elements(Kind::Sum, 1024 * 768)) / 1152, 1, 0.03);
  EXPECT_NEAR(pes(elements(Kind::Loss, 1024 * 50257)) / 6318, 1, 0.01);
}

// 12 layers hold 23 + 21 + ... + 1 = 144 samples.
TEST(PipelinedPes, of_fifos_are_those_of_what_gelu_keeps) {
  EXPECT_NEAR(pes(elements(Kind::Fifo, 144.0 * 1024 * 3072)) / 19800, 1, 0.01);
}

// 3 passes of 100 rows; at w = 900, w / 4 + 4.64 sqrt(w) = 225 + 139.2 = 364.2: a period of
// 300 x 364.2 = 109,260 cycles; 90,000 weights on 100 PEs.
TEST(PipelinedPes, of_a_product_follow_from_the_cycles_of_its_tile) {
  EXPECT_NEAR(weights_of_pe(product(100, 300, 300), Cycles(109260), wse2(), DType::F16), 900, 1e-6);
  EXPECT_EQ(pes(product(100, 300, 300), Cycles(109261)), 100);
}

TEST(PipelinedPes, no_number_suffices_for_a_period_shorter_than_one_weight_takes) {
  // 3 x 100 x (1 / 4 + 4.64) = 1467 cycles.
  EXPECT_TRUE(std::isinf(pes(product(100, 300, 300), Cycles(1466))));
  EXPECT_FALSE(std::isinf(pes(product(100, 300, 300), Cycles(1468))));
}

// (49152 - 6144) / (2 + 4 + 12) = 2389.3 bytes a weight in 16 bit.
TEST(PipelinedPes, hold_no_more_weights_than_memory_does) {
  EXPECT_EQ(most_weights_of_pe(wse2(), DType::F16), 2389);
  EXPECT_EQ(pes(product(1, 2389, 10), Cycles(1e12)), 10);
}

TEST(PipelinedPes, are_more_in_f32) {
  EXPECT_GT(pes(product(1024, 768, 768), Period, DType::F32), 2 * pes(product(1024, 768, 768)));
  EXPECT_EQ(pes(elements(Kind::Fifo, 45760), Period, DType::F32), 4);
}

// 4 samples a step, depth 2 x 1 + 2: 8 periods of 1000 cycles and an update of 10 weights.
TEST(PipelinedAnswer, adds_up_samples_fill_and_update) {
  plan::Plan plan;
  plan.target = plan::Target::WaferPipelined;
  plan.batch = 4;
  plan.model_flops_per_sample = Flops(1e9);
  plan.pipeline.emplace();
  plan.pipeline->period = Cycles(1000);
  plan.pipeline->depth = 4;
  plan.pipeline->width = plan.pipeline->height = 100;
  PipelineKernel k = product(1, 10, 10);
  k.pes = 10;
  k.weights_of_pe = 10;
  plan.pipeline->kernels = {k, elements(Kind::Fifo, 5)};
  plan.pipeline->kernels[1].pes = 7;
  const machine::Wafer m = wse2();
  const Answer a = pipelined(plan, m);
  const double cycles = 8 * 1000 + 10 * m.pipelined.update.value.value;
  EXPECT_NEAR(a.step.value * 0.85e9, cycles, 1e-6);
  EXPECT_NEAR(a.samples_per_second, 4 * 0.85e9 / cycles, 1e-6);
  EXPECT_NEAR(a.pipelined->latency.value * 0.85e9, 4000, 1e-6);
  EXPECT_EQ(a.pipelined->kernel_pes, 10);
  EXPECT_EQ(a.pipelined->fifo_pes, 7);
  EXPECT_EQ(a.pipelined->used_share(), 17 / 10000.0);
}

}  // namespace
}  // namespace wafer::estimate
