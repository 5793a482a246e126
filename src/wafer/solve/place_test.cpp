#include "wafer/solve/place.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace wafer::solve {
namespace {

// Blocks in a row, each wired to the next.
PlaceProblem chain(int64_t width, int64_t height, const std::vector<int64_t>& areas) {
  PlaceProblem p{.width = width, .height = height, .blocks = {}, .wires = {}};
  for (size_t i = 0; i < areas.size(); ++i) {
    p.blocks.push_back({"b" + std::to_string(i), areas[i]});
    if (i > 0) p.wires.push_back({i - 1, i});
  }
  return p;
}

PlaceSolution placed(const PlaceProblem& p) { return std::get<PlaceSolution>(place(p)); }

TEST(Place, fills_the_wafer_to_the_last_PE) {
  const PlaceProblem p = chain(4, 6, {8, 4, 8, 4});
  const PlaceSolution s = placed(p);
  EXPECT_TRUE(check(p, s).empty());
}

// Squares of 10 x 10 in three columns: two neighbours are 10 x 20, half of whose perimeter is 30;
// across a jump from the foot of a column to the head of the next it would be 40.
TEST(Place, turns_at_the_edge_so_that_neighbours_stay_neighbours) {
  const PlaceProblem p = chain(30, 20, {100, 100, 100, 100, 100, 100});
  const PlaceSolution s = placed(p);
  EXPECT_TRUE(check(p, s).empty());
  EXPECT_EQ(s.wire_length, 5 * 30);
}

// In the order 0, 1, 2 the heavy wire is 1 + 3 long, as neighbours 1 + 2.
TEST(Place, exchanges_neighbours_where_that_shortens_the_wires) {
  PlaceProblem p = chain(1, 3, {1, 1, 1});
  p.wires = {{0, 2, 10}, {2, 1, 1}};
  EXPECT_EQ(placed(p).wire_length, 10 * 3 + 3);
}

TEST(Place, a_block_larger_than_a_column_gets_one_of_its_own) {
  const PlaceProblem p = chain(30, 10, {5, 200, 5});
  EXPECT_TRUE(check(p, placed(p)).empty());
}

TEST(Place, says_how_many_PEs_there_are_where_it_finds_nothing) {
  const auto result = place(chain(5, 5, {20, 6}));
  EXPECT_EQ(std::get<PlaceInfeasible>(result).needed, 26);
  EXPECT_EQ(std::get<PlaceInfeasible>(result).available, 25);
  // 3 + 3 + 3 of 3 x 3 fit; 2 + 5 + 2 have no three rectangles.
  EXPECT_TRUE(std::holds_alternative<PlaceSolution>(place(chain(3, 3, {3, 3, 3}))));
  EXPECT_TRUE(std::holds_alternative<PlaceInfeasible>(place(chain(3, 3, {2, 5, 2}))));
}

TEST(Place, no_blocks_need_no_room) { EXPECT_EQ(placed(chain(1, 1, {})).wire_length, 0); }

TEST(PlaceCheck, refuses_overlaps_small_rectangles_and_those_that_stick_out) {
  const PlaceProblem p = chain(4, 4, {4, 4});
  EXPECT_EQ(check(p, {{{0, 0, 2, 2}, {1, 1, 2, 2}}, 6}).at(0), "b1 overlaps b0");
  EXPECT_EQ(check(p, {{{0, 0, 1, 3}, {1, 0, 2, 2}}, 6}).at(0),
            "b0 needs 4 PEs, its rectangle is 1 x 3");
  EXPECT_EQ(check(p, {{{0, 0, 2, 2}, {3, 0, 2, 2}}, 7}).at(0), "b1 sticks out of 4 x 4 PEs");
  EXPECT_EQ(check(p, {{{0, 0, 2, 2}, {2, 0, 2, 2}}, 3}).at(0), "wires are 6 long, not 3");
  EXPECT_EQ(check(p, {{{0, 0, 2, 2}}, 0}).at(0), "1 rectangles for 2 blocks");
}

RC_GTEST_PROP(Place, every_solution_passes_the_check, ()) {
  const auto areas = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(1, 400));
  const PlaceProblem p =
      chain(*rc::gen::inRange<int64_t>(1, 100), *rc::gen::inRange<int64_t>(1, 100), areas);
  const auto result = place(p);
  if (const auto* s = std::get_if<PlaceSolution>(&result)) RC_ASSERT(check(p, *s).empty());
}

RC_GTEST_PROP(Place, finds_room_for_small_blocks_on_nine_tenths_of_a_large_wafer, ()) {
  PlaceProblem p = chain(750, 994, {});
  int64_t sum = 0;
  std::vector<int64_t> areas;
  while (sum < 650'000) {
    areas.push_back(*rc::gen::inRange<int64_t>(400, 8000));
    sum += areas.back();
  }
  p = chain(750, 994, areas);
  const auto result = place(p);
  RC_ASSERT(std::holds_alternative<PlaceSolution>(result));
  RC_ASSERT(check(p, std::get<PlaceSolution>(result)).empty());
}

}  // namespace
}  // namespace wafer::solve
