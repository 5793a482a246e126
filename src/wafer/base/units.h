#pragma once

#include <compare>
#include <cstdint>

namespace wafer {

/// A number with a unit. Units add and compare only with themselves and scale by plain numbers;
/// one crosses into another by a named function below. `Bytes + Cycles` does not compile.
template <typename Tag>
struct Quantity {
  double value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value(v) {}
  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  constexpr Quantity& operator+=(Quantity o) { return value += o.value, *this; }
  constexpr Quantity& operator-=(Quantity o) { return value -= o.value, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value + b.value);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value - b.value);
  }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity(a.value * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value / k); }
  /// A ratio of two like quantities is a plain number.
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Bytes = Quantity<struct BytesTag>;
using Cycles = Quantity<struct CyclesTag>;
using Flops = Quantity<struct FlopsTag>;  ///< a count of floating point operations
using Seconds = Quantity<struct SecondsTag>;
using Hertz = Quantity<struct HertzTag>;
using Joules = Quantity<struct JoulesTag>;
using Watts = Quantity<struct WattsTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;

constexpr Seconds time_of(Cycles c, Hertz clock) { return Seconds(c.value / clock.value); }
constexpr Seconds time_of(Bytes b, BytesPerSecond rate) { return Seconds(b.value / rate.value); }
constexpr Seconds time_of(Flops f, FlopsPerSecond rate) { return Seconds(f.value / rate.value); }
constexpr Joules energy_of(Watts power, Seconds time) { return Joules(power.value * time.value); }
constexpr FlopsPerSecond rate_of(Flops f, Seconds t) { return FlopsPerSecond(f.value / t.value); }
constexpr BytesPerSecond rate_of(Bytes b, Seconds t) { return BytesPerSecond(b.value / t.value); }

}  // namespace wafer
