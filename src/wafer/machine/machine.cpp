#include "wafer/machine/machine.h"

#include <fmt/format.h>

#include <array>

#include "wafer/base/error.h"

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

const Wafer& wafer_of(const Machine& machine, std::string_view purpose) {
  if (const auto* wafer = std::get_if<Wafer>(&machine)) return *wafer;
  throw InputError(
      fmt::format("{} is a cluster of GPUs; {} needs a wafer: `wafer machines` lists both",
                  name_of(machine), purpose));
}

const GpuCluster& cluster_of(const Machine& machine, std::string_view purpose) {
  if (const auto* cluster = std::get_if<GpuCluster>(&machine)) return *cluster;
  throw InputError(
      fmt::format("{} is a wafer; {} needs a cluster of GPUs: `wafer machines` lists both",
                  name_of(machine), purpose));
}

}  // namespace wafer::machine
