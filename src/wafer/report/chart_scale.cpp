#include "wafer/report/chart_scale.h"

#include <algorithm>
#include <cmath>

namespace wafer::report {
namespace {

constexpr double LogarithmicFrom = 20;  // most / least
constexpr double Parts = 5;             // of a linear scale, about

// The next of 1, 2, 5, 10, ... above.
double nice(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (step <= digit * power * (1 + 1e-9)) return digit * power;
  }
  return 10 * power;
}

// Every n-th, so that there is room for each.
std::vector<double> thinned(const std::vector<double>& all, double length, double apart) {
  const auto most = static_cast<size_t>(std::max(2.0, length / apart + 1));
  const size_t every = (all.size() + most - 1) / most;
  std::vector<double> some;
  for (size_t i = 0; i < all.size(); i += every) some.push_back(all[i]);
  return some;
}

}  // namespace

Scale::Scale(double least, double most, double begin, double end) : begin_(begin), end_(end) {
  logarithmic_ = least > 0 && most / least > LogarithmicFrom;
  if (logarithmic_) {
    least_ = std::floor(std::log10(least) * 4) / 4;
    most_ = std::ceil(std::log10(most) * 4) / 4;
    return;
  }
  if (least > 0 && least < most / 2) least = 0;
  if (least == most) {
    least -= std::abs(least) / 2 + (least == 0 ? 1 : 0);
    most += std::abs(most) / 2;
  }
  step_ = nice((most - least) / Parts);
  least_ = std::floor(least / step_ + 1e-9) * step_;
  most_ = std::ceil(most / step_ - 1e-9) * step_;
  if (most_ <= least_) most_ = least_ + step_;
}

double Scale::place(double value) const {
  const double v = logarithmic_ ? std::log10(value) : value;
  return begin_ + (v - least_) / (most_ - least_) * (end_ - begin_);
}

std::pair<double, double> Scale::range() const {
  if (!logarithmic_) return {least_, most_};
  return {std::pow(10, least_), std::pow(10, most_)};
}

std::vector<double> Scale::ticks(double apart) const {
  if (logarithmic_) return decades(apart);
  std::vector<double> all;
  const auto count = static_cast<int>(std::lround((most_ - least_) / step_));
  for (int i = 0; i <= count; ++i) all.push_back(least_ + i * step_);
  return thinned(all, std::abs(end_ - begin_), apart);
}

// One a decade, or 1, 2 and 5 of each where there are few.
std::vector<double> Scale::decades(double apart) const {
  const bool few = most_ - least_ < 2.6;
  std::vector<double> all;
  for (double d = std::floor(least_); d <= most_; ++d) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (digit != 1 && !few) continue;
      const double at = std::log10(digit) + d;
      if (at >= least_ - 1e-9 && at <= most_ + 1e-9) all.push_back(digit * std::pow(10, d));
    }
  }
  return thinned(all, std::abs(end_ - begin_), apart);
}

}  // namespace wafer::report
