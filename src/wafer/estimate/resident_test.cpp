#include "wafer/estimate/resident.h"

#include <gtest/gtest.h>

#include "wafer/machine/load.h"

// Cycles are worked out by hand from the rules of docs/spec/resident-cost.md with the constants of
// machines/wse2.toml; measured rates are of WaferLLM (arXiv:2502.04563), Tables 3 and 4.

namespace wafer::estimate {
namespace {

using plan::ResidentLayer;

machine::Wafer wse2() { return std::get<machine::Wafer>(machine::load("wse2")); }

// With round constants, for computations by hand.
machine::Wafer round_wse2() {
  machine::Wafer m = wse2();
  m.resident.vector_start.value = Cycles(4.5);
  m.resident.shift_step.value = Cycles(290);
  m.resident.reduction.value = Cycles(150);
  m.resident.reduction_hop.value = Cycles(1.5);
  return m;
}

// Tiles of hidden, ffn and 4096 tokens on one PE; keys and values are as wide as hidden.
ResidentLayer prefill(int64_t mesh, int64_t d, int64_t f, int64_t s) {
  return {.part = ResidentLayer::Part::Prefill,
          .mesh = mesh,
          .products = {{"query", s, d, d, true},
                       {"key", s, d, d},
                       {"value", s, d, d},
                       {"scores", s, d, s},
                       {"context", s, s, d, true},
                       {"out", s, d, d, true},
                       {"gate", s, d, f},
                       {"up", s, d, f, true},
                       {"down", s, f, d, true}},
          .passed_words = static_cast<double>(s * s),
          .scalar_functions = static_cast<double>(s * s + s * f)};
}

ResidentLayer decode(int64_t mesh, int64_t d, int64_t f, int64_t s) {
  ResidentLayer layer = prefill(mesh, d, f, s);
  layer.part = ResidentLayer::Part::Decode;
  layer.reductions = {1, 3 * d, s, 1, 1, d, d, 1, 2 * f, d};
  layer.passed_words = 0;
  layer.scalar_functions = static_cast<double>(s + f + 4);
  return layer;
}

double rate(double tokens, double layers, const ResidentLayer& layer) {
  const machine::Wafer m = wse2();
  const Cycles all = layers * resident_layer(layer, m).total();
  return tokens / time_of(all, m.resident.clock.value).value;
}

// A vector of 9 takes 4.5 + 3 + 0.43 = 7.93. Products: 480 x (6 x 81 + 3 x 270) x 7.93 =
// 4,933,094.4. Exchange: (9 + 2.5) x 480 x 290 + 480 x 81 / 2 = 1,620,240. Scalars: 50 x (81 + 270)
// = 17,550.
TEST(ResidentLayer, prefill_multiplies_on_every_step_of_the_mesh) {
  const ResidentCost cost = resident_layer(prefill(480, 9, 30, 9), round_wse2());
  EXPECT_NEAR(cost.products.value, 4933094.4, 0.1);
  EXPECT_NEAR(cost.exchange.value, 1620240, 0.1);
  EXPECT_NEAR(cost.scalars.value, 17550, 0.1);
}

// Vectors of 10 take 7.5, of 35 13.93: 6 x 75 + 2 x 139.3 + 262.5 = 991.1. 420 = 20 x 21:
// 10 x (630 + 2.5 x 41 + 150) + 3 x 144 = 9,257. Scalars: 50 x 49 = 2,450.
TEST(ResidentLayer, decode_adds_up_over_the_mesh_ten_times) {
  const ResidentCost cost = resident_layer(decode(420, 10, 35, 10), round_wse2());
  EXPECT_NEAR(cost.products.value, 991.1, 0.01);
  EXPECT_NEAR(cost.exchange.value, 9257, 0.01);
  EXPECT_NEAR(cost.scalars.value, 2450, 0.01);
}

TEST(ResidentLayer, is_within_15_percent_of_the_rates_of_llama3_8b) {
  EXPECT_NEAR(rate(4096, 32, prefill(480, 9, 30, 9)) / 20320.6, 1, 0.15);
  EXPECT_NEAR(rate(4096, 32, prefill(600, 7, 24, 7)) / 25037.2, 1, 0.15);
  EXPECT_NEAR(rate(4096, 32, prefill(720, 6, 20, 6)) / 27686.5, 1, 0.15);
  EXPECT_NEAR(rate(1, 32, decode(420, 10, 35, 10)) / 2699.9, 1, 0.15);
  EXPECT_NEAR(rate(1, 32, decode(540, 8, 27, 8)) / 2501.5, 1, 0.15);
  EXPECT_NEAR(rate(1, 32, decode(660, 7, 22, 7)) / 2243.3, 1, 0.15);
}

TEST(ResidentLayer, is_within_15_percent_of_the_rates_of_codellama_34b) {
  EXPECT_NEAR(rate(4096, 48, prefill(480, 18, 46, 9)) / 5471.4, 1, 0.15);
  EXPECT_NEAR(rate(4096, 48, prefill(600, 14, 37, 7)) / 7540.1, 1, 0.15);
  EXPECT_NEAR(rate(4096, 48, prefill(720, 12, 31, 6)) / 8526, 1, 0.15);
  EXPECT_NEAR(rate(1, 48, decode(420, 20, 53, 10)) / 1450.8, 1, 0.15);
  EXPECT_NEAR(rate(1, 48, decode(540, 16, 41, 8)) / 1407.7, 1, 0.15);
  EXPECT_NEAR(rate(1, 48, decode(660, 13, 34, 7)) / 1359.2, 1, 0.15);
}

TEST(ResidentChains, are_of_the_divisor_next_below_the_square_root) {
  EXPECT_EQ(chains_of(420).groups, 20);
  EXPECT_EQ(chains_of(420).length, 21);
  EXPECT_EQ(chains_of(540).groups, 20);
  EXPECT_EQ(chains_of(540).length, 27);
  EXPECT_EQ(chains_of(7).groups, 1);
  EXPECT_EQ(chains_of(1).length, 1);
}

}  // namespace
}  // namespace wafer::estimate
