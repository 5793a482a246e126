#include "wafer/compile/resident_plan.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/estimate/resident.h"
#include "wafer/machine/load.h"
#include "wafer/models/models.h"

namespace wafer::compile {
namespace {

machine::Wafer wse2() { return std::get<machine::Wafer>(machine::load("wse2")); }

ResidentCompiler compiler_of(const std::string& model, int64_t tokens) {
  const ir::Graph graph =
      models::build(model, {.seq_len = tokens, .dtype = DType::F16, .train = false});
  return {graph, tokens};
}

plan::Plan planned(const std::string& model, int64_t tokens, const ResidentQuestion& question) {
  return compiler_of(model, tokens).plan(wse2(), question);
}

std::string refused(const std::string& model, int64_t tokens, const ResidentQuestion& question) {
  try {
    planned(model, tokens, question);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(ResidentPlanner, makes_plans_without_problems) {
  const plan::Plan plan = planned("gpt2", 1024, {.batch = 3, .mesh = 200});
  EXPECT_EQ(plan.target, plan::Target::WaferResident);
  EXPECT_TRUE(plan::problems_of(plan).empty());
  EXPECT_EQ(plan.resident->placed.layers, 12);
}

// CodeLLaMA-34B has 48 layers of hidden 8192, MLP 22016, 8 of 64 heads of keys. On 480 x 480 PEs a
// layer has 2 x 18 x 18 + 2 x 18 x 3 + 3 x 18 x 46 = 3240 weights a PE and 9 x 5 cached numbers:
// 6570 bytes. 44976 hold 6; 1 x 2 regions make 12 a wafer, so that 48 take 4.
TEST(ResidentPlanner, counts_the_wafers_of_a_network_by_hand) {
  const plan::Plan plan = planned("codellama-34b", 4096, {.systems = 4, .mesh = 480});
  const plan::ResidentPlacement& at = plan.resident->placed;
  EXPECT_EQ(at.weight_bytes, 6480);
  EXPECT_EQ(at.cache_bytes, 90);
  EXPECT_EQ(at.layers_of_region, 6);
  EXPECT_EQ(at.regions_of_wafer, 2);
  EXPECT_EQ(at.wafers, 4);
  EXPECT_EQ(plan.resident->replicas, 1);
}

TEST(ResidentPlanner, says_how_many_wafers_would_do) {
  const std::string text = refused("codellama-34b", 4096, {.systems = 3, .mesh = 480});
  EXPECT_TRUE(contains(text, "--systems 4")) << text;
}

// Without a mesh asked for, no mesh of one wafer holds 66 GB.
TEST(ResidentPlanner, says_so_where_no_mesh_fits) {
  const std::string text = refused("codellama-34b", 4096, {});
  EXPECT_TRUE(contains(text, "--systems")) << text;
}

// Keys and values of a request: 45 numbers of 2 bytes a layer and PE on 480 x 480. 44976 bytes hold
// no layer of 1071 - 45 weights with 500 requests: 2052 + 500 x 90 = 47052 bytes.
TEST(ResidentPlanner, keeps_a_cache_for_every_request_in_flight) {
  const auto cache = [](int64_t batch) {
    return planned("llama3-8b", 4096, {.systems = 40, .batch = batch, .mesh = 480})
        .resident->placed.cache_bytes;
  };
  EXPECT_EQ(cache(1), 90);
  const std::string text = refused("llama3-8b", 4096, {.batch = 500, .mesh = 480});
  EXPECT_TRUE(contains(text, "smaller --batch")) << text;
  EXPECT_TRUE(contains(text, "45000")) << text;
}

// One wafer holds gpt2: of 4, each has a replica, and 10 requests are 3 each at most.
TEST(ResidentPlanner, more_wafers_than_needed_hold_replicas) {
  const plan::Plan plan = planned("gpt2", 1024, {.systems = 4, .batch = 10, .mesh = 200});
  EXPECT_EQ(plan.resident->replicas, 4);
  EXPECT_EQ(plan.resident->requests, 3);
}

TEST(ResidentPlanner, a_request_of_its_own_needs_no_second_replica) {
  EXPECT_EQ(planned("gpt2", 1024, {.systems = 4, .mesh = 200}).resident->replicas, 1);
}

TEST(ResidentPlanner, many_systems_take_no_longer_to_deal) {
  const plan::Plan plan =
      planned("codellama-34b", 4096, {.systems = 1000000, .batch = 1000000, .mesh = 480});
  EXPECT_EQ(plan.resident->placed.wafers, 4);
  EXPECT_EQ(plan.resident->replicas, 250000);
  EXPECT_EQ(plan.resident->requests, 4);
}

// No mesh is asked for: none of the measured ones may be better for a prompt and as many tokens.
TEST(ResidentPlanner, chooses_a_mesh_that_none_of_a_list_beats) {
  const ResidentCompiler compiler = compiler_of("llama3-8b", 4096);
  const machine::Wafer m = wse2();
  const auto time = [&](const ResidentQuestion& question) {
    const estimate::ResidentTimes times = estimate::resident_times(compiler.plan(m, question), m);
    return times.prefill.step.value + 4096 * times.decode->step.value;
  };
  const double best = time({});
  for (const int64_t mesh : {400, 420, 480, 540, 600, 660, 720}) {
    EXPECT_LE(best, time({.mesh = mesh}) * (1 + 1e-12)) << mesh;
  }
}

TEST(ResidentPlanner, an_encoder_has_no_tokens_to_decode_and_no_cache_to_grow) {
  const plan::Plan plan = planned("bert-large", 512, {.mesh = 200});
  EXPECT_FALSE(plan.resident->kinds.at(0).decode);
}

TEST(ResidentPlanner, refuses_meshes_that_are_no_part_of_the_wafer) {
  EXPECT_TRUE(contains(refused("gpt2", 1024, {.mesh = 751}), "a mesh of 1 to 750"));
  EXPECT_TRUE(contains(refused("gpt2", 1024, {.mesh = 1}), "take more cores"));
}

TEST(ResidentPlanner, refuses_a_network_that_it_cannot_spread) {
  const ir::Graph images = models::build("resnet50", {.dtype = DType::F16, .train = false});
  EXPECT_THROW(ResidentCompiler(images, 1).plan(wse2(), {}), InputError);
}

}  // namespace
}  // namespace wafer::compile
