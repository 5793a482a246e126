#include "wafer/plan/sparsity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace wafer::plan {
namespace {

constexpr int64_t MostNeighbours = 65536;  // a place among them has 16 bits

template <typename Number>
std::optional<Number> read(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Sparsity Sparsity::pattern(int64_t kept, int64_t of) {
  Sparsity s(1 - static_cast<double>(kept) / static_cast<double>(of));
  s.neighbours = of;
  return s;
}

std::string Sparsity::text() const {
  if (!structured()) return fmt::format("{}", zeros);
  const double kept = density() * static_cast<double>(neighbours);
  return fmt::format("{:.0f}:{}", kept, neighbours);
}

double Sparsity::index_bytes() const {
  if (!structured()) return 2;
  return static_cast<double>(std::bit_width(static_cast<uint64_t>(neighbours - 1))) / 8;
}

double Sparsity::wire_bytes(double size) const {
  return dense() ? size : std::min(size, density() * (size + index_bytes()));
}

std::optional<Sparsity> sparsity_named(std::string_view text) {
  if (text == "dense") return Sparsity();
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    const auto kept = read<int64_t>(text.substr(0, colon));
    const auto of = read<int64_t>(text.substr(colon + 1));
    if (!kept || !of || *kept < 1 || *of < *kept || *of > MostNeighbours) return std::nullopt;
    return *kept == *of ? Sparsity() : Sparsity::pattern(*kept, *of);
  }
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  const auto value = read<double>(text);
  if (!value) return std::nullopt;
  const double zeros = *value / (is_percent ? 100 : 1);
  if (!(zeros >= 0 && zeros < 1)) return std::nullopt;
  return Sparsity(zeros);
}

bool matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

double density_of(const SparseParts& parts) {
  double density = 1;
  for (const SparsePart& p : parts) density -= p.share * p.sparsity.zeros;
  return density;
}

std::string text_of(const SparseParts& parts) {
  if (parts.empty()) return "";
  if (parts.size() == 1) return parts[0].sparsity.text();
  std::vector<std::string> all;
  for (const SparsePart& p : parts) {
    all.push_back(fmt::format("{:.4g} of them {}", p.share,
                              p.sparsity.dense() ? "dense" : p.sparsity.text()));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace wafer::plan
