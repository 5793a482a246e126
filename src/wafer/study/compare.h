#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wafer/study/attempt.h"
#include "wafer/study/workbench.h"

namespace wafer::study {

/// What a user has to write and to set for a run, beside the network itself.
struct Effort {
  /// Settings of the distribution that the script must state. On GPUs: those of the chosen plan
  /// that differ from what one GPU runs with (tensor, pipeline and data parallel degree,
  /// interleaving, sequence parallelism, sharding, micro-batch, recompute). On a wafer: those that
  /// the question pins, since the compiler chooses the rest.
  std::vector<std::string> knobs;
  /// Lines of the public code that trains a GPT on such a machine; absent for other networks and
  /// where no count is published. **Source:** README of github.com/Cerebras/gigaGPT, "Codebase
  /// comparison": gigaGPT 565 (one wafer or many), nanoGPT 639 (GPUs, data parallel), Megatron-LM
  /// 20,507 (GPUs, tensor and pipeline parallel).
  std::optional<int> lines;
};

/// One machine of a comparison.
struct CompareRow {
  Contender contender;
  Attempt attempt;
  std::vector<std::string> notes{};  ///< what was asked differently of this machine, in words
  std::optional<Headroom> headroom{};
  std::optional<Effort> effort{};
  std::optional<double> ratio{};  ///< its samples/s to those of the first row that has any
};

/// The question put to each machine, in the order given. A machine that cannot do it has a row that
/// says why. What only one kind of machine knows is asked of that kind alone: pins of a cluster and
/// --mode; unstructured sparsity, which saves a GPU nothing, is computed dense there, with a note.
/// Throws InputError for a list without machines, a machine that is not there, a price of another
/// machine and a model that cannot be opened; where no machine can do it, CapacityError (InputError
/// where none is for lack of room) with all reasons.
std::vector<CompareRow> compare(const Question& question, const std::vector<Contender>& machines,
                                Workbench& bench);

}  // namespace wafer::study
