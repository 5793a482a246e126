#include "wafer/report/facts.h"

#include <fmt/format.h>

#include <algorithm>

namespace wafer::report {

std::string Facts::text() const {
  size_t width = 0;
  for (const auto& [name, words] : rows_) width = std::max(width, name.size());
  std::string result;
  for (const auto& [name, words] : rows_) {
    result += fmt::format("{:{}}  {}\n", name, width, words);
  }
  return result;
}

}  // namespace wafer::report
