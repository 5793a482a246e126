#pragma once

#include <cstdint>

namespace wafer {

/// PEs of columns [x, x + width) and rows [y, y + height) of a wafer.
struct Rectangle {
  int64_t x = 0, y = 0;
  int64_t width = 0, height = 0;

  constexpr int64_t area() const { return width * height; }
  constexpr int64_t right() const { return x + width; }
  constexpr int64_t bottom() const { return y + height; }
  constexpr bool overlaps(const Rectangle& o) const {
    return x < o.right() && o.x < right() && y < o.bottom() && o.y < bottom();
  }
  friend constexpr bool operator==(const Rectangle&, const Rectangle&) = default;
};

}  // namespace wafer
