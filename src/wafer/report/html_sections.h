#pragma once

#include <optional>
#include <string>

#include "wafer/report/html_parts.h"
#include "wafer/study/dossier.h"

namespace wafer::report {

/// "4 x wse3"; "layer pipeline"; whether it trains.
std::string machine_words(const study::Result& result);
std::string mode_words(const study::Result& result);
/// " for each of 8"; nothing of one.
std::string each_of(const study::Result& result);
bool is_training(const study::Result& result);

// Sections of a report about its own answer; absent where there is nothing to show.

/// Rates and times in large type, each with its error, and what was asked and chosen.
Section summary_section(const study::Dossier& dossier);
Section time_section(const study::Result& result);
std::optional<Section> memory_section(const study::Result& result);
/// What zeros in the weights gain.
std::optional<Section> sparsity_section(const study::Result& result);
/// Where the kernels of a pipeline lie, and what each takes.
std::optional<Section> map_section(const study::Dossier& dossier);

}  // namespace wafer::report
