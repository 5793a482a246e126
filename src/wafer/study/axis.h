#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/study/attempt.h"
#include "wafer/study/question.h"
#include "wafer/study/settings.h"

namespace wafer::study {

/// Values along one axis of a sweep; ranges are kept as such.
class Axis {
 public:
  /// Reads NAME=VALUES. Values are separated by commas; FIRST..LAST[:STEP] is a linear range and
  /// FIRST..LAST:xFACTOR a geometric one, both with their last value where they meet it. NAME is a
  /// setting of a question (axis_names()) or a number of a machine by its TOML key: KEY, or
  /// MACHINE.KEY for that machine alone. Free forms of models keep their commas
  /// ("model=gpt:layers=2,hidden=64,heads=2,vocab=9,gpt2"). Throws InputError.
  explicit Axis(std::string_view text);

  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }
  /// A number of a machine: its key, and the machine it is of (empty: of any).
  bool is_override() const { return !key_.empty(); }
  const std::string& key() const { return key_; }
  const std::string& machine() const { return machine_; }
  /// Values are numbers, not words.
  bool has_numbers() const;
  /// Machines that an axis "machine" names.
  std::vector<Contender> contenders() const;
  /// The number at `index`; for axes of numbers.
  double number(uint64_t index) const;
  /// The value at `index` in words.
  std::string word(uint64_t index) const;
  /// Writes the value at `index` into a question; for axes of settings.
  void set(Question& question, uint64_t index) const;

 private:
  /// A word, or `count` numbers.
  struct Piece {
    std::string word{};
    std::optional<Contender> contender{};
    double first = 0, step = 0;
    bool geometric = false;
    uint64_t count = 1;
    double at(uint64_t index) const;
  };
  void find_name();
  bool is_words() const;
  void add_words(std::string_view values);
  void add_value(std::string_view text);
  void add_numbers(std::string_view text);
  /// Throws InputError where a value that is no part of a range stands twice.
  void refuse_repeats() const;
  uint64_t steps(const Piece& piece, double last, std::string_view text) const;
  /// The piece that holds the value at `index`, which becomes that in the piece.
  const Piece& piece_of(uint64_t& index) const;

  std::string name_, key_, machine_;
  const Setting* setting_ = nullptr;
  std::vector<Piece> pieces_;
  uint64_t size_ = 0;
};

/// Names of the settings that an axis can have.
std::vector<std::string> axis_names();

}  // namespace wafer::study
