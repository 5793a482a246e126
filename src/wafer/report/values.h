#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "wafer/report/table.h"
#include "wafer/study/answer_keys.h"

namespace wafer::report {

/// A value as JSON: nothing is null, what is not finite as well.
nlohmann::ordered_json json_of(const study::Value& value);

/// Sets `key` of an object; "a.b" is key b of its object a.
void set_key(nlohmann::ordered_json& object, std::string_view key, nlohmann::ordered_json value);

/// A value as a word of CSV: numbers so that they read back the same, nothing as nothing, lists
/// with "; " between.
std::string csv_word(const study::Value& value);

/// Money as a cell: "1,234 USD", "0.0123 USD".
Cell usd(double value);
/// What a cost is of, in words: "a million samples".
std::string words_of(const study::Cost& cost);

/// A value as a cell for people.
Cell cell_of(const study::Value& value, std::string_view unit);

}  // namespace wafer::report
