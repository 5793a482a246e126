#pragma once

#include <string>
#include <vector>

#include "wafer/study/sweep.h"

namespace wafer::study {

/// The rows of a sweep that no other row beats: is at least as good in every objective and better
/// in one. Of rows equal in all of them the first is kept; rows without a number in one are not.
class ParetoFront {
 public:
  /// `objectives` are names of `columns`. Throws InputError for fewer than two, for one twice, for
  /// a name that is not there, and for one of which neither more nor less is better.
  ParetoFront(const std::vector<SweepColumn>& columns, const std::vector<std::string>& objectives);

  void add(const SweepRow& row);
  /// In the order of points.
  const std::vector<SweepRow>& rows() const { return rows_; }

 private:
  std::vector<size_t> at_;     ///< columns of the objectives
  std::vector<double> signs_;  ///< -1 where more is better
  std::vector<SweepRow> rows_;
  std::vector<std::vector<double>> costs_;  ///< of each row, less is better
};

}  // namespace wafer::study
