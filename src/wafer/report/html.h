#pragma once

#include <string>

#include "wafer/study/dossier.h"

namespace wafer::report {

/// What a report says of itself.
struct HtmlOptions {
  std::string command;  ///< that makes it again
  std::string version;
};

/// A report as one HTML file: it needs no network and runs no script. Light and dark by the
/// reader's preference; on paper light. The same for the same dossier.
std::string html(const study::Dossier& dossier, const HtmlOptions& options);

/// Every number of it for programs, as it lies in the file: {answer, comparison, throughput,
/// validation}; docs/json.md lists the keys.
std::string json(const study::Dossier& dossier);

}  // namespace wafer::report
