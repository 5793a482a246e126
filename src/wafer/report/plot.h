#pragma once

#include <string>
#include <utility>
#include <vector>

namespace wafer::report {

/// Points that belong together.
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x, y; finite
};

struct PlotAxis {
  std::string name;  ///< "batch"
  std::string unit;  ///< "s"; empty for a plain number
};

/// A chart of lines with a mark at each point.
struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<Series> series;
};

/// The chart as one SVG file: axes logarithmic where values are positive and span more than a
/// factor of 20, light and dark by the reader's preference, text as text. The same for the same
/// plot.
std::string svg(const Plot& plot);

}  // namespace wafer::report
