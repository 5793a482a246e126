#pragma once

#include <map>
#include <string>

namespace wafer::report {

/// A Markdown document with its generated parts replaced. A part lies between two lines,
///   <!-- wafer: NAME -->
///   <!-- /wafer -->
/// and gets `parts[NAME]`; everything else is kept. Throws InputError, with the line in `file`, for
/// a name that is not among the parts and for a part that is not closed.
std::string refreshed(const std::string& document, const std::map<std::string, std::string>& parts,
                      const std::string& file);

}  // namespace wafer::report
