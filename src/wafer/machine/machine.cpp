#include "wafer/machine/machine.h"

#include <array>

namespace wafer::machine {
namespace {

constexpr std::array<std::string_view, MarkCount> MarkNames = {"documented", "measured", "fitted",
                                                               "assumed", "derived"};

}  // namespace

std::string_view name_of(Mark mark) { return MarkNames.at(static_cast<size_t>(mark)); }

std::optional<Mark> mark_named(std::string_view name) {
  for (size_t i = 0; i < MarkNames.size(); ++i) {
    if (MarkNames[i] == name) return static_cast<Mark>(i);
  }
  return std::nullopt;
}

const std::string& name_of(const Machine& machine) {
  return std::visit([](const auto& kind) -> const std::string& { return kind.name; }, machine);
}

}  // namespace wafer::machine
