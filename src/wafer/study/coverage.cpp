#include "wafer/study/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "wafer/base/data_dir.h"
#include "wafer/base/mapped_file.h"
#include "wafer/machine/numbers.h"

namespace wafer::study {
namespace {

struct Axis {
  const char* key;
  const char* meaning;
  double Situation::* value;
};

constexpr std::array Axes = {
    Axis{"layers", "layers", &Situation::layers},
    Axis{"hidden", "hidden width", &Situation::hidden},
    Axis{"seq_len", "sequence length", &Situation::seq_len},
    Axis{"tokens_per_micro_batch", "tokens per micro-batch", &Situation::tokens_per_micro_batch},
    Axis{"systems", "systems", &Situation::systems},
    Axis{"density", "density of the weights", &Situation::density},
};

template <typename T>
void add_sorted(std::vector<T>& set, const T& value) {
  const auto place = std::lower_bound(set.begin(), set.end(), value);
  if (place == set.end() || *place != value) set.insert(place, value);
}

template <typename T>
bool contains(const std::vector<T>& sorted, const T& value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

// Whole numbers in full, others to four digits.
std::string number(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.4g}", value);
}

std::string outside(const Axis& axis, const Situation& situation, const Coverage::Range& range) {
  const double value = situation.*axis.value;
  if (value >= range.least && value <= range.most) return {};
  const std::string covered =
      range.least == range.most ? fmt::format("only {}", number(range.least))
                                : fmt::format("{} to {}", number(range.least), number(range.most));
  return fmt::format("{} {}: measurements cover {}", axis.meaning, number(value), covered);
}

std::vector<std::string> reasons(const Coverage& coverage, const Situation& situation) {
  std::vector<std::string> all;
  for (const Axis& axis : Axes) {
    const auto range = coverage.ranges.find(axis.key);
    if (range == coverage.ranges.end()) continue;
    std::string reason = outside(axis, situation, range->second);
    if (!reason.empty()) all.push_back(std::move(reason));
  }
  if (!contains(coverage.precision_bits, situation.precision_bits)) {
    all.push_back(fmt::format("precision of {} bit: measurements cover {} bit",
                              situation.precision_bits, fmt::join(coverage.precision_bits, ", ")));
  }
  for (const std::string& kernel : situation.kernels) {
    if (contains(coverage.kernels, kernel)) continue;
    all.push_back(fmt::format("kernel {}: no measured network has it", kernel));
  }
  return all;
}

}  // namespace

void cover(Coverage& coverage, const Situation& situation) {
  ++coverage.rows;
  for (const Axis& axis : Axes) {
    const double value = situation.*axis.value;
    const auto [range, is_new] = coverage.ranges.try_emplace(axis.key, value, value);
    range->second.least = std::min(range->second.least, value);
    range->second.most = std::max(range->second.most, value);
  }
  add_sorted(coverage.precision_bits, situation.precision_bits);
  for (const std::string& kernel : situation.kernels) add_sorted(coverage.kernels, kernel);
}

Trust trust(const std::vector<Coverage>& all, const Situation& situation,
            const machine::Machine& machine) {
  Trust result;
  const std::string& name = machine::name_of(machine);
  const bool calibrated = std::visit([](const auto& kind) { return kind.calibrated; }, machine);
  if (!calibrated) {
    result.extrapolated.push_back(
        fmt::format("machine {} is not calibrated: its rates come from documents", name));
  }
  const auto found = std::find_if(all.begin(), all.end(), [&](const Coverage& c) {
    return c.machine == situation.machine && c.mode == situation.mode && c.phase == situation.phase;
  });
  if (found == all.end()) {
    result.extrapolated.push_back(fmt::format("no measurement of phase {} in mode {} on {} counts",
                                              name_of(situation.phase), name_of(situation.mode),
                                              situation.machine));
    return result;
  }
  if (found->numbers != fingerprint(machine)) {
    result.extrapolated.push_back(
        fmt::format("machine {} has other numbers than the one that was validated", name));
  } else {
    result.expected_error = found->expected_error;
  }
  const std::vector<std::string> more = reasons(*found, situation);
  result.extrapolated.insert(result.extrapolated.end(), more.begin(), more.end());
  return result;
}

std::string fingerprint(const machine::Machine& machine) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a, 64 bit
  for (const machine::Number& n : machine::numbers(machine)) {
    for (const char c : fmt::format("{}={};", n.key, fmt::join(n.value, ","))) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
  }
  return fmt::format("{:016x}", hash);
}

std::vector<Coverage> load_coverage() {
  const auto files = list_data("validation", ".json");
  const auto found = files.find("coverage");
  if (found == files.end()) return {};
  const MappedFile file(found->second.string());
  return parse_coverage(file.bytes(), found->second.string());
}

}  // namespace wafer::study
