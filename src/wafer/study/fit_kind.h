#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wafer/machine/machine.h"
#include "wafer/study/half.h"
#include "wafer/study/measurement.h"

namespace wafer::study {

/// A constant that may be moved, within what can be believed of it, from where a search starts.
struct FreeConstant {
  const char* key;  ///< in TOML: "fitted.pass_seconds"
  double least, start, most;
  double& (*of)(machine::Machine&);
};

/// Rows of one kind, and the constants that are fitted on them together. To fit another kind: a
/// function that describes it, in fit_kinds(); its answers come from Workbench::planned.
struct FitKind {
  std::string name{};          ///< "streamed-training"
  std::string title{};         ///< "training with streamed weights"
  Mode mode = Mode::Streamed;  ///< of its rows
  Phase phase = Phase::Train;  ///< of its rows
  std::vector<std::string>
      machines{};  ///< whose rows, and whose constants; the first stands for all
  std::vector<FreeConstant> constants{};
  /// Each group (a model at one number of tokens per micro-batch) has the same weight, so that no
  /// series of batches outweighs a model; else each configuration has.
  bool by_group = false;
  double tolerance = 0;  ///< logarithms of ratios well below it count by their square
  bool halved = false;   ///< the fit sees only the rows of Half::Fitted

  /// Whether a row is of the kind, whatever its half.
  bool has(const Measurement& m) const;
  /// Whether a machine has such constants: a cluster, or a wafer.
  bool suits(const machine::Machine& machine) const;
};

/// All kinds, in the order in which they are fitted: a kind may rest on constants of one before it.
const std::vector<FitKind>& fit_kinds();
/// Throws InputError for another name, with the nearest.
const FitKind& fit_kind_named(const std::string& name);
/// The kind that a row is of, or null.
const FitKind* fit_kind_of(const Measurement& m);

/// The mode as measurement files write it: empty for clusters, which have but one.
std::string_view written(Mode mode);

}  // namespace wafer::study
