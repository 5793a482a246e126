#include "wafer/report/sweep_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/base/nearest.h"

namespace wafer::report {
namespace {

using study::Axis;
using study::SweepColumn;

size_t column_named(const std::vector<SweepColumn>& columns, const std::string& name,
                    const char* option) {
  std::vector<std::string> names;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
    names.push_back(columns[i].name);
  }
  const std::string meant = nearest(name, names);
  throw InputError(fmt::format("{}: no axis or key \"{}\"{}; there are {}", option, name,
                               meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
                               fmt::join(names, ", ")));
}

// The axis that a plot goes along: the one named, or the first with several numbers.
std::optional<size_t> axis_of(const std::vector<Axis>& axes, const std::string& name) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool fits = name.empty() ? axes[i].size() > 1 : axes[i].name() == name;
    if (fits && axes[i].has_numbers()) return i;
  }
  return std::nullopt;
}

}  // namespace

SweepPlot::SweepPlot(const study::SweepRequest& request, const std::string& x, const std::string& y)
    : request_(request), columns_(study::columns_of(request)), x_axis_(axis_of(request.axes, x)) {
  y_ = column_named(columns_, y, "--y");
  plot_.y = {.name = y, .unit = columns_[y_].unit};
  plot_.title = request.question.model;
  if (x_axis_) {
    plot_.x = {.name = request.axes[*x_axis_].name(), .unit = ""};
    return;
  }
  if (x.empty()) throw InputError("--plot: expected an axis with several numbers, or --x KEY");
  x_ = column_named(columns_, x, "--x");
  plot_.x = {.name = x, .unit = columns_[x_].unit};
}

std::string SweepPlot::series_of(const study::SweepRow& row) const {
  const std::vector<uint64_t> at = study::places_of(request_, row.index);
  std::vector<std::string> words;
  for (size_t i = 0; i < at.size(); ++i) {
    const Axis& axis = request_.axes[i];
    if (i == x_axis_ || axis.size() == 1) continue;
    words.push_back(axis.has_numbers() ? fmt::format("{} {}", axis.name(), axis.word(at[i]))
                                       : axis.word(at[i]));
  }
  return words.empty() ? request_.question.model : fmt::format("{}", fmt::join(words, ", "));
}

void SweepPlot::add(const study::SweepRow& row) {
  const std::optional<double> x =
      x_axis_ ? request_.axes[*x_axis_].number(study::places_of(request_, row.index)[*x_axis_])
              : study::number_of(row.values[x_]);
  const std::optional<double> y = study::number_of(row.values[y_]);
  if (!x || !y || !std::isfinite(*x) || !std::isfinite(*y)) return;
  // Along a key rather than an axis, every point is of one cloud, or front.
  const std::string name = x_axis_ ? series_of(row) : request_.question.model;
  const auto [place, is_new] = place_.emplace(name, plot_.series.size());
  if (is_new) plot_.series.push_back({.name = name, .points = {}});
  plot_.series[place->second].points.emplace_back(*x, *y);
}

LineChart SweepPlot::plot() const {
  LineChart plot = plot_;
  for (Series& series : plot.series) std::sort(series.points.begin(), series.points.end());
  return plot;
}

}  // namespace wafer::report
