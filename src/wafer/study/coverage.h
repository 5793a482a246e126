#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/machine/machine.h"
#include "wafer/study/question.h"

namespace wafer::study {

/// What the scored measurements of one kind (machine, mode, phase) cover.
struct Coverage {
  struct Range {
    double least = 0, most = 0;
  };
  std::string machine{};
  Mode mode = Mode::Streamed;
  Phase phase = Phase::Train;
  std::string numbers{};  ///< fingerprint of the machine that was validated
  int rows = 0;
  /// Mean over models of the mean absolute error on rows that the fit did not see.
  double expected_error = 0;
  std::map<std::string, Range> ranges{};  ///< by axis: "layers", "hidden", ...
  std::vector<int> precision_bits{};      ///< sorted
  std::vector<std::string> kernels{};     ///< sorted
};

/// Takes `situation` into the ranges and sets of `coverage` and counts it.
void cover(Coverage& coverage, const Situation& situation);

/// What is known of the accuracy of an answer.
struct Trust {
  std::optional<double> expected_error;
  std::vector<std::string> extrapolated;  ///< reasons, in words; empty when all is covered
};
/// Holds a situation against the coverage of its kind.
Trust trust(const std::vector<Coverage>& all, const Situation& situation,
            const machine::Machine& machine);

/// A short text that differs where any number of the machine does.
std::string fingerprint(const machine::Machine& machine);

/// validation/coverage.json: written by `wafer validate --cross --coverage`, read by every answer.
/// Reading throws InputError naming `file` and the place of what is wrong.
std::string print_coverage(const std::vector<Coverage>& all);
std::vector<Coverage> parse_coverage(std::string_view text, const std::string& file);
/// That of the data directories; empty when there is no such file.
std::vector<Coverage> load_coverage();

}  // namespace wafer::study
