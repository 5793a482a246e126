#include "wafer/base/error.h"

#include <fmt/format.h>

namespace wafer {

void Problems::throw_if_any(const std::string& heading, size_t most) const {
  if (problems_.empty()) return;
  std::string text = heading;
  for (size_t i = 0; i < problems_.size() && i < most; ++i) text += "\n  " + problems_[i];
  if (problems_.size() > most) text += fmt::format("\n  ... and {} more", problems_.size() - most);
  throw InputError(text);
}

void check_failed(const char* file, int line, const char* condition, const std::string& detail) {
  throw InternalError(fmt::format("{}:{}: check failed: {}{}{}", file, line, condition,
                                  detail.empty() ? "" : ": ", detail));
}

}  // namespace wafer
