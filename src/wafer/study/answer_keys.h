#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wafer/study/attempt.h"

namespace wafer::study {

/// A value of an answer: nothing, a number, a count, yes or no, words, a list of words.
using Value =
    std::variant<std::monostate, double, int64_t, bool, std::string, std::vector<std::string>>;

/// Which of two values of a key one would rather have.
enum class Better : uint8_t { Neither, Less, More };

/// A key of an answer, as docs/json.md names it. A key of an object is "object.key".
struct AnswerKey {
  std::string_view name;
  std::string_view unit;  ///< "s", "J", "" ...
  Better better = Better::Neither;
  Value (*of)(const Attempt&);  ///< where there is no answer: what was asked, or nothing
  bool is_cost = false;         ///< known only with prices
};

/// All keys that tables of answers have, in the order of their columns.
std::span<const AnswerKey> answer_keys();

/// The key of a name. Throws InputError with the nearest for one that is not there. `option` leads
/// the message.
const AnswerKey& answer_key(std::string_view name, std::string_view option);

/// The number in a value; absent where it has none.
std::optional<double> number_of(const Value& value);

}  // namespace wafer::study
