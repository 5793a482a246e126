#pragma once

#include <cstdint>
#include <string>

#include "wafer/plan/plan.h"

namespace wafer::report {

/// Where a map stands: a file of its own, or a page, wide or narrow, whose style has map_style().
enum class MapPlace : uint8_t { File, Page, NarrowPage };

/// Where the kernels and FIFOs of a layer-pipelined plan lie on the wafer: one SVG that opens from
/// disk, light or dark as the reader's system is; names are text, and a pointer over a rectangle
/// tells all about it. Throws InputError for a plan of another mode, which has no such map.
std::string wafer_map_svg(const plan::Plan& plan, MapPlace place = MapPlace::File);

/// Colours of maps, as CSS: custom properties of the root, and what takes them.
std::string map_style();
/// Those of a map on paper.
std::string map_colours_on_light();

}  // namespace wafer::report
