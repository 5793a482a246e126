#include "wafer/report/values.h"

#include <fmt/format.h>

#include <cmath>

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;

/// A function for each type of a value.
template <typename... Ts>
struct Cases : Ts... {
  using Ts::operator()...;
};

}  // namespace

Json json_of(const study::Value& value) {
  return std::visit(
      Cases{[](std::monostate) { return Json(nullptr); },
            [](double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); },
            [](const auto& other) { return Json(other); }},
      value);
}

void set_key(Json& object, std::string_view key, Json value) {
  const size_t dot = key.find('.');
  if (dot == std::string_view::npos) {
    object[std::string(key)] = std::move(value);
  } else {
    object[std::string(key.substr(0, dot))][std::string(key.substr(dot + 1))] = std::move(value);
  }
}

std::string csv_word(const study::Value& value) {
  return std::visit(Cases{[](std::monostate) { return std::string(); },
                          [](const std::string& words) { return words; },
                          [](const std::vector<std::string>& list) {
                            return fmt::format("{}", fmt::join(list, "; "));
                          },
                          [](const auto& plain) { return fmt::format("{}", plain); }},
                    value);
}

Cell cell_of(const study::Value& value, std::string_view unit) {
  if (const auto* number = std::get_if<double>(&value)) return quantity(*number, unit);
  if (const auto* count = std::get_if<int64_t>(&value)) {
    return {fmt::format("{}", *count), static_cast<double>(*count)};
  }
  return csv_word(value);
}

}  // namespace wafer::report
