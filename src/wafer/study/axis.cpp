#include "wafer/study/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "wafer/base/error.h"
#include "wafer/base/nearest.h"
#include "wafer/machine/load.h"
#include "wafer/machine/numbers.h"
#include "wafer/study/settings.h"

namespace wafer::study {
namespace {

// Whole numbers up to here are exact.
constexpr double MostWhole = 9e15;
// A range meets its end where it is this near, in steps.
constexpr double Near = 1e-9;
constexpr double MostValues = 1e9;

std::optional<double> read(std::string_view word) {
  double value = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || rest != word.data() + word.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(by, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::vector<std::string> keys_of_machines() {
  std::vector<std::string> keys;
  for (const machine::Machine& kind :
       {machine::Machine(machine::Wafer{}), machine::Machine(machine::GpuCluster{})}) {
    for (const machine::Number& number : machine::numbers(kind)) {
      if (!number.is_list) keys.push_back(number.key);
    }
  }
  return keys;
}

[[noreturn]] void refuse_name(const std::string& name, const std::vector<std::string>& keys) {
  std::vector<std::string> known = axis_names();
  known.insert(known.end(), keys.begin(), keys.end());
  const std::string meant = nearest(name, known);
  throw InputError(fmt::format(
      "--axis {}: no such axis{}; there are {}, and the numbers of machines by their TOML keys "
      "(`wafer machines show NAME` lists them), as in --axis wse2.clock_hz=8e8..1e9:1e8",
      name, meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
      fmt::join(axis_names(), ", ")));
}

[[noreturn]] void refuse_value(const std::string& axis, std::string_view found, const char* what) {
  throw InputError(fmt::format(
      "--axis {}: expected {}, as 256,512 or FIRST..LAST:STEP or FIRST..LAST:xFACTOR, found \"{}\"",
      axis, what, found));
}

}  // namespace

double Axis::Piece::at(uint64_t index) const {
  const auto i = static_cast<double>(index);
  if (geometric) return first * std::pow(step, i);
  if (index == 0) return first;
  // 0.1 x 3 is to be 0.3.
  return std::strtod(fmt::format("{:.12g}", first + i * step).c_str(), nullptr);
}

Axis::Axis(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw InputError(fmt::format(
        "--axis: expected NAME=VALUES, as in --axis batch=256,512, found \"{}\"", text));
  }
  name_ = text.substr(0, equals);
  find_name();
  const std::string_view values = text.substr(equals + 1);
  if (is_words()) {
    add_words(values);
  } else {
    for (const std::string_view value : split(values, ',')) add_value(value);
  }
  double count = 0;
  for (const Piece& piece : pieces_) count += static_cast<double>(piece.count);
  if (count > MostValues) {
    throw InputError(
        fmt::format("--axis {}: {:.0f} values are more than can be asked", name_, count));
  }
  for (const Piece& piece : pieces_) size_ += piece.count;
  refuse_repeats();
}

void Axis::refuse_repeats() const {
  std::set<std::string> seen;
  uint64_t index = 0;
  for (const Piece& piece : pieces_) {
    const std::string value = word(index);
    index += piece.count;
    if (piece.count == 1 && !seen.insert(value).second) {
      throw InputError(fmt::format("--axis {}: {} stands twice", name_, value));
    }
  }
}

void Axis::find_name() {
  setting_ = setting_named(name_);
  if (setting_ != nullptr) {
    name_ = setting_->name;
    return;
  }
  const std::vector<std::string> keys = keys_of_machines();
  const size_t dot = name_.find('.');
  const std::vector<std::string> machines = machine::names();
  const bool names_machine =
      dot != std::string::npos &&
      std::find(machines.begin(), machines.end(), name_.substr(0, dot)) != machines.end();
  key_ = names_machine ? name_.substr(dot + 1) : name_;
  if (names_machine) machine_ = name_.substr(0, dot);
  if (std::find(keys.begin(), keys.end(), key_) == keys.end()) refuse_name(name_, keys);
}

bool Axis::is_words() const {
  if (setting_ == nullptr) return false;
  return setting_->kind != Setting::Kind::Count && setting_->kind != Setting::Kind::Number;
}

void Axis::add_words(std::string_view values) {
  for (const std::string_view value : split(values, ',')) {
    // "hidden=64" goes on with the free form before it.
    const bool continues = setting_->kind == Setting::Kind::Model && !pieces_.empty() &&
                           value.find('=') != std::string_view::npos &&
                           value.find(':') == std::string_view::npos;
    if (continues) {
      pieces_.back().word += fmt::format(",{}", value);
    } else {
      pieces_.push_back({.word = std::string(value)});
    }
  }
  Question scratch;
  for (Piece& piece : pieces_) {
    if (setting_->kind == Setting::Kind::Machine) {
      piece.contender = contender(piece.word);
    } else {
      set_word(*setting_, scratch, piece.word, "--axis ");
    }
  }
}

void Axis::add_value(std::string_view text) {
  const bool is_word = setting_ != nullptr && setting_->word != nullptr &&
                       text.find("..") == std::string_view::npos && !read(text);
  if (!is_word) return add_numbers(text);
  Question scratch;
  pieces_.push_back({.word = std::string(text)});
  set_word(*setting_, scratch, pieces_.back().word, "--axis ");
}

bool Axis::has_numbers() const {
  return std::all_of(pieces_.begin(), pieces_.end(),
                     [](const Piece& piece) { return piece.word.empty(); });
}

void Axis::add_numbers(std::string_view text) {
  const bool whole = setting_ != nullptr && setting_->kind == Setting::Kind::Count;
  const char* const what = whole ? "whole numbers" : "numbers";
  const size_t dots = text.find("..");
  const bool is_range = dots != std::string_view::npos;
  std::string_view last_word = is_range ? text.substr(dots + 2) : text;
  std::string_view step_word = "1";
  if (const size_t colon = last_word.find(':'); is_range && colon != std::string_view::npos) {
    step_word = last_word.substr(colon + 1);
    last_word = last_word.substr(0, colon);
  }
  Piece piece{.geometric = step_word.starts_with('x')};
  if (piece.geometric) step_word.remove_prefix(1);
  const auto first = read(text.substr(0, dots)), last = read(last_word), step = read(step_word);
  if (!first || !last || !step) refuse_value(name_, text, what);
  piece.first = *first;
  piece.step = *step;
  for (const double value : {*first, *last, *step}) {
    const bool fits = value == std::floor(value) && std::abs(value) < MostWhole;
    if (whole && !fits) refuse_value(name_, text, what);
  }
  if (is_range) piece.count = steps(piece, *last, text);
  pieces_.push_back(piece);
}

uint64_t Axis::steps(const Piece& piece, double last, std::string_view text) const {
  const bool geometric_fits = piece.step > 0 && piece.step != 1 && piece.first * last > 0;
  if (piece.geometric ? !geometric_fits : piece.step == 0) {
    refuse_value(name_, text,
                 piece.geometric ? "a factor other than 1 between numbers of one sign"
                                 : "a step other than 0");
  }
  const double count = piece.geometric ? std::log(last / piece.first) / std::log(piece.step)
                                       : (last - piece.first) / piece.step;
  if (count < -Near) refuse_value(name_, text, "steps that lead from the first value to the last");
  if (count > MostValues) refuse_value(name_, text, "at most a thousand million values");
  return static_cast<uint64_t>(std::floor(count + Near)) + 1;
}

const Axis::Piece& Axis::piece_of(uint64_t& index) const {
  WAFER_CHECK(index < size_);
  auto piece = pieces_.begin();
  while (index >= piece->count) index -= piece++->count;
  return *piece;
}

std::vector<Contender> Axis::contenders() const {
  std::vector<Contender> all;
  for (const Piece& piece : pieces_) {
    if (piece.contender) all.push_back(*piece.contender);
  }
  return all;
}

double Axis::number(uint64_t index) const {
  const Piece& piece = piece_of(index);
  return piece.at(index);
}

std::string Axis::word(uint64_t index) const {
  const Piece& piece = piece_of(index);
  return piece.word.empty() ? fmt::format("{}", piece.at(index)) : piece.word;
}

void Axis::set(Question& question, uint64_t index) const {
  WAFER_CHECK(setting_ != nullptr);
  const Piece& piece = piece_of(index);
  if (piece.contender) {
    question = question_for(question, *piece.contender);
  } else if (!piece.word.empty()) {
    set_word(*setting_, question, piece.word, "--axis ");
  } else {
    setting_->number(question, piece.at(index));
  }
}

}  // namespace wafer::study
