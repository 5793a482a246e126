#include "wafer/solve/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "wafer/base/error.h"

namespace wafer::solve {
namespace {

using Order = std::vector<size_t>;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t area_of(const PlaceProblem& problem) {
  int64_t sum = 0;
  for (const Block& block : problem.blocks) sum += block.area;
  return sum;
}

// Fills columns with blocks in an order.
class Snake {
 public:
  explicit Snake(const PlaceProblem& problem) : p_(problem) {}

  // Columns at most `widest` wide, or as wide as their only block needs. Nothing where they do not
  // fit next to each other.
  std::optional<std::vector<Rectangle>> lay(const Order& order, int64_t widest) const {
    std::vector<Rectangle> placed(order.size());
    int64_t x = 0;
    bool down = true;
    for (size_t begin = 0; begin < order.size(); down = !down) {
      const size_t end = column_end(order, begin, widest);
      const int64_t width = least_width(order, begin, end);
      if (x + width > p_.width) return std::nullopt;
      fill(order, begin, end, {x, 0, width, p_.height}, down, placed);
      x += width;
      begin = end;
    }
    return placed;
  }

 private:
  // Rows that blocks [begin, end) take in a column.
  int64_t rows(const Order& order, size_t begin, size_t end, int64_t width) const {
    int64_t sum = 0;
    for (size_t i = begin; i < end; ++i) sum += ceil_div(p_.blocks[order[i]].area, width);
    return sum;
  }

  // One past the last block that fits a column of that width; at least one is taken.
  size_t column_end(const Order& order, size_t begin, int64_t width) const {
    int64_t used = 0;
    size_t end = begin;
    while (end < order.size()) {
      used += ceil_div(p_.blocks[order[end]].area, width);
      if (used > p_.height && end > begin) break;
      ++end;
      if (used > p_.height) break;
    }
    return end;
  }

  int64_t least_width(const Order& order, size_t begin, size_t end) const {
    int64_t too_narrow = 0, enough = 1;
    while (rows(order, begin, end, enough) > p_.height) too_narrow = enough, enough *= 2;
    while (enough - too_narrow > 1) {
      const int64_t middle = (too_narrow + enough) / 2;
      (rows(order, begin, end, middle) > p_.height ? too_narrow : enough) = middle;
    }
    return enough;
  }

  void fill(const Order& order, size_t begin, size_t end, Rectangle column, bool down,
            std::vector<Rectangle>& placed) const {
    int64_t y = 0;
    for (size_t i = begin; i < end; ++i) {
      const int64_t height = ceil_div(p_.blocks[order[i]].area, column.width);
      const int64_t top = down ? y : column.height - y - height;
      placed[order[i]] = {column.x, top, column.width, height};
      y += height;
    }
  }

  const PlaceProblem& p_;
};

class Search {
 public:
  explicit Search(const PlaceProblem& problem) : p_(problem), snake_(problem) {
    order_.resize(problem.blocks.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
  }

  std::optional<PlaceSolution> run() {
    try_widths();
    if (best_) exchange_neighbours();
    return best_;
  }

 private:
  void try_widths() {
    int64_t last = 0;
    for (double w = 1; w < static_cast<double>(p_.width) * 1.03; w *= 1.03) {
      const int64_t widest = std::min(static_cast<int64_t>(w), p_.width);
      if (widest != last && improves(order_, widest)) widest_ = widest;
      last = widest;
    }
  }

  // Where the exchange of two blocks that follow each other shortens the wires, they stay so.
  void exchange_neighbours() {
    constexpr int MostRounds = 4;
    constexpr size_t MostBlocks = 2000;  // a round looks at all wires for each block
    if (order_.size() < 2 || order_.size() > MostBlocks) return;
    for (int round = 0; round < MostRounds; ++round) {
      bool any = false;
      for (size_t i = 0; i + 1 < order_.size(); ++i) {
        std::swap(order_[i], order_[i + 1]);
        if (improves(order_, widest_)) {
          any = true;
        } else {
          std::swap(order_[i], order_[i + 1]);
        }
      }
      if (!any) return;
    }
  }

  bool improves(const Order& order, int64_t widest) {
    std::optional<std::vector<Rectangle>> placed = snake_.lay(order, widest);
    if (!placed) return false;
    const double length = wire_length(p_, *placed);
    if (best_ && length >= best_->wire_length) return false;
    best_ = {std::move(*placed), length};
    return true;
  }

  const PlaceProblem& p_;
  const Snake snake_;
  Order order_;
  int64_t widest_ = 0;
  std::optional<PlaceSolution> best_;
};

void check_rectangle(const PlaceProblem& problem, size_t i, const Rectangle& r,
                     std::vector<std::string>& problems) {
  const Block& block = problem.blocks[i];
  if (r.width < 1 || r.height < 1 || r.area() < block.area) {
    problems.push_back(fmt::format("{} needs {} PEs, its rectangle is {} x {}", block.name,
                                   block.area, r.width, r.height));
  }
  if (r.x < 0 || r.y < 0 || r.right() > problem.width || r.bottom() > problem.height) {
    problems.push_back(
        fmt::format("{} sticks out of {} x {} PEs", block.name, problem.width, problem.height));
  }
}

}  // namespace

double wire_length(const PlaceProblem& problem, const std::vector<Rectangle>& rectangles) {
  double sum = 0;
  for (const Wire& wire : problem.wires) {
    const Rectangle& a = rectangles[wire.from];
    const Rectangle& b = rectangles[wire.to];
    const int64_t across = std::max(a.right(), b.right()) - std::min(a.x, b.x);
    const int64_t down = std::max(a.bottom(), b.bottom()) - std::min(a.y, b.y);
    sum += wire.weight * static_cast<double>(across + down);
  }
  return sum;
}

std::variant<PlaceSolution, PlaceInfeasible> place(const PlaceProblem& problem) {
  for (const Block& block : problem.blocks) WAFER_CHECK(block.area > 0, block.name);
  for (const Wire& wire : problem.wires) {
    WAFER_CHECK(wire.from < problem.blocks.size() && wire.to < problem.blocks.size());
  }
  const int64_t needed = area_of(problem), available = problem.width * problem.height;
  if (needed > available) return PlaceInfeasible{needed, available};
  std::optional<PlaceSolution> found = Search(problem).run();
  if (!found) return PlaceInfeasible{needed, available};
  return std::move(*found);
}

std::vector<std::string> check(const PlaceProblem& problem, const PlaceSolution& solution) {
  const std::vector<Rectangle>& all = solution.rectangles;
  if (all.size() != problem.blocks.size()) {
    return {fmt::format("{} rectangles for {} blocks", all.size(), problem.blocks.size())};
  }
  std::vector<std::string> problems;
  for (size_t i = 0; i < all.size(); ++i) {
    check_rectangle(problem, i, all[i], problems);
    for (size_t j = 0; j < i; ++j) {
      if (!all[i].overlaps(all[j])) continue;
      problems.push_back(
          fmt::format("{} overlaps {}", problem.blocks[i].name, problem.blocks[j].name));
    }
  }
  const double length = wire_length(problem, all);
  if (std::abs(length - solution.wire_length) > 1e-9 * (1 + length)) {
    problems.push_back(fmt::format("wires are {} long, not {}", length, solution.wire_length));
  }
  return problems;
}

}  // namespace wafer::solve
