#pragma once

#include <optional>

#include "wafer/models/blocks.h"
#include "wafer/models/rotary.h"

namespace wafer::models {

/// What all layers read besides their parameters; invalid where a network has none.
struct LayerContext {
  ValueId mask;  ///< added to the scores, [B|1, 1, S|1, S]
  std::optional<RotaryTables> rotary;
  ValueId scale;  ///< scalar that queries are multiplied by
};

/// One transformer layer on x [B, S, hidden]; its parameters become inputs of b's function, named
/// as within a layer of the published network. Scopes: "attention/query", "mlp/up", ...
ValueId transformer_layer(Builder& b, const TransformerSpec& spec, ValueId x,
                          const LayerContext& context);

}  // namespace wafer::models
