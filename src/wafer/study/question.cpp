#include "wafer/study/question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

constexpr const char* Zeros =
    "the share of weights that are zero, from 0 (dense) to less than 1, or N:M, N non-zeros in "
    "every M, as 2:4";

// Far beyond any use, and small enough that no product of two overflows.
constexpr int64_t MostSamples = 1'000'000'000'000;
constexpr int64_t MostTokens = 1'000'000'000;
constexpr int64_t MostCores = 1'000'000;  // of an edge
constexpr int64_t MostSystems = 1'000'000;
constexpr int64_t MostPes = 10'000'000'000;

template <typename Enum, size_t N>
std::optional<Enum> named(const std::array<Enum, N>& all, std::string_view name) {
  for (const Enum value : all) {
    if (name_of(value) == name) return value;
  }
  return std::nullopt;
}

void check_count(Problems& problems, const char* option, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return;
  problems.add(
      fmt::format("{}: expected a whole number from 1 to {}, found {}", option, most, value));
}

void check_positive(Problems& problems, const char* option, std::optional<double> value) {
  if (!value || (std::isfinite(*value) && *value > 0)) return;
  problems.add(fmt::format("{}: expected a positive number, found {}", option, *value));
}

void check_host_latency(Problems& problems, const Question& q) {
  if (!q.host_latency) return;
  if (!(std::isfinite(*q.host_latency) && *q.host_latency >= 0)) {
    problems.add(
        fmt::format("--host-latency: expected seconds, 0 or more, found {}", *q.host_latency));
  }
  if (q.phase == Phase::Train) {
    problems.add("--host-latency: training waits for no host; leave it out, or give --phase infer");
  }
}

void check_pins(Problems& problems, const ClusterPins& pins) {
  const auto check_pin = [&](const char* option, std::optional<int64_t> value) {
    if (value) check_count(problems, option, *value, MostSystems);
  };
  check_pin("--tp", pins.tensor);
  check_pin("--pp", pins.pipeline);
  check_pin("--dp", pins.data);
  check_pin("--interleaving", pins.interleaving);
  if (!(pins.length_variation >= 0 && pins.length_variation <= 10)) {
    problems.add(fmt::format(
        "--length-variation: expected the deviation of lengths to their mean, from 0 to 10, found "
        "{}",
        pins.length_variation));
  }
}

}  // namespace

std::string_view name_of(Phase phase) { return phase == Phase::Train ? "train" : "infer"; }

std::string_view name_of(Mode mode) {
  constexpr std::array<std::string_view, 5> Names = {"auto", "streamed", "pipelined", "resident",
                                                     "cluster"};
  return Names[static_cast<size_t>(mode)];
}

std::string_view name_of(Precision precision) {
  constexpr std::array<std::string_view, Precisions.size()> Names = {"16bit", "f16", "bf16",
                                                                     "cb16",  "f32", "tf32"};
  return Names[static_cast<size_t>(precision)];
}

std::optional<Phase> phase_named(std::string_view name) { return named(Phases, name); }
std::optional<Mode> mode_named(std::string_view name) { return named(Modes, name); }
std::optional<Precision> precision_named(std::string_view name) { return named(Precisions, name); }

std::optional<plan::Recompute> recompute_named(std::string_view name) {
  using plan::Recompute;
  constexpr std::array All = {Recompute::None, Recompute::Selective, Recompute::Full};
  for (const Recompute value : All) {
    if (plan::name_of(value) == name) return value;
  }
  return std::nullopt;
}

int64_t cores_of(std::string_view word, std::string_view option) {
  const size_t times = word.find('x');
  const std::string_view first = word.substr(0, times);
  const std::string_view second = times == std::string_view::npos ? first : word.substr(times + 1);
  int64_t edge = 0;
  const auto [rest, error] = std::from_chars(first.data(), first.data() + first.size(), edge);
  const bool is_count = error == std::errc() && rest == first.data() + first.size() && edge >= 1;
  if (is_count && first == second) return edge;
  throw InputError(fmt::format(
      "{}: expected the edges of a square mesh of PEs, as in 480x480, found \"{}\"", option, word));
}

DType dtype_of(Precision precision) {
  switch (precision) {
    case Precision::Bf16:
      return DType::Bf16;
    case Precision::Cb16:
      return DType::Cb16;
    case Precision::F32:
    case Precision::Tf32:
      return DType::F32;
    case Precision::Any16:
    case Precision::F16:
      break;
  }
  return DType::F16;
}

bool is_sparse(const Question& question) {
  const auto has_zeros = [](const plan::WeightSparsity& w) { return !w.sparsity.dense(); };
  return !question.sparsity.dense() ||
         std::any_of(question.sparsity_of.begin(), question.sparsity_of.end(), has_zeros);
}

std::string sparsity_text(const Question& question) {
  std::vector<std::string> all;
  if (!question.sparsity.dense() || question.sparsity_of.empty()) {
    all.push_back(question.sparsity.text());
  }
  for (const plan::WeightSparsity& w : question.sparsity_of) {
    all.push_back(fmt::format("{} {}", w.pattern, w.sparsity.text()));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

plan::Sparsity sparsity_in(std::string_view word, std::string_view option) {
  const std::optional<plan::Sparsity> sparsity = plan::sparsity_named(word);
  if (sparsity) return *sparsity;
  throw InputError(fmt::format("{}: expected {}, found \"{}\"", option, Zeros, word));
}

plan::WeightSparsity weight_sparsity_in(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw InputError(fmt::format(
        "--sparsity-of: expected PATTERN=VALUE, as in --sparsity-of 'mlp/*=2:4', found \"{}\"",
        text));
  }
  const std::string pattern(text.substr(0, equals));
  return {pattern, sparsity_in(text.substr(equals + 1), "--sparsity-of " + pattern)};
}

void check(const Question& question) {
  Problems problems;
  if (question.model.empty()) problems.add("model: expected a name or a file, found nothing");
  check_count(problems, "--batch", question.batch, MostSamples);
  check_count(problems, "--systems", question.systems, MostSystems);
  if (question.seq) check_count(problems, "--seq", *question.seq, MostTokens);
  if (question.cores) check_count(problems, "--cores", *question.cores, MostCores);
  if (question.micro_batch) {
    check_count(problems, "--micro-batch", *question.micro_batch, MostSamples);
  }
  if (question.region) check_count(problems, "--region", *question.region, MostPes);
  const auto check_zeros = [&](const char* option, const plan::Sparsity& sparsity) {
    if (sparsity.zeros >= 0 && sparsity.zeros < 1) return;
    problems.add(fmt::format("{}: expected {}, found {}", option, Zeros, sparsity.zeros));
  };
  check_zeros("--sparsity", question.sparsity);
  for (const plan::WeightSparsity& w : question.sparsity_of) {
    check_zeros("--sparsity-of", w.sparsity);
  }
  check_pins(problems, question.cluster);
  check_positive(problems, "--epoch-samples", question.epoch_samples);
  check_positive(problems, "--tokens", question.tokens);
  if (!question.samples_to_target.empty() && question.phase != Phase::Train) {
    problems.add("--samples-to-target: inference has no target; use --phase train");
  }
  check_host_latency(problems, question);
  problems.throw_if_any("the question cannot be answered:");
}

}  // namespace wafer::study
