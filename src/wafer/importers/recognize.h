#pragma once

#include "wafer/ir/graph.h"

namespace wafer::importers {

/// All passes below, in order.
ir::Graph recognize_all(const ir::Graph& graph);

/// Without ops whose results nothing uses (effects aside).
ir::Graph drop_unused(const ir::Graph& graph);

}  // namespace wafer::importers
