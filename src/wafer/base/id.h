#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace wafer {

/// An index that knows what it indexes: `using ValueId = Id<struct ValueTag>`. Ids of different
/// tags do not compare or convert. A default id is invalid.
template <typename Tag>
struct Id {
  static constexpr uint32_t Invalid = UINT32_MAX;
  uint32_t index = Invalid;

  constexpr Id() = default;
  constexpr explicit Id(size_t i) : index(static_cast<uint32_t>(i)) {}
  constexpr bool valid() const { return index != Invalid; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

}  // namespace wafer
