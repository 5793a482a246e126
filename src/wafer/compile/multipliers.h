#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "wafer/compile/sections.h"
#include "wafer/ir/graph.h"

namespace wafer::compile {

/// Parameters that products of a section multiply by, as they are or moved about: index into
/// main.inputs -> name of the kernel of that product. Of a repeated section, those of its first
/// layer.
std::map<size_t, std::string> multipliers_of(const ir::Graph& graph, const Section& section);

}  // namespace wafer::compile
