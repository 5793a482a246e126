#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wafer/report/chart.h"
#include "wafer/study/dossier.h"

namespace wafer::report {

/// A rate that can go with the batch.
struct Rate {
  const char* name;  ///< "samples/s"
  const char* key;   ///< "samples_per_second"
  std::optional<double> (*of)(const study::Result&);
};
/// Those that the answer has: samples/s, and tokens/s of what generates.
std::vector<Rate> rates_of(const study::Result& result);

// The charts of a report. Each is absent where there is nothing to show.

/// A rate against the batch, a line a machine, with the band of its expected error.
std::optional<LineChart> throughput_chart(const study::Dossier& dossier, const Rate& rate);
/// Roofs of SRAM and of the wafer's edge, the step under both, and layers under the latter. Of a
/// cluster: peak and memory of one GPU, the step and its layers at their traffic through it.
std::optional<LineChart> roofline_chart(const study::Dossier& dossier);
/// Bars for the rows of time_table(), a chart for each of its times; of a cluster also its layers.
std::vector<BarChart> time_charts(const study::Result& result);
/// How full each place is, as shares of its capacity.
std::optional<BarChart> memory_chart(const study::Result& result);
/// Samples/s of each machine, with whiskers of the expected error.
std::optional<BarChart> compare_chart(const std::vector<study::CompareRow>& rows);

}  // namespace wafer::report
