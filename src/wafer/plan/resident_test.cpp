#include "wafer/plan/resident.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "wafer/plan/plan.h"

namespace wafer::plan {
namespace {

/// 5 layers of [8, 8] weights and 4 cached words on regions of 4 x 4 PEs, two regions a wafer, two
/// layers a region: three regions, so two wafers.
Plan resident_plan() {
  Plan plan;
  plan.model = "tiny";
  plan.machine = "wse2";
  plan.target = Target::WaferResident;
  plan.training = false;
  plan.systems = 2;
  const ResidentLayer token{.part = ResidentLayer::Part::Decode,
                            .mesh = 4,
                            .products = {{"up", 1, 2, 2, true}},
                            .reductions = {2}};
  ResidentLayer prompt = token;
  prompt.part = ResidentLayer::Part::Prefill;
  prompt.products[0].rows = 3;
  plan.resident = Resident{.placed = {.mesh = 4,
                                      .weight_bytes = 8,
                                      .cache_bytes = 4,
                                      .room_bytes = 24,
                                      .layers = 5,
                                      .regions_of_wafer = 2,
                                      .layers_of_region = 2,
                                      .wafers = 2},
                           .kinds = {{"layer", 5, prompt, token}}};
  return plan;
}

/// The only problem, or how many there are.
std::string problem(const std::function<void(Plan&, ResidentPlacement&)>& damage) {
  Plan plan = resident_plan();
  damage(plan, plan.resident->placed);
  const auto problems = problems_of(plan);
  return problems.size() == 1 ? problems[0] : std::to_string(problems.size()) + " problems";
}

TEST(ResidentPlan, a_sound_plan_has_no_problems) {
  EXPECT_TRUE(problems_of(resident_plan()).empty());
}

// 5 layers over 4 regions: one of them has two.
TEST(ResidentPlan, deals_layers_to_all_regions_of_its_wafers) {
  const ResidentPlacement at = resident_plan().resident->placed;
  EXPECT_EQ(at.regions(), 4);
  EXPECT_EQ(at.layers_of_fullest(), 2);
  EXPECT_EQ(at.layer_bytes(), 12);
}

TEST(ResidentPlan, has_no_more_regions_than_layers) {
  const ResidentPlacement at{
      .layers = 3, .regions_of_wafer = 10, .layers_of_region = 1, .wafers = 1};
  EXPECT_EQ(at.regions(), 3);
  EXPECT_EQ(at.layers_of_fullest(), 1);
}

TEST(ResidentPlan, layers_lie_in_regions_that_hold_them) {
  EXPECT_EQ(problem([](Plan& plan, ResidentPlacement& at) { at.wafers = 1, plan.systems = 1; }),
            "1 wafers of 2 regions of 2 layers do not hold 5 layers");
  EXPECT_EQ(problem([](Plan&, ResidentPlacement& at) { at.cache_bytes = 6; }),
            "2 layers of 14 bytes a PE do not lie in 24 bytes");
  EXPECT_EQ(problem([](Plan&, ResidentPlacement& at) { at.layers = 4; }),
            "4 layers are placed, kinds have 5");
}

TEST(ResidentPlan, replicas_lie_on_the_wafers_there_are) {
  EXPECT_EQ(problem([](Plan& plan, ResidentPlacement&) { plan.resident->replicas = 2; }),
            "2 replicas of 2 wafers, 2 systems");
}

TEST(ResidentPlan, a_layer_lies_on_the_mesh_of_its_region) {
  EXPECT_EQ(
      problem([](Plan& plan, ResidentPlacement&) { plan.resident->kinds[0].prefill.mesh = 3; }),
      "a layer on a mesh of 3, its region has 4");
  EXPECT_EQ(problem([](Plan& plan, ResidentPlacement&) {
              plan.resident->kinds[0].decode->products[0].columns = 0;
            }),
            "product up: an empty tile");
}

TEST(ResidentPlan, only_a_resident_plan_has_resident_layers) {
  EXPECT_EQ(problem([](Plan& plan, ResidentPlacement&) { plan.target = Target::WaferStreamed; }),
            "target wafer_streamed has resident layers");
  Plan without = resident_plan();
  without.resident.reset();
  const auto problems = problems_of(without);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0], "target wafer_resident has no resident layers");
}

TEST(ResidentPlan, text_has_regions_bytes_and_tiles) {
  const std::string text = print_text(resident_plan());
  for (const char* line :
       {"mesh 4 x 4", "wafers 2", "weights 8 cache 4", "tiles of layer prefill: up[3,2]x[2,2]",
        "tiles of layer decode: up[1,2]x[2,2] sums of words [2]"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(ResidentPlan, json_has_the_placement_and_both_parts) {
  const auto json = nlohmann::json::parse(print_json(resident_plan()));
  EXPECT_EQ(json["target"], "wafer_resident");
  const auto& resident = json["resident"];
  EXPECT_EQ(resident["mesh"], nlohmann::json({4, 4}));
  EXPECT_EQ(resident["wafers"], 2);
  EXPECT_EQ(resident["cache_bytes_of_pe"], 4);
  EXPECT_EQ(resident["kinds"][0]["times"], 5);
  EXPECT_EQ(resident["kinds"][0]["prefill"]["products"][0]["rows"], 3);
  EXPECT_EQ(resident["kinds"][0]["decode"]["reduction_words"][0], 2);
  EXPECT_TRUE(resident["head"].is_null());
}

}  // namespace
}  // namespace wafer::plan
