#include "wafer/plan/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace wafer::plan {
namespace {

/// One layer that streams one weight in and its gradient out, and the update at the store.
Plan small_plan() {
  Plan plan;
  plan.model = "tiny";
  plan.machine = "wse2";
  plan.batch = 4;
  plan.micro_batch = 2;
  plan.micro_batches = 2;
  plan.graph.main = plan.graph.add_function("main");
  plan.buffers.push_back({.name = "w",
                          .type = {DType::F16, {Dim(8), Dim(4)}},
                          .kind = BufferKind::Parameter,
                          .home = Place::Store,
                          .layer = "layer",
                          .instances = 3});
  plan.buffers.push_back({.name = "gradient of w",
                          .type = {DType::F32, {Dim(8), Dim(4)}},
                          .kind = BufferKind::Gradient,
                          .home = Place::Store,
                          .layer = "layer",
                          .instances = 3});
  plan.kernels.push_back({.name = "matmul", .implementation = "weight_stream_gemm"});
  plan.kernels.back().function = plan.graph.main;
  plan.kernels.push_back(plan.kernels.front());
  plan.kernels.back().name = "update/layer";
  Layer layer{.name = "layer",
              .phase = ir::Phase::Forward,
              .passes = 1,
              .body = {Move{Move::Kind::WeightIn, BufferId(0), {}, Bytes(64)}, Launch{KernelId(0)},
                       Move{Move::Kind::GradientOut, BufferId(1), {}, Bytes(128)}}};
  Repeat layers{Repeat::Over::Layers, 3, {layer}};
  plan.body.push_back(Repeat{Repeat::Over::MicroBatches, 2, {layers}});
  plan.body.push_back(Update{KernelId(1), {BufferId(0)}});
  return plan;
}

std::string only_problem(const Plan& plan) {
  const auto problems = problems_of(plan);
  return problems.size() == 1 ? problems[0] : std::to_string(problems.size()) + " problems";
}

TEST(Plan, a_sound_plan_has_no_problems) { EXPECT_TRUE(problems_of(small_plan()).empty()); }

TEST(Plan, every_trained_parameter_is_updated_once) {
  Plan plan = small_plan();
  plan.body.pop_back();
  EXPECT_EQ(only_problem(plan), "parameter w is never updated");
  plan.buffers[0].frozen = true;
  EXPECT_TRUE(problems_of(plan).empty());
}

TEST(Plan, moves_carry_what_their_kind_says) {
  Plan plan = small_plan();
  plan.body.push_back(Move{Move::Kind::WeightIn, BufferId(1), {}, Bytes(1)});
  EXPECT_EQ(only_problem(plan), "weight_in of gradient of w, which is a gradient");
}

TEST(Plan, activations_come_in_only_after_they_went_out) {
  Plan plan = small_plan();
  plan.buffers.push_back({.name = "x", .type = {DType::F16, {Dim(2)}}});
  plan.body.push_back(Move{Move::Kind::ActivationIn, BufferId(2), {}, Bytes(4)});
  EXPECT_EQ(only_problem(plan), "activation_in of x before it went out");
}

TEST(Plan, ids_and_counts_are_in_range) {
  Plan plan = small_plan();
  plan.body.push_back(Launch{KernelId(9)});
  EXPECT_EQ(only_problem(plan), "a launch names no kernel");
  plan = small_plan();
  plan.micro_batches = 1;
  EXPECT_EQ(only_problem(plan), "micro-batches hold 2 samples a system, the batch 4");
  plan = small_plan();
  plan.kernels[0].op_count = 5;
  EXPECT_EQ(only_problem(plan), "kernel matmul: its ops are not in the graph");
}

TEST(Plan, bytes_of_a_buffer_count_its_instances) {
  EXPECT_EQ(small_plan().buffers[0].bytes().value, 8 * 4 * 2 * 3);
}

TEST(Plan, text_shows_the_tree) {
  const std::string text = print_text(small_plan());
  EXPECT_NE(text.find("  repeat 2 over micro_batches\n    repeat 3 over layers\n"
                      "      layer layer forward\n        weight_in w : f16[8,4] 64 bytes\n"),
            std::string::npos)
      << text;
}

TEST(Plan, json_holds_buffers_and_the_tree) {
  const auto json = nlohmann::json::parse(print_json(small_plan()));
  EXPECT_EQ(json["buffers"][0]["bytes"], 192);
  EXPECT_EQ(json["body"][0]["times"], 2);
  EXPECT_EQ(json["body"][0]["body"][0]["body"][0]["body"][2]["node"], "gradient_out");
}

}  // namespace
}  // namespace wafer::plan
