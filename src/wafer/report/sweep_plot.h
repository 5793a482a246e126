#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wafer/report/chart.h"
#include "wafer/study/sweep.h"

namespace wafer::report {

/// Points of a plot at most.
inline constexpr uint64_t MostPlotted = 20'000;

/// Gathers the rows of a sweep for a plot: one line for each combination of the axes that are not
/// x.
class SweepPlot {
 public:
  /// `x` is an axis with numbers or a column, `y` a column. Throws InputError for one that is not
  /// there or has no numbers; for an empty `x` where there is no axis with numbers.
  SweepPlot(const study::SweepRequest& request, const std::string& x, const std::string& y);

  void add(const study::SweepRow& row);
  LineChart plot() const;

 private:
  std::string series_of(const study::SweepRow& row) const;

  const study::SweepRequest& request_;
  std::vector<study::SweepColumn> columns_;
  std::optional<size_t> x_axis_;
  size_t x_ = 0, y_ = 0;  ///< columns
  std::map<std::string, size_t> place_;
  LineChart plot_;
};

}  // namespace wafer::report
