#pragma once

#include <utility>
#include <vector>

namespace wafer::report {

/// Where values of one direction lie on a page: logarithmic where they are positive and span more
/// than a factor of 20.
class Scale {
 public:
  /// Values from `least` to `most` go from `begin` to `end`, widened to whole ticks.
  Scale(double least, double most, double begin, double end);

  double place(double value) const;
  bool logarithmic() const { return logarithmic_; }
  /// Least and most value of the page.
  std::pair<double, double> range() const;
  /// Round values at most as many as fit with `apart` between two.
  std::vector<double> ticks(double apart) const;

 private:
  std::vector<double> decades(double apart) const;

  double begin_, end_, least_ = 0, most_ = 1, step_ = 1;
  bool logarithmic_ = false;
};

}  // namespace wafer::report
