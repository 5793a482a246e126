#include "wafer/solve/size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"

namespace wafer::solve {
namespace {

struct Areas {
  std::vector<double> each;
  double all = 0, in_region = 0;
};

Areas areas_at(const SizeProblem& problem, double period) {
  Areas areas;
  for (const Sizable& stage : problem.stages) {
    const double area = stage.area(period);
    areas.each.push_back(area);
    areas.all += area;
    if (stage.in_region) areas.in_region += area;
  }
  return areas;
}

bool fit(const SizeProblem& problem, const Areas& areas) {
  return areas.all <= problem.area && areas.in_region <= problem.region_area;
}

SizeInfeasible shortage(const SizeProblem& problem, const Areas& areas) {
  SizeInfeasible result;
  const bool region = areas.in_region > problem.region_area;
  result.needed = region ? areas.in_region : areas.all;
  result.available = region ? problem.region_area : problem.area;
  const auto largest = std::max_element(areas.each.begin(), areas.each.end());
  if (largest != areas.each.end()) {
    result.largest = problem.stages[static_cast<size_t>(largest - areas.each.begin())].name;
    result.largest_area = *largest;
  }
  return result;
}

}  // namespace

std::variant<SizeSolution, SizeInfeasible> size(const SizeProblem& problem) {
  WAFER_CHECK(problem.shortest > 0 && problem.shortest <= problem.longest);
  const Areas smallest = areas_at(problem, problem.longest);
  if (!fit(problem, smallest)) return shortage(problem, smallest);
  double fails = problem.shortest, fits = problem.longest;
  if (fit(problem, areas_at(problem, fails))) fits = fails;
  while (fits > fails * (1 + 1e-9)) {
    const double middle = std::sqrt(fails) * std::sqrt(fits);
    if (middle <= fails || middle >= fits) break;
    (fit(problem, areas_at(problem, middle)) ? fits : fails) = middle;
  }
  return SizeSolution{fits, areas_at(problem, fits).each};
}

std::vector<std::string> check(const SizeProblem& problem, const SizeSolution& solution) {
  std::vector<std::string> problems;
  if (solution.areas.size() != problem.stages.size()) {
    return {fmt::format("{} areas for {} stages", solution.areas.size(), problem.stages.size())};
  }
  Areas given{.each = solution.areas, .all = 0, .in_region = 0};
  for (size_t i = 0; i < problem.stages.size(); ++i) {
    const Sizable& stage = problem.stages[i];
    given.all += solution.areas[i];
    if (stage.in_region) given.in_region += solution.areas[i];
    const double least = stage.area(solution.period);
    if (solution.areas[i] >= least) continue;
    problems.push_back(fmt::format("{} takes an item every {} in an area of {}, not of {}",
                                   stage.name, solution.period, least, solution.areas[i]));
  }
  if (given.all > problem.area) {
    problems.push_back(fmt::format("areas add up to {}, there is {}", given.all, problem.area));
  }
  if (given.in_region > problem.region_area) {
    problems.push_back(fmt::format("areas of the region add up to {}, it has {}", given.in_region,
                                   problem.region_area));
  }
  const double shorter = solution.period * 0.99;
  if (shorter >= problem.shortest && fit(problem, areas_at(problem, shorter))) {
    problems.push_back(
        fmt::format("a period of {} fits, shorter than {}", shorter, solution.period));
  }
  return problems;
}

}  // namespace wafer::solve
