#include "wafer/report/typeset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wafer/base/human.h"

namespace wafer::report {
namespace {

constexpr const char* Replacement = "\xef\xbf\xbd";  // U+FFFD, of bytes that are no text

// Commas between thousands of a whole number in decimal digits.
std::string with_commas(std::string digits) {
  const size_t first = digits.starts_with('-') ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

// Rounded to four significant digits.
double rounded(double value) {
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 3);
  return std::round(value / unit) * unit;
}

bool is_plain_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-e") == std::string::npos;
}

std::string escaped_byte(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return std::string(1, static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c);
  }
}

// Bytes of the character that begins there; 0 where none does (Unicode 15, table 3-7).
size_t character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto is_between = [](unsigned b, unsigned least, unsigned most) {
    return b >= least && b <= most;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const size_t bytes = is_between(first, 0xc2, 0xdf)   ? 2
                       : is_between(first, 0xe0, 0xef) ? 3
                       : is_between(first, 0xf0, 0xf4) ? 4
                                                       : 0;
  if (bytes == 0) return 0;
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (!is_between(byte(1), least, most)) return 0;
  for (size_t i = 2; i < bytes; ++i) {
    if (!is_between(byte(i), 0x80, 0xbf)) return 0;
  }
  return bytes;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = character_at(text, at);
    if (bytes == 0) {
      result += Replacement;
      ++at;
    } else {
      result += bytes == 1 ? escaped_byte(text[at]) : std::string(text.substr(at, bytes));
      at += bytes;
    }
  }
  return result;
}

std::string grouped(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const bool whole = value == std::floor(value);
  const double size = std::abs(value);
  if (size >= 1e12 && (!whole || size >= 1e15)) return fmt::format("{:.4g} trillion", value / 1e12);
  if (size >= 1e9 && !whole) return fmt::format("{:.4g} billion", value / 1e9);
  if (whole) return with_commas(fmt::format("{:.0f}", value));
  return size < 1000 ? fmt::format("{:.4g}", value)
                     : with_commas(fmt::format("{:.0f}", rounded(value)));
}

std::string typeset(double value, std::string_view unit) {
  return unit.empty() ? grouped(value) : human(value, unit);
}

std::string typeset(const Cell& cell) {
  if (cell.value && is_plain_number(cell.text)) return grouped(*cell.value);
  return cell.text;
}

size_t length_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace wafer::report
