// Rules K1 to K7 of docs/spec/cluster-cost.md on steps of round sizes, and the memory of a GPU.
#include "wafer/compile/cluster_kernels.h"

#include <gtest/gtest.h>

namespace wafer::compile {
namespace {

using plan::Kernel;
using plan::Recompute;
using plan::Sharding;

// A layer of 10 tokens a sample; f16.
class ClusterKernels : public ::testing::Test {
 protected:
  ClusterKernels() {
    profile.tokens = 10;
    choice.micro_batch = 3;
    layer.repeated = true;
    layer.times = 4;
  }

  ClusterCase place() const { return {profile, request, choice, DType::F16, 8}; }

  Profile profile;
  ClusterRequest request;
  ClusterChoice choice;
  LayerProfile layer;
  ProductStep product{
      .name = "p", .shape = {.m = 10, .n = 600, .k = 200}, .columns = {600}, .grains = {0}};
  AttentionStep attention{.name = "a",
                          .batch_heads = 4,
                          .batch_kv_heads = 2,
                          .queries = 10,
                          .keys = 10,
                          .depth = 50,
                          .value_depth = 50,
                          .shared = true};
  PassStep sum{.name = "s", .elements = 2000, .read = 4000, .operands = 2};
};

TEST_F(ClusterKernels, give_a_rank_its_columns_or_rows) {
  choice.parallel.tensor = 4;
  const ClusterCase c = place();
  const GpuKernels kernels(c, 10);
  product.split = Split::Columns;
  plan::Product s = kernels.forward(product, layer).products[0];
  EXPECT_EQ(s.m, 30);
  EXPECT_EQ(s.n, 150);
  EXPECT_EQ(s.k, 200);
  product.split = Split::Rows;
  s = kernels.forward(product, layer).products[0];
  EXPECT_EQ(s.n, 600);
  EXPECT_EQ(s.k, 50);
}

TEST_F(ClusterKernels, do_not_cut_a_head) {
  // 4 ranks; 400 columns of queries in heads of 50, 100 of keys: two heads, so one on each rank.
  choice.parallel.tensor = 4;
  product.split = Split::Columns;
  product.columns = {400, 100, 100};
  product.grains = {50, 50, 50};
  const ClusterCase c = place();
  EXPECT_EQ(GpuKernels(c, 10).forward(product, layer).products[0].n, 100 + 50 + 50);
}

TEST_F(ClusterKernels, have_two_products_as_the_gradient_of_one) {
  const ClusterCase c = place();
  const std::vector<Kernel> k = GpuKernels(c, 10).backward(product, layer);
  ASSERT_EQ(k.size(), 2u);
  const plan::Product operand = k[0].products[0], matrix = k[1].products[0];
  EXPECT_EQ(operand.m, 30);  // [30, 600] x [600, 200]
  EXPECT_EQ(operand.n, 200);
  EXPECT_EQ(operand.k, 600);
  EXPECT_EQ(matrix.m, 600);  // [600, 30] x [30, 200]
  EXPECT_EQ(matrix.n, 200);
  EXPECT_EQ(matrix.k, 30);
}

TEST_F(ClusterKernels, sum_a_bias_gradient_in_a_pass_of_older_software) {
  product.bias = true;
  choice.parallel.fused = false;
  const ClusterCase c = place();
  const std::vector<Kernel> k = GpuKernels(c, 10).backward(product, layer);
  ASSERT_EQ(k.size(), 3u);
  EXPECT_EQ(k[2].work.read.value, 30 * 600 * 2);
}

TEST_F(ClusterKernels, fuse_attention_and_skip_the_half_that_a_mask_hides) {
  // 3 samples x 4 heads x 10 x 10 scores x 2 x (50 + 50) FLOPs.
  const double all = 3 * 4 * 100 * 200;
  ClusterCase c = place();
  const Kernel whole = GpuKernels(c, 10).forward(attention, layer);
  EXPECT_EQ(whole.work.local_product.value, all);
  EXPECT_TRUE(whole.products.empty());
  attention.causal = true;
  EXPECT_EQ(GpuKernels(c, 10).forward(attention, layer).work.local_product.value, all / 2);
  choice.parallel.tensor = 2;
  EXPECT_EQ(GpuKernels(c, 10).forward(attention, layer).work.local_product.value, all / 4);
  EXPECT_EQ(GpuKernels(c, 10).backward(attention, layer)[0].work.local_product.value,
            2.5 * all / 4);
}

TEST_F(ClusterKernels, pass_over_all_scores_where_attention_is_plain) {
  choice.parallel.fused = false;
  const ClusterCase c = place();
  const Kernel k = GpuKernels(c, 10).forward(attention, layer);
  ASSERT_EQ(k.products.size(), 2u);
  EXPECT_EQ(k.products[0].batch, 12);
  EXPECT_EQ(k.work.read.value, 4.5 * 1200 * 2);
  EXPECT_EQ(GpuKernels(c, 10).backward(attention, layer)[0].products.size(), 4u);
}

TEST_F(ClusterKernels, read_keys_and_values_for_a_new_token) {
  // 3 requests x 2 key heads x 10 tokens x (50 + 50) x 2 bytes.
  const ClusterCase c = place();
  EXPECT_EQ(GpuKernels(c, 1).forward(attention, layer).work.read.value, 3 * 2 * 10 * 100 * 2);
}

TEST_F(ClusterKernels, pass_over_operands_and_result) {
  ClusterCase c = place();
  EXPECT_EQ(GpuKernels(c, 10).forward(sum, layer).work.read.value, 3 * 6000 * 2);
  // Ranks hold what lies between matrices each, but for sequence parallelism.
  choice.parallel.tensor = 4;
  EXPECT_EQ(GpuKernels(c, 10).forward(sum, layer).work.read.value, 3 * 6000 * 2);
  choice.parallel.sequence = true;
  EXPECT_EQ(GpuKernels(c, 10).forward(sum, layer).work.read.value, 3 * 1500 * 2);
}

TEST_F(ClusterKernels, drop_out_on_residuals_of_older_software) {
  choice.parallel.fused = false;
  const ClusterCase c = place();
  EXPECT_EQ(GpuKernels(c, 10).forward(sum, layer).work.read.value, 3 * (6000 + 1000) * 2);
}

TEST_F(ClusterKernels, keep_activations_by_policy) {
  layer.kept = {.whole = 1000, .shared = 8000};
  layer.passed_on = 500;
  layer.steps = {attention};
  choice.parallel.tensor = 4;
  const auto kept = [&](Recompute policy) {
    const ClusterCase c = place();
    return GpuKernels(c, 10).kept(layer, policy).value;
  };
  EXPECT_EQ(kept(Recompute::None), 3 * (1000 + 2000) * 2);
  EXPECT_EQ(kept(Recompute::Full), 3 * 500 * 2);
  choice.parallel.fused = false;  // 2.5 tensors of 4 x 10 x 10 scores, a fourth of them here
  EXPECT_EQ(kept(Recompute::None), 3 * (3000 + 250) * 2);
  EXPECT_EQ(kept(Recompute::Selective), 3 * 3000 * 2);
  choice.parallel.sequence = true;
  EXPECT_EQ(kept(Recompute::Selective), 3 * (250 + 2000) * 2);
}

TEST_F(ClusterKernels, divide_parameters_over_ranks_stages_and_shards) {
  // 8000 parameters over 2 ranks and 2 stages: 2000 on a GPU, 2 + 4 + 12 bytes each.
  profile.parameters = 8000;
  profile.layers = {layer};
  request = {.systems = 16, .batch = 16};
  choice.parallel = {.tensor = 2, .pipeline = 2, .data = 4};
  const ClusterMemory whole = memory_of(place());
  EXPECT_EQ(whole.weights.value, 4000);
  EXPECT_EQ(whole.gradients.value, 8000);
  EXPECT_EQ(whole.optimizer.value, 24000);
  choice.parallel.sharding = Sharding::Optimizer;
  EXPECT_EQ(memory_of(place()).optimizer.value, 6000);
  EXPECT_EQ(memory_of(place()).gradients.value, 8000);
  choice.parallel = {.data = 16, .sharding = Sharding::Full};
  const ClusterMemory shards = memory_of(place());
  EXPECT_EQ(shards.weights.value + shards.gradients.value + shards.optimizer.value, 8000 / 16 * 18);
}

TEST_F(ClusterKernels, hold_activations_of_the_micro_batches_in_flight) {
  // 4 layers over 2 stages; of 8 micro-batches 2 are in flight: 2 layers x 2 x 3 samples x 100 x 2
  // B.
  layer.kept = {.whole = 100, .shared = 0};
  profile.layers = {layer};
  request = {.systems = 2, .batch = 24};
  choice.parallel = {.pipeline = 2};
  EXPECT_EQ(memory_of(place()).activations.value, 2 * 2 * 3 * 100 * 2);
  request.batch = 3;  // one micro-batch in all
  EXPECT_EQ(memory_of(place()).activations.value, 2 * 1 * 3 * 100 * 2);
}

}  // namespace
}  // namespace wafer::compile
