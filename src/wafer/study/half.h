#pragma once

#include <cstdint>
#include <string_view>

namespace wafer::study {

/// Of rows that constants are fitted on by half: those that the fit sees, and those that only test
/// it.
enum class Half : uint8_t { Fitted, Held };

/// Which half a row belongs to. Its id alone decides, by the first byte of its SHA-256: even is
/// fitted, odd is held out; so nobody chooses, and a row that is added moves no other.
Half half_of(std::string_view id);

std::string_view name_of(Half half);

}  // namespace wafer::study
