#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace wafer::solve {

/// A stage of a pipeline whose area is to be chosen.
struct Sizable {
  std::string name;
  /// Least area in which it takes one item every `period`. The area must not grow with the period;
  /// infinite where no area is enough.
  std::function<double(double period)> area;
  bool in_region = true;  ///< it counts against the area of the region too
};

/// All stages take an item every period; which is the shortest at which their areas fit?
/// Periods may be of any unit of time.
struct SizeProblem {
  std::vector<Sizable> stages;
  double shortest = 1;     ///< period that is not undercut, room or not
  double longest = 1e15;   ///< period beyond which is not looked
  double area = 0;         ///< for all stages together
  double region_area = 0;  ///< for those in the region
};

struct SizeSolution {
  double period = 0;
  std::vector<double> areas;  ///< of each stage, at that period
};

/// Even at the longest period the stages do not fit.
struct SizeInfeasible {
  double needed = 0;     ///< area of all stages, or of those in the region
  double available = 0;  ///< of the same
  std::string largest;   ///< the stage with the largest area
  double largest_area = 0;
};

/// The shortest period, to one part in 10^9, found by halving the interval.
std::variant<SizeSolution, SizeInfeasible> size(const SizeProblem& problem);

/// What is wrong with a solution, one a line: areas that do not suffice or do not fit, a period
/// that could be a hundredth shorter. Empty when it holds.
std::vector<std::string> check(const SizeProblem& problem, const SizeSolution& solution);

}  // namespace wafer::solve
