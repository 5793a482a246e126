#pragma once

#include "wafer/models/blocks.h"

namespace wafer::models {

/// What a head reads.
struct HeadInputs {
  ValueId hidden;      ///< [B, S, D], after the final norm
  ValueId word_table;  ///< [vocab, D]; invalid for images
  int64_t masked = 0;  ///< predicted tokens per sequence of MaskedLm; 0: all
  bool train = true;
};

/// Emits the head of `spec` and, in training, its loss, with the inputs that they need; adds the
/// outputs to b's function.
void build_head(Builder& b, const TransformerSpec& spec, const HeadInputs& inputs);

}  // namespace wafer::models
