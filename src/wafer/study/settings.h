#pragma once

#include <string>
#include <string_view>

#include "wafer/study/question.h"

namespace wafer::study {

/// A part of a question that can be set by name, as the command's options have it without "--".
struct Setting {
  enum class Kind : uint8_t {
    Count,  ///< whole numbers
    Number,
    Word,
    Model,    ///< words that may have commas
    Machine,  ///< a contender (attempt.h)
  };
  const char* name;
  Kind kind = Kind::Word;
  void (*number)(Question&, double) = nullptr;  ///< Count, Number
  /// Word, Model, and of a Number what is none ("2:4"). Throws InputError that begins with the
  /// name: see set_word().
  void (*word)(Question&, const std::string&) = nullptr;
};

/// By name, '_' as good as '-'; null where there is none.
const Setting* setting_named(std::string_view name);

/// Sets a setting that has words. Throws InputError whose name is led by how the user wrote it:
/// "--" or "--axis ".
void set_word(const Setting& setting, Question& question, const std::string& word,
              std::string_view lead);

}  // namespace wafer::study
