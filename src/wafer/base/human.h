#pragma once

#include <string>
#include <string_view>

namespace wafer {

/// A value for people: four significant digits and an SI prefix before the unit, "850 MHz",
/// "49.15 kB", "5 us". Units that take no prefix ("PE", "cycle", "1/cycle", "", ...) get the number
/// alone: "745500 PE". GB is 1e9 bytes.
std::string human(double value, std::string_view unit);

}  // namespace wafer
