#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/base/dtype.h"
#include "wafer/ir/graph.h"
#include "wafer/models/spec.h"

namespace wafer::models {

struct BuildOptions {
  int64_t seq_len = 0;         ///< tokens per sequence; 0: the model's default
  DType dtype = DType::F16;    ///< of parameters and activations: f64, f32, f16, bf16 or cb16
  bool train = true;           ///< labels in, "loss" out; else the head's logits out
  int64_t masked_tokens = -1;  ///< per sequence, of MaskedLm: -1 masked_tokens_for, 0 all positions
};

/// The forward graph, with the symbolic dimension `batch` and all other dimensions static.
/// Layers of one shape are one function called many times, each call labelled "layer.<i>".
///
/// Inputs of role Data, in i32 unless said: input_ids [batch, seq], token_type_ids and
/// attention_mask [batch, seq] where the published model has them, or pixel_values
/// [batch, channels, height, width] in dtype; masked_positions [batch, masked] for MaskedLm;
/// in training also labels: [batch, seq] the token that follows each position (LanguageModel),
/// [batch, masked], [batch, seq] or [batch] for the others, and next_sentence_label [batch] for
/// Pretraining, start_positions and end_positions [batch] for QuestionAnswering. A label of -100
/// counts for nothing. Parameters have the names and shapes of transformers and torchvision.
///
/// Outputs: in training "loss", f32[], the mean over the labels that count (the sum of both means
/// for Pretraining, their mean for QuestionAnswering); else "logits" (and
/// "seq_relationship_logits" for Pretraining; "last_hidden_state", "pooler_output" for None).
///
/// Dropout is left out: it is identity in inference, and in training no cost worth counting.
/// Throws InputError where the options do not fit the model.
ir::Graph build(const ModelSpec& spec, const BuildOptions& options = {});

/// The model of a name or free form:
///   bert-large                                       a name of catalog()
///   gpt:layers=..,hidden=..,heads=..,vocab=..        and bert:, llama: (shapes from scratch)
///   gpt2:seq=2048                                    a name with shapes changed
/// Optional keys: ffn, seq, kv_heads. Throws InputError naming what is unknown, missing or absurd,
/// with the nearest that exists.
ModelSpec parse(std::string_view text);
ir::Graph build(std::string_view text, const BuildOptions& options = {});

struct CatalogEntry {
  ModelSpec spec;
  std::string source;  ///< of its shape
};
/// Every built-in model, in the order of docs/models.md.
std::vector<CatalogEntry> catalog();

/// Tokens per sequence of the graph that build() makes: of images, their patches and class token;
/// 1 for a network that has no sequence.
int64_t sequence_length(const ModelSpec& spec, const BuildOptions& options = {});

/// Predicted tokens per sequence of a masked language model: 20 of 128, 80 of 512 and in between
/// likewise. **Source:** max_predictions_per_seq of the BERT configurations of Cerebras ModelZoo
/// (MSL 128 and 512) and of NVIDIA DeepLearningExamples; 15 % are masked, rounded up.
int64_t masked_tokens_for(int64_t seq_len);

/// Elements of all parameters of main, each counted once.
int64_t parameter_count(const ir::Graph& graph);
/// Of a network without its head, where it has one that is counted so (encoders): for BERT,
/// embeddings, layers and pooler.
std::optional<int64_t> encoder_parameters(const ModelSpec& spec);

}  // namespace wafer::models
