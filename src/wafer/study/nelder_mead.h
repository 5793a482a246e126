#pragma once

#include <functional>
#include <span>
#include <vector>

namespace wafer::study {

struct Minimum {
  std::vector<double> at;
  double value = 0;
  int evaluations = 0;
};

struct NelderMeadOptions {
  double first_step = 0.25;  ///< edge of the first simplex
  double tolerance = 1e-6;   ///< ends when the simplex and its values are as close as this
  int most_evaluations = 500;
};

/// A local minimum of `f` near `start`, without derivatives; a function with kinks is no obstacle,
/// and the same input gives the same result. **Source:** Nelder and Mead, The Computer Journal 7
/// (1965) 308, with the usual coefficients 1, 2, 1/2, 1/2.
Minimum nelder_mead(const std::function<double(std::span<const double>)>& f,
                    std::span<const double> start, const NelderMeadOptions& options = {});

}  // namespace wafer::study
