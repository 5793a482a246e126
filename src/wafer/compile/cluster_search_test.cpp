#include "wafer/compile/cluster_search.h"

#include <gtest/gtest.h>

#include <set>

#include "wafer/base/error.h"

namespace wafer::compile {
namespace {

using plan::Recompute;
using plan::Sharding;

constexpr int64_t Node = 8;

// 12 equal layers with 16 heads.
Profile network() {
  Profile p;
  LayerProfile layer;
  layer.times = 12;
  layer.repeated = true;
  p.layers.push_back(layer);
  p.heads = 16;
  p.parameters = 1e6;
  return p;
}

std::vector<ClusterChoice> all(const ClusterRequest& request) {
  return candidates(request, network(), Node);
}

std::string problem(const ClusterRequest& request) {
  try {
    check(request, network(), Node);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::set<int64_t> micro_batches(const std::vector<ClusterChoice>& choices) {
  std::set<int64_t> sizes;
  for (const ClusterChoice& c : choices) sizes.insert(c.micro_batch);
  return sizes;
}

TEST(Candidates, use_every_gpu_and_divide_heads_and_layers) {
  const auto choices = all({.systems = 48, .batch = 96});
  ASSERT_FALSE(choices.empty());
  for (const ClusterChoice& c : choices) {
    const plan::Parallelism& p = c.parallel;
    EXPECT_EQ(p.tensor * p.pipeline * p.data, 48);
    EXPECT_EQ(16 % p.tensor, 0);
    EXPECT_EQ(12 % (p.pipeline * p.interleaving), 0);
    EXPECT_LE(p.tensor, Node);
    EXPECT_LE(p.data, 96);
  }
}

TEST(Candidates, have_no_ranks_that_lie_over_two_nodes) {
  // Of three ranks in nodes of eight, every third group would. Six GPUs are one node.
  Profile p = network();
  p.heads = 12;
  const auto ranks = [&](int64_t systems) {
    std::set<int64_t> all_ranks;
    for (const ClusterChoice& c : candidates({.systems = systems, .batch = 96}, p, Node)) {
      all_ranks.insert(c.parallel.tensor);
    }
    return all_ranks;
  };
  EXPECT_EQ(ranks(24), (std::set<int64_t>{1, 2, 4}));
  EXPECT_EQ(ranks(6), (std::set<int64_t>{1, 2, 3, 6}));
}

TEST(Candidates, of_seven_gpus_are_replicas_with_even_micro_batches) {
  // 1024 samples over 7 replicas are 147 for the largest, rounded up. Micro-batches of up to 2, 4,
  // 8, ... 128 hold them in 74, 37, 19, 10, 5, 3, 2 runs: of 2, 4, 8, 15, 30, 49, 74 samples.
  const auto choices = all({.systems = 7, .batch = 1024});
  EXPECT_EQ(micro_batches(choices), (std::set<int64_t>{1, 2, 4, 8, 15, 30, 49, 74, 147}));
  // Three ways of sharding, with and without recompute.
  EXPECT_EQ(choices.size(), 9u * 3 * 2);
}

TEST(Candidates, offer_selective_recompute_where_attention_keeps_scores) {
  ClusterRequest request{.systems = 1, .batch = 1};
  EXPECT_EQ(all(request).size(), 2u);
  request.fused = false;
  EXPECT_EQ(all(request).size(), 3u);
}

TEST(Candidates, let_interleaved_stages_divide_the_micro_batches) {
  ClusterRequest request{.systems = 4, .batch = 6, .tensor = 1, .pipeline = 4};
  request.interleaving = 3;
  EXPECT_TRUE(all(request).empty());  // 6, 3, 2 or 1 micro-batches
  request.batch = 8;
  EXPECT_EQ(micro_batches(all(request)), (std::set<int64_t>{1, 2}));
}

TEST(Candidates, gather_weights_only_without_ranks_and_stages) {
  for (const ClusterChoice& c : all({.systems = 16, .batch = 16})) {
    if (c.parallel.sharding != Sharding::Full) continue;
    EXPECT_EQ(c.parallel.tensor * c.parallel.pipeline, 1);
  }
  EXPECT_TRUE(all({.systems = 16, .batch = 16, .tensor = 2, .sharding = Sharding::Full}).empty());
}

TEST(Candidates, keep_what_is_pinned) {
  ClusterRequest request{.systems = 16, .batch = 32, .tensor = 2, .pipeline = 4, .data = 2};
  request.interleaving = 3;
  request.micro_batch = 4;
  request.sequence = true;
  request.recompute = Recompute::Full;
  request.sharding = Sharding::Optimizer;
  const auto choices = all(request);
  ASSERT_EQ(choices.size(), 1u);
  const plan::Parallelism& p = choices[0].parallel;
  EXPECT_EQ(p.tensor, 2);
  EXPECT_EQ(p.pipeline, 4);
  EXPECT_EQ(p.data, 2);
  EXPECT_EQ(p.interleaving, 3);
  EXPECT_TRUE(p.sequence);
  EXPECT_EQ(p.sharding, Sharding::Optimizer);
  EXPECT_EQ(choices[0].micro_batch, 4);
  EXPECT_EQ(choices[0].recompute, Recompute::Full);
}

TEST(Candidates, of_a_pinned_micro_batch_are_none_where_a_replica_has_fewer_samples) {
  EXPECT_TRUE(all({.systems = 4, .batch = 8, .data = 4, .micro_batch = 3}).empty());
  EXPECT_FALSE(all({.systems = 4, .batch = 8, .data = 4, .micro_batch = 2}).empty());
}

TEST(Candidates, of_serving_are_tensor_ranks_and_replicas) {
  std::set<std::pair<int64_t, int64_t>> spreads;
  for (const ClusterChoice& c : serving_candidates({.systems = 4, .batch = 2}, network(), Node)) {
    spreads.emplace(c.parallel.tensor, c.parallel.data);
  }
  EXPECT_EQ(spreads, (std::set<std::pair<int64_t, int64_t>>{{2, 2}, {4, 1}}));  // 2 samples
}

TEST(Request, names_all_pins_that_do_not_suit) {
  ClusterRequest request{.systems = 8, .batch = 4, .tensor = 3, .pipeline = 5, .data = 9};
  const std::string what = problem(request);
  EXPECT_NE(what.find("--tp 3 x --pp 5 x --dp 9 are 135 GPUs, not the 8"), std::string::npos)
      << what;
  EXPECT_NE(what.find("--tp 3 does not divide the 16 attention heads"), std::string::npos);
  EXPECT_NE(what.find("--pp 5 does not divide the 12 equal layers"), std::string::npos);
  EXPECT_NE(what.find("--dp 9 is more replicas than the 4 samples"), std::string::npos);
}

TEST(Request, names_what_does_not_divide_the_gpus) {
  const std::string what = problem({.systems = 8, .batch = 64, .tensor = 2, .data = 3});
  EXPECT_NE(what.find("--tp 2 x --dp 3 do not divide the 8 GPUs"), std::string::npos) << what;
}

TEST(Request, wants_ranks_for_sequence_parallelism_and_stages_for_interleaving) {
  ClusterRequest request{.systems = 8, .batch = 64, .tensor = 1, .pipeline = 1};
  request.sequence = true;
  request.interleaving = 2;
  const std::string what = problem(request);
  EXPECT_NE(what.find("--sequence-parallel needs tensor ranks: --tp is 1"), std::string::npos);
  EXPECT_NE(what.find("--interleaving 2 needs a pipeline: --pp is 1"), std::string::npos);
}

}  // namespace
}  // namespace wafer::compile
