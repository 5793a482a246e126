#pragma once

#include <string>
#include <string_view>

#include "wafer/models/spec.h"

namespace wafer::models {

/// Names of a family's parameters in transformers, without ".weight" and ".bias" where both may
/// be; those of a layer stand after "<layer><index>.".
struct Names {
  std::string_view word, positions, token_types, embedding_norm;
  std::string_view layer;
  std::string_view qkv;  ///< the three projections as one; empty: query, key and value
  std::string_view query, key, value, out;
  std::string_view attention_norm, mlp_norm;
  std::string_view gate, up, down;
  std::string_view final_norm, pooler;
  std::string_view head_dense, head_norm;  ///< before the output matrix of MaskedLm
  std::string_view output, output_bias;    ///< matrix to the vocabulary; whole name of its bias
  std::string_view classifier;
  bool classifier_bias = true;
  bool matrices_in_out = false;  ///< [in, out] in the layers (GPT-2); else [out, in]
  bool qkv_by_head = false;      ///< rows of qkv: head, then q, k, v (GPT-NeoX); else q, k, v
};

const Names& names_of(Naming naming);

}  // namespace wafer::models
