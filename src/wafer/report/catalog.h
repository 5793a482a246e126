#pragma once

#include <span>
#include <string>

#include "wafer/report/table.h"
#include "wafer/study/catalog.h"

namespace wafer::report {

/// Built-in networks, one a row.
Table catalog_table(std::span<const study::KnownModel> models);
/// The same as an array of objects.
std::string json(std::span<const study::KnownModel> models);

}  // namespace wafer::report
