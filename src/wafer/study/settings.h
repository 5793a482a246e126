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
  void (*number)(Question&, double) = nullptr;            ///< Count, Number
  void (*word)(Question&, const std::string&) = nullptr;  ///< Word, Model; throws InputError
};

/// By name, '_' as good as '-'; null where there is none.
const Setting* setting_named(std::string_view name);

}  // namespace wafer::study
