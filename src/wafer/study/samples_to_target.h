#pragma once

#include <map>
#include <string>

#include "wafer/study/csv.h"
#include "wafer/study/question.h"

namespace wafer::study {

/// Batch size against the samples that training takes to a stated quality, as somebody measured it:
/// larger batches need more of them. What hardware does for time to quality is throughput over
/// this.
struct SamplesToTarget {
  struct Point {
    double samples = 0;
    std::string source;
  };
  std::string target;               ///< the quality, in words
  std::map<int64_t, Point> points;  ///< by batch
};

/// From a CSV file with the columns batch, samples, target and source; others are ignored. Throws
/// InputError with all lines that cannot be read, that repeat a batch, or that name another target
/// than the first.
SamplesToTarget samples_to_target(const Csv& csv);

/// What a question names: a number of samples; a curve of validation/samples-to-target/, without
/// its ending; or the path of a CSV file. Of a curve, the samples at `batch` lie on a straight line
/// between its neighbours, in logarithms. Throws InputError where nothing has that name, and for a
/// batch outside the curve: nobody measured it.
Target target_of(const std::string& name, int64_t batch);

}  // namespace wafer::study
