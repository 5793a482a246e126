#pragma once

#include <string>

#include "wafer/plan/plan.h"

namespace wafer::report {

/// Where the kernels and FIFOs of a layer-pipelined plan lie on the wafer: one SVG that opens from
/// disk, light or dark as the reader's system is; names are text, and a pointer over a rectangle
/// tells all about it. Throws InputError for a plan of another mode, which has no such map.
std::string wafer_map_svg(const plan::Plan& plan);

}  // namespace wafer::report
