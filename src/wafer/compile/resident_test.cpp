#include "wafer/compile/resident.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/estimate/resident.h"
#include "wafer/machine/load.h"
#include "wafer/models/models.h"

// Measured rates are of WaferLLM (arXiv:2502.04563), Tables 3 and 4, at 4096 tokens.

namespace wafer::compile {
namespace {

using Part = plan::ResidentLayer::Part;

machine::Wafer wse2() { return std::get<machine::Wafer>(machine::load("wse2")); }

Profile profile_of(const std::string& model) {
  ir::Graph graph = models::build(model, {.seq_len = 4096, .dtype = DType::F16, .train = false});
  return profile(ir::bind(graph, {{std::string(ir::BatchSymbol), 1}}), 4096);
}

const LayerProfile& repeated(const Profile& profile) {
  for (const LayerProfile& layer : profile.layers) {
    if (layer.repeated) return layer;
  }
  throw InternalError("no layers");
}

ResidentRequest request(Part part, int64_t mesh) {
  return {.part = part, .mesh = mesh, .tokens = 4096};
}

double rate(const Profile& profile, Part part, int64_t mesh) {
  const machine::Wafer m = wse2();
  const plan::ResidentLayer layer = resident_layer(repeated(profile), request(part, mesh));
  const Cycles all = profile.repeated() * estimate::resident_layer(layer, m).total();
  return (part == Part::Prefill ? 4096 : 1) / time_of(all, m.resident.clock.value).value;
}

// Hidden 4096, MLP 14336 and 4096 tokens on 420 PEs: tiles of 10, 35 and 10 elements.
TEST(ResidentSpread, finds_the_tiles_and_sums_of_a_llama_layer_in_its_graph) {
  const Profile llama = profile_of("llama3-8b");
  const plan::ResidentLayer layer = resident_layer(repeated(llama), request(Part::Decode, 420));
  std::vector<std::pair<int64_t, int64_t>> tiles;
  for (const plan::MeshProduct& p : layer.products) tiles.emplace_back(p.inner, p.columns);
  const std::vector<std::pair<int64_t, int64_t>> expected = {
      {10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 35}, {10, 35}, {35, 10}};
  EXPECT_EQ(tiles, expected);
  EXPECT_EQ(layer.reductions, (std::vector<int64_t>{1, 30, 10, 1, 1, 10, 10, 1, 70, 10}));
  EXPECT_EQ(layer.scalar_functions, 10 + 35 + 4);
}

// Keys and values have 8 of 32 heads: 1024 / 420 is 3 elements where they are not expanded.
TEST(ResidentSpread, keeps_shared_keys_narrow_on_request) {
  const Profile llama = profile_of("llama3-8b");
  ResidentRequest narrow = request(Part::Decode, 420);
  narrow.expand_keys = false;
  const plan::ResidentLayer layer = resident_layer(repeated(llama), narrow);
  EXPECT_EQ(layer.products[0].columns, 10);
  EXPECT_EQ(layer.products[1].columns, 3);
  EXPECT_EQ(layer.products[2].columns, 3);
}

TEST(ResidentSpread, is_within_15_percent_of_the_rates_of_llama3_8b) {
  const Profile llama = profile_of("llama3-8b");
  EXPECT_NEAR(rate(llama, Part::Prefill, 480) / 20320.6, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Prefill, 600) / 25037.2, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Prefill, 720) / 27686.5, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Decode, 420) / 2699.9, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Decode, 540) / 2501.5, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Decode, 660) / 2243.3, 1, 0.15);
}

TEST(ResidentSpread, is_within_15_percent_of_the_rates_of_codellama_34b) {
  const Profile llama = profile_of("codellama-34b");
  EXPECT_NEAR(rate(llama, Part::Prefill, 480) / 5471.4, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Prefill, 600) / 7540.1, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Prefill, 720) / 8526, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Decode, 420) / 1450.8, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Decode, 540) / 1407.7, 1, 0.15);
  EXPECT_NEAR(rate(llama, Part::Decode, 660) / 1359.2, 1, 0.15);
}

plan::ResidentPlacement placed(const Profile& profile, int64_t mesh) {
  return lay_out_resident(profile, wse2(), request(Part::Decode, mesh));
}

// Elements of a PE on 420 x 420: query and out 2 x 10 x 10, key and value 2 x 10 x 3, MLP
// 3 x 10 x 35, cache 10 x ceil(2048 / 420) = 50; 1360 x 2 bytes. 44976 / 2720 = 16 layers a region,
// of which 1 x 2 lie on 750 x 994 PEs. The head's matrix of 4096 x 128256 has 10 x 306 elements; it
// lies on the 392,700 PEs that are in no region.
TEST(ResidentPlace, counts_layers_of_a_region_and_regions_of_a_wafer) {
  const plan::ResidentPlacement at = placed(profile_of("llama3-8b"), 420);
  EXPECT_EQ(at.layer_bytes(), 2720);
  EXPECT_EQ(at.head_bytes, 6120);
  EXPECT_EQ(at.layers_of_region, 16);
  EXPECT_EQ(at.regions_of_wafer, 2);
  EXPECT_EQ(at.layers, 32);
  EXPECT_EQ(at.wafers, 1);
}

// 150 x 150 PEs, 5 x 6 regions: 745,500 - 675,000 = 70,500 PEs are in none and hold
// 70,500 x 44976 bytes, more than the 1.05e9 of the head. On 350 x 350, 2 x 2 regions, 255,500 do.
// On 50 x 50, 15 x 19 regions leave 33,000 PEs.
TEST(ResidentPlace, puts_the_head_where_no_region_is) {
  const Profile llama = profile_of("llama3-8b");
  for (const int64_t mesh : {150, 350}) {
    const plan::ResidentPlacement at = placed(llama, mesh);
    const int64_t regions = (at.layers + at.layers_of_region - 1) / at.layers_of_region;
    EXPECT_EQ(at.wafers, (regions + at.regions_of_wafer - 1) / at.regions_of_wafer) << mesh;
  }
}

// CodeLLaMA-34B, 660 x 660, one region: 2 x 13 x 13 + 2 x 13 x 2 + 3 x 13 x 34 + 7 x 4 = 1744
// elements; 44976 / 3488 = 12 layers, so that 48 need 4 wafers.
TEST(ResidentPlace, says_how_many_wafers_a_network_needs) {
  const plan::ResidentPlacement at = placed(profile_of("codellama-34b"), 660);
  EXPECT_EQ(at.wafers, 4);
  EXPECT_NO_THROW(check_fits(at, 1, 4));
  try {
    check_fits(at, 1, 3);
    FAIL();
  } catch (const CapacityError& error) {
    EXPECT_TRUE(contains(error.what(), "48 layers need 4 wafers"));
    EXPECT_TRUE(contains(error.what(), "--systems 4"));
  }
}

TEST(ResidentPlace, refuses_a_mesh_wider_than_the_wafer_and_one_too_small_for_a_layer) {
  const Profile llama = profile_of("llama3-8b");
  EXPECT_THROW(placed(llama, 751), InputError);
  EXPECT_THROW(placed(llama, 0), InputError);
  EXPECT_EQ(placed(llama, 60).wafers, 0);
  EXPECT_THROW(check_fits(placed(llama, 60), 1, 99), CapacityError);
}

}  // namespace
}  // namespace wafer::compile
