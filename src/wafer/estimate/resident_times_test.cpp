#include <gtest/gtest.h>

#include "wafer/estimate/resident.h"
#include "wafer/machine/load.h"

// Times of whole plans, by hand from rules R1-R6 and R10-R12 of docs/spec/resident-cost.md with
// constants of round numbers.

namespace wafer::estimate {
namespace {

using plan::ResidentLayer;

/// 1 GHz, so that a cycle is a nanosecond. A vector of up to 4 elements takes 5 cycles, a step of a
/// shift 100, a sum over 4 PEs 4 + 2.5 x (2 + 2) + 100 = 114 and 3 a word.
machine::Wafer round_machine() {
  auto m = std::get<machine::Wafer>(machine::load("wse2"));
  m.resident.clock.value = Hertz(1e9);
  m.resident.vector_start.value = Cycles(4);
  m.resident.odd_vector.value = Cycles(0);
  m.resident.shift_step.value = Cycles(100);
  m.resident.reduction.value = Cycles(100);
  m.resident.reduction_hop.value = Cycles(1);
  return m;
}

/// 5 layers on regions of 4 x 4 PEs, two a wafer.
plan::Plan five_layers() {
  plan::Plan plan;
  plan.target = plan::Target::WaferResident;
  plan.training = false;
  plan.systems = 2;
  plan.tokens_per_sample = 12;
  const ResidentLayer token{.part = ResidentLayer::Part::Decode,
                            .mesh = 4,
                            .products = {{"up", 1, 2, 2, true}},
                            .reductions = {2}};
  const ResidentLayer prompt{
      .part = ResidentLayer::Part::Prefill, .mesh = 4, .products = {{"up", 3, 2, 2, true}}};
  plan.resident = plan::Resident{.placed = {.mesh = 4,
                                            .weight_bytes = 8,
                                            .cache_bytes = 4,
                                            .room_bytes = 24,
                                            .layers = 5,
                                            .regions_of_wafer = 2,
                                            .layers_of_region = 2,
                                            .wafers = 2},
                                 .kinds = {{"layer", 5, prompt, token}},
                                 .hidden_words = 2,
                                 .token_rows = 3};
  return plan;
}

// Products: 2 vectors of 5 cycles, 5 layers. Sums: 114 + 3 x 2 cycles each.
TEST(ResidentTimes, of_one_token_add_up_over_the_layers) {
  const ResidentTimes times = resident_times(five_layers(), round_machine());
  ASSERT_TRUE(times.decode);
  EXPECT_NEAR(times.decode->products.value, 5 * 10e-9, 1e-15);
  EXPECT_NEAR(times.decode->exchange.value, 5 * 120e-9, 1e-15);
  EXPECT_EQ(times.decode->head.value, 0);
}

// 4 steps x 2 x 2 vectors of 5 cycles; 4 steps of a shift, and half as many to align.
TEST(ResidentTimes, of_a_prompt_meet_every_tile_of_the_mesh) {
  const ResidentTimes times = resident_times(five_layers(), round_machine());
  EXPECT_NEAR(times.prefill.products.value, 5 * 80e-9, 1e-15);
  EXPECT_NEAR(times.prefill.exchange.value, 5 * 600e-9, 1e-15);
}

// 4 regions on 2 wafers: two borders within wafers, one between them. A token: 4 hops, two ramps of
// 2 cycles, 2 words at two a cycle; between wafers 4 x 2 words of 2 bytes at 150 GB/s and 5 us.
TEST(ResidentTimes, count_what_passes_between_regions_and_wafers) {
  const ResidentTimes times = resident_times(five_layers(), round_machine());
  EXPECT_NEAR(times.decode->hand_over.value, 2 * 9e-9 + 16 / 150e9 + 5e-6, 1e-14);
}

// The 4 PEs of a row send their 3 x 2 words each over one link to the next region.
TEST(ResidentTimes, a_prompt_crosses_the_border_of_a_region_by_rows_of_pes) {
  const ResidentTimes times = resident_times(five_layers(), round_machine());
  const double border = 4 + 4 + 4 * 6 / 2.;
  EXPECT_NEAR(times.prefill.hand_over.value, 2 * border * 1e-9 + 16 * 12 / 150e9 + 5e-6, 1e-14);
}

TEST(ResidentTimes, a_single_region_hands_nothing_over) {
  plan::Plan plan = five_layers();
  plan.resident->placed.layers_of_region = 5;
  plan.resident->placed.regions_of_wafer = 1;
  plan.resident->placed.wafers = 1;
  EXPECT_EQ(resident_times(plan, round_machine()).decode->hand_over.value, 0);
}

// The fullest region has 2 layers of 130 cycles: while one request waits for 5 layers, the region
// is free for others. 100 requests keep it busy for 100 x 260 cycles, which is longer than a token
// of one takes; two do not.
TEST(ResidentTimes, requests_in_flight_share_the_regions) {
  plan::Plan plan = five_layers();
  const auto decode = [&](int64_t requests) {
    plan.resident->requests = requests;
    return *resident_times(plan, round_machine()).decode;
  };
  const Seconds alone = decode(1).step;
  EXPECT_EQ(decode(1).step, decode(1).latency());
  EXPECT_EQ(decode(2).step, alone);
  EXPECT_EQ(decode(2).latency(), alone);
  EXPECT_NEAR(decode(100).step.value, 100 * 260e-9, 1e-13);
}

// The last of 3 prompts starts after two turns of the fullest region, 2 layers of 680 cycles.
TEST(ResidentTimes, prompts_follow_one_behind_another) {
  plan::Plan plan = five_layers();
  plan.resident->requests = 3;
  const ResidentPart prompt = resident_times(plan, round_machine()).prefill;
  EXPECT_NEAR((prompt.step - prompt.latency()).value, 2 * 2 * 680e-9, 1e-14);
}

TEST(ResidentTimes, a_network_that_does_not_generate_has_a_prompt_alone) {
  plan::Plan plan = five_layers();
  plan.resident->kinds[0].decode.reset();
  EXPECT_FALSE(resident_times(plan, round_machine()).decode);
  const Answer answer = resident(plan, round_machine());
  EXPECT_FALSE(answer.decode_tokens_per_second);
  EXPECT_GT(*answer.prefill_tokens_per_second, 0);
}

TEST(ResidentAnswer, rates_are_of_the_times_of_a_request) {
  const Answer answer = resident(five_layers(), round_machine());
  const ResidentTimes& times = answer.resident->times;
  EXPECT_NEAR(*answer.prefill_tokens_per_second * times.prefill.latency().value, 12, 1e-9);
  EXPECT_NEAR(*answer.decode_tokens_per_second * times.decode->latency().value, 1, 1e-9);
}

// 4176 reserved bytes, and 2 layers of 12.
TEST(ResidentAnswer, the_fullest_pe_holds_its_layers_and_what_is_reserved) {
  const Answer answer = resident(five_layers(), round_machine());
  EXPECT_EQ(answer.resident->pe_used.value, 4176 + 24);
  EXPECT_EQ(answer.resident->pe_capacity.value, 49152);
}

// Without work both wafers take half of 23 kW.
TEST(ResidentAnswer, idle_wafers_take_their_idle_power) {
  const Answer answer = resident(five_layers(), round_machine());
  EXPECT_NEAR(answer.energy_per_step.value, 2 * 11500 * answer.step.value, 1e-9);
}

}  // namespace
}  // namespace wafer::estimate
