#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wafer::report {

/// Points that belong together, and how they are drawn.
struct Series {
  enum class Style : uint8_t {
    Marked,  ///< a line with a mark at each point
    Line,    ///< a line alone, its name along it: a roof, a limit
    Marks,   ///< marks alone
  };
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x, y; finite
  Style style = Style::Marked;
  double error = 0;                     ///< relative, of y: a band around the line where above 0
  std::vector<std::string> words = {};  ///< of the points of Marks, one each, beside them
};

struct ChartAxis {
  std::string name;                                     ///< "batch"
  std::string unit;                                     ///< "s"; empty for a plain number
  std::vector<double> ticks = {};                       ///< empty: chosen
  std::optional<std::pair<double, double>> range = {};  ///< absent: that of the points
};

/// Lines and marks over two axes, each logarithmic where its values are positive and span more than
/// a factor of 20.
struct LineChart {
  std::string title;
  std::string about;  ///< what is to be seen, for those who do not see it
  ChartAxis x, y;
  std::vector<Series> series;
};

/// Bars of parts, one below the other, all from 0 on one scale.
struct BarChart {
  struct Part {
    size_t kind = 0;  ///< of `kinds`
    double value = 0;
    std::string words = {};  ///< when pointed at; empty: kind and value
  };
  struct Bar {
    std::string name;
    std::vector<Part> parts;
    std::string words;                 ///< at its end
    std::optional<double> limit = {};  ///< what it may be at most: a track behind it
    double error = 0;                  ///< relative, of the sum: a whisker where above 0
  };
  std::string title;
  std::string about;
  std::string unit;
  std::vector<std::string> kinds;  ///< each a colour; named in a legend where there are several
  std::vector<Bar> bars;
};

/// Where a chart will stand.
struct ChartPlace {
  double width = 860;
  double height = 480;   ///< of bars: what they need
  bool own_file = true;  ///< with its own style and title; in a page chart_style() is the page's
};

/// The chart as SVG, text as text, light and dark by the reader's preference. The same for the same
/// chart.
std::string svg(const LineChart& chart, const ChartPlace& place = {});
std::string svg(const BarChart& chart, const ChartPlace& place = {});

/// Colours and lines of charts, as CSS.
std::string chart_style();

}  // namespace wafer::report
