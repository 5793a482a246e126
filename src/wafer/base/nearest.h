#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wafer {

/// The candidate that `word` most likely meant, for "did you mean ...": the one with the fewest
/// letters inserted, deleted or replaced, case aside, up to a third of the longer of the two; else
/// one that holds the word (of three letters or more) as a part. The first among equals; empty when
/// there is none.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace wafer
