#include "wafer/study/pareto.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

std::vector<SweepColumn> columns() {
  return {{.name = "batch", .unit = {}},
          {.name = "rate", .unit = {}, .better = Better::More},
          {.name = "energy", .unit = {}, .better = Better::Less},
          {.name = "cost", .unit = {}, .better = Better::Less}};
}

// The batches of the front of rows (batch, rate, energy, cost).
std::vector<int64_t> front(const std::vector<std::array<double, 4>>& rows,
                           const std::vector<std::string>& objectives) {
  ParetoFront front(columns(), objectives);
  for (const auto& row : rows) {
    front.add({.index = 0, .values = {static_cast<int64_t>(row[0]), row[1], row[2], row[3]}});
  }
  std::vector<int64_t> batches;
  for (const SweepRow& row : front.rows()) batches.push_back(std::get<int64_t>(row.values[0]));
  return batches;
}

using Batches = std::vector<int64_t>;

// 1 is beaten by 2 (faster, same energy), 4 by 3 (faster, less energy); 2 and 3 trade.
TEST(Pareto, keeps_what_no_other_beats) {
  EXPECT_EQ(
      front({{1, 10, 5, 0}, {2, 12, 5, 0}, {3, 20, 9, 0}, {4, 15, 10, 0}}, {"rate", "energy"}),
      (Batches{2, 3}));
}

TEST(Pareto, does_not_depend_on_the_order) {
  EXPECT_EQ(
      front({{4, 15, 10, 0}, {3, 20, 9, 0}, {2, 12, 5, 0}, {1, 10, 5, 0}}, {"rate", "energy"}),
      (Batches{3, 2}));
}

TEST(Pareto, keeps_the_first_of_equals) {
  EXPECT_EQ(front({{1, 10, 5, 0}, {2, 10, 5, 0}}, {"rate", "energy"}), Batches{1});
}

// 2 loses to 1 in rate and energy and is kept for its cost.
TEST(Pareto, takes_more_than_two_objectives) {
  const std::vector<std::array<double, 4>> rows = {{1, 10, 5, 3}, {2, 9, 6, 1}, {3, 9, 6, 2}};
  EXPECT_EQ(front(rows, {"rate", "energy"}), Batches{1});
  EXPECT_EQ(front(rows, {"rate", "energy", "cost"}), (Batches{1, 2}));
}

TEST(Pareto, leaves_out_rows_without_a_number) {
  ParetoFront front(columns(), {"rate", "energy"});
  front.add({.index = 0, .values = {int64_t{1}, Value(), 5.0, 0.0}});
  EXPECT_TRUE(front.rows().empty());
}

TEST(Pareto, refuses_objectives_that_are_none) {
  EXPECT_THROW(ParetoFront(columns(), {"rate"}), InputError);
  EXPECT_THROW(ParetoFront(columns(), {"rate", "rate"}), InputError);
  EXPECT_THROW(ParetoFront(columns(), {"rate", "batch"}), InputError);
  EXPECT_THROW(ParetoFront(columns(), {"rate", "enrgy"}), InputError);
}

}  // namespace
}  // namespace wafer::study
