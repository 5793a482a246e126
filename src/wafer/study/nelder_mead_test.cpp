#include "wafer/study/nelder_mead.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wafer::study {
namespace {

// Rosenbrock's valley: least at (1, 1), where it is 0.
double rosenbrock(std::span<const double> x) {
  return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
}

TEST(NelderMead, finds_the_bottom_of_rosenbrocks_valley) {
  const std::vector<double> start = {-1.2, 1};
  const Minimum found = nelder_mead(rosenbrock, start);
  EXPECT_NEAR(found.at[0], 1, 1e-4);
  EXPECT_NEAR(found.at[1], 1, 1e-4);
  EXPECT_NEAR(found.value, 0, 1e-8);
}

TEST(NelderMead, finds_a_minimum_at_a_kink) {
  const auto distances = [](std::span<const double> x) {
    return std::abs(x[0] - 2) + std::abs(x[1] + 3) + std::abs(x[2]);
  };
  const std::vector<double> start = {0, 0, 1};
  const Minimum found = nelder_mead(distances, start);
  EXPECT_NEAR(found.value, 0, 1e-3);
}

TEST(NelderMead, stops_at_the_evaluations_allowed) {
  const std::vector<double> start = {-1.2, 1};
  const Minimum found = nelder_mead(rosenbrock, start, {.most_evaluations = 20});
  EXPECT_LE(found.evaluations, 24) << "a last step may take as many as there are vertices and one";
}

TEST(NelderMead, gives_the_same_result_for_the_same_input) {
  const std::vector<double> start = {0.3, -2};
  EXPECT_EQ(nelder_mead(rosenbrock, start).at, nelder_mead(rosenbrock, start).at);
}

}  // namespace
}  // namespace wafer::study
