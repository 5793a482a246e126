#pragma once

#include "wafer/ir/graph.h"

namespace wafer::importers {

/// Scores that get this or less added count as hidden: softmax makes them 0.
inline constexpr double LargestHidden = -1e4;

/// Whether v, a float to add to scores [.., S, T] or a bool that tells which are seen, depends on
/// no input of the function and hides exactly the keys j > i + (T - S), for every value of its
/// other dimensions. Looks at intervals of blocks, not at elements: S = 8192 costs what S = 64
/// does, near enough. Says no where it cannot follow.
bool is_causal_mask(const ir::Function& function, ir::ValueId v);

}  // namespace wafer::importers
