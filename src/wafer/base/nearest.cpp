#include "wafer/base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace wafer {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Levenshtein's distance; one row of his table at a time.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  size_t fewest = SIZE_MAX;
  for (const std::string& candidate : candidates) {
    const size_t allowed = std::max<size_t>(1, std::max(word.size(), candidate.size()) / 3);
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t shorter = std::min(word.size(), candidate.size());
    if (longer - shorter > allowed) continue;  // also keeps a hostile, endless word cheap
    const size_t edits = distance(word, candidate);
    if (edits > allowed || edits >= fewest) continue;
    fewest = edits;
    best = candidate;
  }
  if (!best.empty() || word.size() < 3) return best;
  const auto holds_word = [&](const std::string& candidate) {
    return candidate.find(word) != std::string::npos;
  };
  const auto found = std::find_if(candidates.begin(), candidates.end(), holds_word);
  return found == candidates.end() ? best : *found;
}

}  // namespace wafer
