#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "wafer/base/rectangle.h"

namespace wafer::solve {

/// A thing that becomes a rectangle of any shape.
struct Block {
  std::string name;
  int64_t area = 1;  ///< PEs that it needs
};

/// Data that goes from one block to another.
struct Wire {
  size_t from = 0, to = 0;  ///< of PlaceProblem::blocks
  double weight = 1;        ///< what a PE of its length costs
};

/// Blocks in the order of the pipeline, to lie on width x height PEs.
struct PlaceProblem {
  int64_t width = 1, height = 1;
  std::vector<Block> blocks;
  std::vector<Wire> wires;
};

struct PlaceSolution {
  std::vector<Rectangle> rectangles;  ///< of each block
  double wire_length = 0;             ///< see wire_length()
};

/// No placement was found.
struct PlaceInfeasible {
  int64_t needed = 0;     ///< PEs of all blocks
  int64_t available = 0;  ///< PEs that there are
};

/// Disjoint rectangles with little wiring: the blocks in their order fill columns of the wafer, one
/// down, the next up; the width of these columns, and then the order of neighbours, are what is
/// searched. Deterministic. Finds none where rounding to whole rows and columns leaves no room
/// though the areas alone would fit.
std::variant<PlaceSolution, PlaceInfeasible> place(const PlaceProblem& problem);

/// Sum over wires of weight x half the perimeter of the smallest rectangle around the two blocks,
/// in PEs: what a wire inside a long thin block costs counts too.
double wire_length(const PlaceProblem& problem, const std::vector<Rectangle>& rectangles);

/// What is wrong with a solution, one a line: a rectangle that is too small, sticks out or overlaps
/// another, a wrong wire length. Empty when it holds.
std::vector<std::string> check(const PlaceProblem& problem, const PlaceSolution& solution);

}  // namespace wafer::solve
