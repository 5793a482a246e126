#pragma once

#include <string>
#include <string_view>

#include "wafer/report/table.h"

namespace wafer::report {

/// Words that stand in XML or HTML as they are, in text and in attributes between double quotes;
/// control characters become blanks, bytes that are no UTF-8 become U+FFFD.
std::string escaped(std::string_view text);

/// A number for readers of a page: whole ones in full, others with four digits, thousands apart:
/// "335,143,938", "918,200", "12.85 billion".
std::string grouped(double value);

/// A value with its unit: human() where there is a unit, grouped() where there is none.
std::string typeset(double value, std::string_view unit);

/// The words of a cell for a page: plain numbers grouped.
std::string typeset(const Cell& cell);

/// Characters of UTF-8 text.
size_t length_of(std::string_view text);

}  // namespace wafer::report
