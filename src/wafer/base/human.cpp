#include "wafer/base/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace wafer {
namespace {

constexpr std::array<std::string_view, 8> Scaled = {"B",      "B/s", "FLOP", "FLOP/s",
                                                    "FLOP/B", "Hz",  "J",    "W"};
constexpr std::array<std::string_view, 7> Prefixes = {"", "k", "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 4> SmallPrefixes = {"", "m", "u", "n"};

// Whole numbers in full while that is short, four significant digits elsewhere.
std::string digits(double value) {
  const bool whole = std::abs(value) < 1e9 && value == std::floor(value);
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

}  // namespace

std::string human(double value, std::string_view unit) {
  const bool scaled = std::find(Scaled.begin(), Scaled.end(), unit) != Scaled.end();
  const bool short_time = unit == "s" && value != 0 && std::abs(value) < 0.99995;
  std::string_view prefix;
  if (scaled && std::isfinite(value)) {
    size_t step = 0;
    // 999.95 would print as 1000.
    for (; std::abs(value) >= 999.95 && step + 1 < Prefixes.size(); ++step) value /= 1000;
    prefix = Prefixes[step];
  } else if (short_time) {
    size_t step = 0;
    for (; std::abs(value) < 0.99995 && step + 1 < SmallPrefixes.size(); ++step) value *= 1000;
    prefix = SmallPrefixes[step];
  }
  if (unit.empty()) return digits(value);
  return fmt::format("{} {}{}", digits(value), prefix, unit);
}

}  // namespace wafer
