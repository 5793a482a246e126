#pragma once

#include <string>
#include <vector>

#include "wafer/report/table.h"
#include "wafer/study/compare.h"

namespace wafer::report {

/// A row a machine: rate, ratio to the first, times, energy, memory, how it is spread, what the
/// user has to set. Columns that no row has a value for are left out. With `whole` also reasons,
/// notes and what is extrapolated, which text() tells below the table.
Table compare_table(const std::vector<study::CompareRow>& rows, bool whole = false);

/// The comparison for people: the table, then of each machine why it has no answer and what its
/// answer rests on.
std::string text(const std::vector<study::CompareRow>& rows);

/// The comparison for programs, in SI units; docs/json.md lists the keys.
std::string json(const std::vector<study::CompareRow>& rows);

}  // namespace wafer::report
