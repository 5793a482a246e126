#include "wafer/solve/size.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace wafer::solve {
namespace {

// Takes `work` units of area x time an item, in whole units of area, at least `least` of them.
Sizable stage(std::string name, double work, double least = 1) {
  return {std::move(name),
          [=](double period) { return std::max(least, std::ceil(work / period)); }};
}

SizeProblem problem_of(std::vector<Sizable> stages, double area) {
  return {.stages = std::move(stages), .area = area, .region_area = area};
}

SizeSolution solved(const SizeProblem& problem) { return std::get<SizeSolution>(size(problem)); }

// At a period of 60: 300 / 60 + 120 / 60 = 5 + 2.
TEST(Size, gives_each_stage_the_area_of_one_period) {
  const SizeProblem p = problem_of({stage("a", 300), stage("b", 120)}, 7);
  const SizeSolution s = solved(p);
  EXPECT_NEAR(s.period, 60, 1e-6);
  EXPECT_EQ(s.areas, (std::vector<double>{5, 2}));
  EXPECT_TRUE(check(p, s).empty());
}

TEST(Size, does_not_undercut_the_shortest_period) {
  SizeProblem p = problem_of({stage("a", 100)}, 1000);
  p.shortest = 4;
  EXPECT_EQ(solved(p).period, 4);
  EXPECT_EQ(solved(p).areas, (std::vector<double>{25}));
}

// 40 of the 50 lie outside: the region alone would give a period of 10.
TEST(Size, counts_what_lies_beside_the_region_against_the_whole_only) {
  SizeProblem p = problem_of({stage("kernel", 100), stage("fifo", 1, 40)}, 50);
  p.stages[1].in_region = false;
  p.region_area = 10;
  EXPECT_NEAR(solved(p).period, 10, 1e-6);
  p.region_area = 5;
  EXPECT_NEAR(solved(p).period, 20, 1e-6);
  p.area = 41;
  EXPECT_NEAR(solved(p).period, 100, 1e-6);
}

TEST(Size, a_stage_that_no_area_suffices_for_sets_the_period) {
  Sizable slow{"slow", [](double period) {
                 return period < 50 ? std::numeric_limits<double>::infinity() : 1;
               }};
  EXPECT_NEAR(solved(problem_of({slow, stage("a", 10)}, 100)).period, 50, 1e-6);
}

TEST(Size, says_what_is_lacking_and_which_stage_is_largest) {
  const auto result = size(problem_of({stage("a", 1, 30), stage("b", 1, 80)}, 100));
  const auto& no = std::get<SizeInfeasible>(result);
  EXPECT_EQ(no.needed, 110);
  EXPECT_EQ(no.available, 100);
  EXPECT_EQ(no.largest, "b");
  EXPECT_EQ(no.largest_area, 80);
}

TEST(SizeCheck, refuses_areas_that_do_not_suffice_and_periods_that_are_too_long) {
  const SizeProblem p = problem_of({stage("a", 300), stage("b", 120)}, 7);
  EXPECT_EQ(check(p, {60, {5, 1}}).at(0), "b takes an item every 60 in an area of 2, not of 1");
  EXPECT_EQ(check(p, {60, {9, 2}}).at(0), "areas add up to 11, there is 7");
  EXPECT_EQ(check(p, {120, {3, 1}}).at(0), "a period of 118.8 fits, shorter than 120");
  EXPECT_EQ(check(p, {60, {5}}).at(0), "1 areas for 2 stages");
}

RC_GTEST_PROP(Size, every_solution_passes_the_check, ()) {
  const auto works = *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 100000));
  std::vector<Sizable> stages;
  for (const int work : works) stages.push_back(stage("s", work));
  SizeProblem p = problem_of(std::move(stages), *rc::gen::inRange(1, 10000));
  p.stages.push_back(stage("beside", *rc::gen::inRange(1, 1000)));
  p.stages.back().in_region = false;
  p.region_area = *rc::gen::inRange(1, 10000);
  const auto result = size(p);
  if (const auto* s = std::get_if<SizeSolution>(&result)) {
    RC_ASSERT(check(p, *s).empty());
  } else {  // one unit of area each does not fit
    RC_ASSERT(static_cast<double>(p.stages.size()) > p.area ||
              static_cast<double>(works.size()) > p.region_area);
  }
}

}  // namespace
}  // namespace wafer::solve
