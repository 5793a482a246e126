#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wafer::machine {

/// How a number is known.
enum class Mark : uint8_t {
  Documented,  ///< published by the vendor, or in coverage of the vendor's own talks
  Measured,    ///< read off a run, on silicon or on the vendor's simulator; the source says which
  Fitted,      ///< set so that the cost model meets measurements; the source says which
  Assumed,     ///< not public: a reasonable value, to be varied
  Derived,     ///< computed from other numbers; the source shows the arithmetic
};
inline constexpr int MarkCount = 5;

/// The name in TOML and in tables: "documented", "measured", "fitted", "assumed", "derived".
std::string_view name_of(Mark mark);
/// The mark of a TOML name; nothing when there is none.
std::optional<Mark> mark_named(std::string_view name);

/// A number and where it comes from.
template <typename T>
struct Sourced {
  T value{};
  Mark mark = Mark::Assumed;
  std::string source;
};

}  // namespace wafer::machine
