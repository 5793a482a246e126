#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "wafer/study/answer_keys.h"
#include "wafer/study/axis.h"
#include "wafer/study/question.h"

namespace wafer::study {

/// More points than this are refused.
inline constexpr uint64_t MostPoints = 10'000'000;

/// Points whose rows are held at once: enough that those of one network come together wherever
/// their axis stands, and some megabytes.
inline constexpr uint64_t MostHeld = 4096;

/// Every combination of the values of some axes, the last axis turning fastest.
struct SweepRequest {
  Question question;  ///< what no axis says
  std::vector<Axis> axes;
  int threads = 0;  ///< 0: as many as this machine has cores
};

/// The columns of a sweep: a name, and which of two values one would rather have.
struct SweepColumn {
  std::string name;
  std::string unit;
  Better better = Better::Neither;
  bool of_machine = false;  ///< an axis that is a number of a machine
};

/// One point: a value for each column.
struct SweepRow {
  uint64_t index = 0;  ///< in the order of points
  std::vector<Value> values;
};

/// What was done for a sweep.
struct SweepCounts {
  uint64_t points = 0;
  uint64_t answered = 0;
  uint64_t no_room = 0;   ///< that do not fit
  uint64_t refused = 0;   ///< whose question is wrong
  uint64_t networks = 0;  ///< built and analysed
};

/// Points of a request. Throws InputError for one without axes, with an axis twice, and with more
/// than MostPoints.
uint64_t points_of(const SweepRequest& request);

/// Where the point of an index stands on each axis.
std::vector<uint64_t> places_of(const SweepRequest& request, uint64_t index);

/// Columns of its rows: numbers of machines that are axes, answer_keys(), and "reason", why there
/// is no answer.
std::vector<SweepColumn> columns_of(const SweepRequest& request);

/// Answers every point and hands the rows to `take` in order, from the calling thread; `progress`
/// (may be empty) gets how many are done, of how many. A point that cannot be answered has a reason
/// and stops nothing. Rows do not depend on the number of threads; no more than MostHeld rows
/// are held, so that memory does not grow with the number of points. Throws what points_of()
/// throws, InputError for what no point can be asked (an unknown machine of an axis is a reason),
/// and what `take` throws.
SweepCounts sweep(const SweepRequest& request, const std::function<void(SweepRow)>& take,
                  const std::function<void(size_t, size_t)>& progress = {});

}  // namespace wafer::study
