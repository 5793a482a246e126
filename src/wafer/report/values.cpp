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

Cell usd(double value) {
  if (value < 999.5) return {fmt::format("{:.3g} USD", value), value};
  if (value >= 1e15) return {fmt::format("{:.4g} USD", value), value};
  std::string digits = fmt::format("{:.0f}", value);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return {digits + " USD", value};
}

std::string words_of(const study::Cost& cost) {
  if (cost.of == "target") return "training to the target";
  if (cost.of == "training") return "the whole training";
  if (cost.of == "epoch") return "an epoch";
  if (cost.of == "million_tokens_decoded") return "a million tokens decoded";
  return "a million samples";
}

Cell cell_of(const study::Value& value, std::string_view unit) {
  const auto* number = std::get_if<double>(&value);
  if (number && unit == "USD") return usd(*number);
  if (number) return quantity(*number, unit);
  if (const auto* count = std::get_if<int64_t>(&value)) {
    return {fmt::format("{}", *count), static_cast<double>(*count)};
  }
  return csv_word(value);
}

}  // namespace wafer::report
