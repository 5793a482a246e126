#include "wafer/compile/cluster_bound.h"

#include <gtest/gtest.h>

#include "wafer/compile/cluster_search.h"
#include "wafer/machine/load.h"
#include "wafer/models/models.h"

namespace wafer::compile {
namespace {

constexpr int64_t Node = 8;

const Profile& network() {
  static const Profile profile = compile::profile(
      models::build("gpt:layers=12,hidden=512,heads=8,vocab=4096", {.seq_len = 256, .train = true}),
      256);
  return profile;
}

machine::GpuCluster a100() { return std::get<machine::GpuCluster>(machine::load("a100-80gb")); }

// Whatever a candidate sends besides, it takes no less time than its bound.
TEST(StepBounds, are_below_the_time_of_every_candidate) {
  const machine::GpuCluster machine = a100();
  for (const bool fused : {true, false}) {
    const ClusterRequest request{.systems = 16, .batch = 96, .fused = fused};
    StepBounds bounds;
    size_t near = 0;
    const std::vector<ClusterChoice> all = candidates(request, network(), Node);
    for (const ClusterChoice& choice : all) {
      const ClusterCase c{network(), request, choice, DType::F16, Node};
      const Seconds step = estimate::cluster_step(assemble_training(c), machine);
      const Seconds bound = bounds.on(machine).of(machine, c);
      ASSERT_LE(bound, step);
      near += bound > step * 0.5;
    }
    EXPECT_GT(near, all.size() / 4);  // or they would be of no use
  }
}

TEST(StepBounds, hardly_price_a_micro_batch_twice_for_any_batch_and_number_of_gpus) {
  const machine::GpuCluster machine = a100();
  StepBounds bounds;
  const auto ask = [&](const ClusterRequest& request) {
    for (const ClusterChoice& choice : candidates(request, network(), Node)) {
      bounds.on(machine).of(machine, {network(), request, choice, DType::F16, Node});
    }
    return bounds.on(machine).priced();
  };
  const uint64_t once = ask({.systems = 8, .batch = 512});
  EXPECT_GT(once, 0U);
  EXPECT_LT(once, candidates({.systems = 8, .batch = 512}, network(), Node).size() / 3);
  // More GPUs leave more candidates, such as more stages; what they share is not priced again.
  EXPECT_LT(ask({.systems = 16, .batch = 1024}), once + once / 8);
  EXPECT_EQ(ask({.systems = 8, .batch = 512}), ask({.systems = 16, .batch = 1024}));
}

TEST(StepBounds, tell_machines_apart_by_their_numbers) {
  machine::GpuCluster machine = a100();
  StepBounds bounds;
  const ClusterRequest request{.systems = 1, .batch = 1};
  const ClusterChoice choice;
  const ClusterCase c{network(), request, choice, DType::F16, Node};
  const Seconds before = bounds.on(machine).of(machine, c);
  machine.gpu.memory_bandwidth.value = machine.gpu.memory_bandwidth.value * 0.5;
  EXPECT_GT(bounds.on(machine).of(machine, c), before);
  EXPECT_EQ(bounds.on(a100()).of(a100(), c), before);
}

}  // namespace
}  // namespace wafer::compile
