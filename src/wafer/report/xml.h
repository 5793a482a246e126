#pragma once

#include <string>
#include <string_view>

namespace wafer::report {

/// Text as it may stand in XML or HTML, between tags or in double quotes: markup is escaped,
/// control characters become blanks.
std::string xml_text(std::string_view text);

}  // namespace wafer::report
