#include "wafer/base/dtype.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "wafer/base/error.h"

namespace wafer {
namespace {

enum class Class : uint8_t { Float, Signed, Unsigned, Boolean };

struct Row {
  std::string_view name;
  int bytes;
  Class kind;
};

constexpr std::array<Row, DTypeCount> Table = {{
    {"f64", 8, Class::Float},
    {"f32", 4, Class::Float},
    {"f16", 2, Class::Float},
    {"bf16", 2, Class::Float},
    {"cb16", 2, Class::Float},
    {"f8e4m3fn", 1, Class::Float},
    {"f8e5m2", 1, Class::Float},
    {"i64", 8, Class::Signed},
    {"i32", 4, Class::Signed},
    {"i16", 2, Class::Signed},
    {"i8", 1, Class::Signed},
    {"u64", 8, Class::Unsigned},
    {"u32", 4, Class::Unsigned},
    {"u16", 2, Class::Unsigned},
    {"u8", 1, Class::Unsigned},
    {"bool", 1, Class::Boolean},
}};

const Row& row(DType type) { return Table[static_cast<size_t>(type)]; }

/// Exponent and mantissa widths of the small floats. `finite_only`: no infinity, the top exponent
/// holds numbers but for the all-ones NaN (**Source:** OCP 8-bit floating point specification).
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool finite_only = false;
  int min_exponent() const { return 1 - bias; }
  int max_exponent() const { return (1 << exponent_bits) - (finite_only ? 1 : 2) - bias; }
  double largest() const {
    const double top =
        finite_only ? 2.0 - std::ldexp(2.0, -mantissa_bits) : 2.0 - std::ldexp(1.0, -mantissa_bits);
    return std::ldexp(top, max_exponent());
  }
};

Format format_of(DType type) {
  switch (type) {
    case DType::F16:
      return {5, 10, 15};
    case DType::Bf16:
      return {8, 7, 127};
    case DType::Cb16:
      return {6, 9, 42};
    case DType::F8e4m3fn:
      return {4, 3, 7, true};
    case DType::F8e5m2:
      return {5, 2, 15};
    default:
      throw InternalError("no small float format: " + std::string(name_of(type)));
  }
}

double round_small(Format f, double x) {
  if (std::isnan(x) || x == 0) return x;
  const double overflow =
      f.finite_only ? std::numeric_limits<double>::quiet_NaN() : std::copysign(HUGE_VAL, x);
  if (std::isinf(x)) return overflow;
  const int exponent = std::max(std::ilogb(x), f.min_exponent());
  const double step = std::ldexp(1.0, exponent - f.mantissa_bits);
  const double rounded = std::nearbyint(x / step) * step;  // both exact: step is a power of two
  return std::abs(rounded) > f.largest() ? overflow : rounded;
}

double round_integer(Row r, double x) {
  if (std::isnan(x)) return 0;
  const int bits = 8 * r.bytes;
  const bool is_signed = r.kind == Class::Signed;
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  const double bound = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  // For 64 bits, bound - 1 is no double; the one below bound is the largest that still fits.
  const double high = bits == 64 ? std::nextafter(bound, 0.0) : bound - 1;
  return std::min(std::max(std::trunc(x), low), high);
}

}  // namespace

std::string_view name_of(DType type) { return row(type).name; }

std::optional<DType> dtype_named(std::string_view name) {
  for (int i = 0; i < DTypeCount; ++i) {
    if (Table[static_cast<size_t>(i)].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int size_in_bytes(DType type) { return row(type).bytes; }
bool is_float(DType type) { return row(type).kind == Class::Float; }
bool is_signed_integer(DType type) { return row(type).kind == Class::Signed; }
bool is_integer(DType type) { return is_signed_integer(type) || row(type).kind == Class::Unsigned; }

double round_to(DType type, double x) {
  switch (row(type).kind) {
    case Class::Boolean:
      return x != 0 ? 1 : 0;
    case Class::Signed:
    case Class::Unsigned:
      return round_integer(row(type), x);
    case Class::Float:
      break;
  }
  if (type == DType::F64) return x;
  if (type == DType::F32) return static_cast<float>(x);
  return round_small(format_of(type), x);
}

double decode_small_float(DType type, uint16_t bits) {
  const Format f = format_of(type);
  const int sign_at = f.exponent_bits + f.mantissa_bits;
  const double sign = (bits >> sign_at) & 1 ? -1.0 : 1.0;
  const int exponent = (bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
  const bool top = exponent == (1 << f.exponent_bits) - 1;
  if (top && !f.finite_only && mantissa == 0) return sign * HUGE_VAL;
  if (top && (!f.finite_only || mantissa == (1 << f.mantissa_bits) - 1)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, f.min_exponent() - f.mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << f.mantissa_bits), exponent - f.bias - f.mantissa_bits);
}

uint16_t encode_small_float(DType type, double x) {
  const Format f = format_of(type);
  const uint16_t sign =
      static_cast<uint16_t>((std::signbit(x) ? 1u : 0u) << (f.exponent_bits + f.mantissa_bits));
  const double r = std::abs(round_small(f, x));
  const int top = (1 << f.exponent_bits) - 1;
  if (std::isnan(r)) {
    const int quiet = f.finite_only ? (1 << f.mantissa_bits) - 1 : 1 << (f.mantissa_bits - 1);
    return static_cast<uint16_t>(sign | (top << f.mantissa_bits) | quiet);
  }
  if (std::isinf(r)) return static_cast<uint16_t>(sign | (top << f.mantissa_bits));
  if (r == 0) return sign;
  const int exponent = std::max(std::ilogb(r), f.min_exponent());
  const int scaled = static_cast<int>(std::ldexp(r, f.mantissa_bits - exponent));
  const bool normal = scaled >= 1 << f.mantissa_bits;
  const int field = normal ? exponent + f.bias : 0;
  const int mantissa = normal ? scaled - (1 << f.mantissa_bits) : scaled;
  return static_cast<uint16_t>(sign | (field << f.mantissa_bits) | mantissa);
}

}  // namespace wafer
