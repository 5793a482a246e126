#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wafer {

/// The candidate that `word` most likely meant, for "did you mean ...": the fewest letters
/// inserted, deleted or replaced, case aside, the first among equals. Empty when all are further
/// away than a third of the longer of the two (and than one letter).
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace wafer
