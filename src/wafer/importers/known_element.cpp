#include "wafer/importers/known_element.h"

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"

namespace wafer::importers {
namespace {

using ir::ElementFn;

/// Dim holds values up to 2^62; larger ones are not followed.
std::optional<Dim> in_range(int64_t value) {
  constexpr int64_t Most = int64_t{1} << 62;
  if (value > Most || value < -Most) return std::nullopt;
  return Dim(value);
}

std::optional<Dim> sum_of(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::nullopt : in_range(result);
}

std::optional<Dim> difference_of(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? std::nullopt : in_range(result);
}

std::optional<Dim> product_of(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : in_range(result);
}

std::optional<int64_t> power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  if (exponent < 0 || exponent > 62) return std::nullopt;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

std::optional<Dim> apply_to_numbers(ElementFn fn, int64_t a, int64_t b) {
  switch (fn) {
    case ElementFn::Add:
      return sum_of(a, b);
    case ElementFn::Subtract:
      return difference_of(a, b);
    case ElementFn::Multiply:
      return product_of(a, b);
    case ElementFn::Divide:
      if (b == 0) return std::nullopt;
      return b == -1 ? difference_of(0, a) : in_range(a / b);
    case ElementFn::Remainder:
      if (b == 0) return std::nullopt;
      return b == -1 ? Dim(0) : in_range(a % b);
    case ElementFn::Power: {
      const std::optional<int64_t> p = power(a, b);
      return p ? in_range(*p) : std::nullopt;
    }
    case ElementFn::Maximum:
      return Dim(std::max(a, b));
    case ElementFn::Minimum:
      return Dim(std::min(a, b));
    case ElementFn::And:
      return Dim(a & b);
    case ElementFn::Or:
      return Dim(a | b);
    case ElementFn::Xor:
      return Dim(a ^ b);
    case ElementFn::Equal:
      return Dim(a == b);
    case ElementFn::NotEqual:
      return Dim(a != b);
    case ElementFn::Less:
      return Dim(a < b);
    case ElementFn::LessEqual:
      return Dim(a <= b);
    case ElementFn::Greater:
      return Dim(a > b);
    case ElementFn::GreaterEqual:
      return Dim(a >= b);
    default:
      return std::nullopt;
  }
}

/// The least value that x can have: symbols are at least 1. Nothing where it has no least.
std::optional<int64_t> least(const Dim& x) {
  if (x.is_static() || x.factor() > 0) return x.factor();
  return std::nullopt;
}

/// Where a and b stand to each other for every value of the symbols: -1, 0, 1 or nothing.
std::optional<int> order(const Dim& a, const Dim& b) {
  if (a.symbols() == b.symbols()) {
    if (a.factor() == b.factor()) return 0;
    return a.factor() < b.factor() ? -1 : 1;
  }
  if (b.is_static() && least(a) && *least(a) > b.factor()) return 1;
  if (a.is_static() && least(b) && *least(b) > a.factor()) return -1;
  return std::nullopt;
}

/// Like order, where the answer "not less" or "not greater" is enough.
bool never_less(const Dim& a, const Dim& b) {
  const std::optional<int> o = order(a, b);
  if (o) return *o >= 0;
  return b.is_static() && least(a) && *least(a) >= b.factor();
}

std::optional<Dim> sum(const Dim& a, const Dim& b, int64_t sign) {
  if (b == Dim(0)) return a;
  if (a == Dim(0)) return Dim(sign) * b;
  if (a.symbols() != b.symbols()) return std::nullopt;
  const int64_t factor = a.factor() + sign * b.factor();
  if (factor == 0) return Dim(0);
  const std::optional<Dim> symbols = divide_exact(a, Dim(a.factor()));
  return Dim(factor) * *symbols;
}

std::optional<Dim> truth(const std::optional<int>& o, bool below, bool same, bool above) {
  if (!o) return std::nullopt;
  return Dim(*o < 0 ? below : *o == 0 ? same : above);
}

std::optional<Dim> apply_to_symbols(ElementFn fn, const Dim& a, const Dim& b) {
  switch (fn) {
    case ElementFn::Add:
      return sum(a, b, 1);
    case ElementFn::Subtract:
      return sum(a, b, -1);
    case ElementFn::Multiply:
      return a * b;
    case ElementFn::Divide:
      return divide_exact(a, b);
    case ElementFn::Remainder:
      return divide_exact(a, b) ? std::optional<Dim>(Dim(0)) : std::nullopt;
    case ElementFn::Maximum:
      return never_less(a, b)   ? std::optional<Dim>(a)
             : never_less(b, a) ? std::optional<Dim>(b)
                                : std::nullopt;
    case ElementFn::Minimum:
      return never_less(a, b)   ? std::optional<Dim>(b)
             : never_less(b, a) ? std::optional<Dim>(a)
                                : std::nullopt;
    case ElementFn::Equal:
      return truth(order(a, b), false, true, false);
    case ElementFn::NotEqual:
      return truth(order(a, b), true, false, true);
    case ElementFn::Less:
      return never_less(a, b) ? Dim(0) : truth(order(a, b), true, false, false);
    case ElementFn::LessEqual:
      return never_less(b, a) ? Dim(1) : truth(order(a, b), true, true, false);
    case ElementFn::Greater:
      return never_less(b, a) ? Dim(0) : truth(order(a, b), false, false, true);
    case ElementFn::GreaterEqual:
      return never_less(a, b) ? Dim(1) : truth(order(a, b), false, true, true);
    default:
      return std::nullopt;
  }
}

std::optional<Dim> apply_to_one(ElementFn fn, const Dim& x, DType dtype) {
  switch (fn) {
    case ElementFn::Abs:
      if (x.factor() >= 0) return x;
      return Dim(-1) * x;
    case ElementFn::Negate:
      return Dim(-1) * x;
    case ElementFn::Sign:
      return Dim((x.factor() > 0) - (x.factor() < 0));
    case ElementFn::Not:
      if (dtype == DType::Bool) return Dim(x == Dim(0));
      return x.is_static() ? std::optional<Dim>(Dim(~x.factor())) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_predicate(ElementFn fn) {
  return (fn >= ElementFn::Equal && fn <= ElementFn::GreaterEqual) || fn == ElementFn::IsFinite ||
         fn == ElementFn::IsNan;
}

bool is_true(const Dim& x) { return x.factor() != 0; }

std::optional<Dim> apply_to_dims(ElementFn fn, const std::vector<Dim>& x, DType dtype) {
  if (!is_signed_integer(dtype) && dtype != DType::Bool && dtype != DType::U8) {
    return std::nullopt;  // wraps where int64 does not
  }
  try {
    if (x.size() == 1) return apply_to_one(fn, x[0], dtype);
    if (x.size() != 2) return std::nullopt;
    if (!x[0].is_static() || !x[1].is_static()) return apply_to_symbols(fn, x[0], x[1]);
    const std::optional<Dim> value = apply_to_numbers(fn, x[0].factor(), x[1].factor());
    return value && !is_predicate(fn) ? convert_dim(*value, dtype) : value;
  } catch (const InputError&) {
    return std::nullopt;  // past 2^62
  }
}

std::optional<double> apply_to_reals(ElementFn fn, const std::vector<double>& x) {
  switch (fn) {
    case ElementFn::Abs:
      return std::abs(x[0]);
    case ElementFn::Negate:
      return -x[0];
    case ElementFn::Floor:
      return std::floor(x[0]);
    case ElementFn::Ceil:
      return std::ceil(x[0]);
    case ElementFn::Round:
      return std::nearbyint(x[0]);
    case ElementFn::Exp:
      return std::exp(x[0]);
    case ElementFn::Log:
      return std::log(x[0]);
    case ElementFn::Sqrt:
      return std::sqrt(x[0]);
    case ElementFn::Rsqrt:
      return 1 / std::sqrt(x[0]);
    case ElementFn::Reciprocal:
      return 1 / x[0];
    case ElementFn::Add:
      return x[0] + x[1];
    case ElementFn::Subtract:
      return x[0] - x[1];
    case ElementFn::Multiply:
      return x[0] * x[1];
    case ElementFn::Divide:
      return x[0] / x[1];
    case ElementFn::Power:
      return std::pow(x[0], x[1]);
    case ElementFn::Maximum:
      return std::isnan(x[0]) || std::isnan(x[1]) ? NAN : std::max(x[0], x[1]);
    case ElementFn::Minimum:
      return std::isnan(x[0]) || std::isnan(x[1]) ? NAN : std::min(x[0], x[1]);
    default:
      return std::nullopt;
  }
}

std::optional<Dim> compare_reals(ElementFn fn, const std::vector<double>& x) {
  switch (fn) {
    case ElementFn::IsFinite:
      return Dim(std::isfinite(x[0]));
    case ElementFn::IsNan:
      return Dim(std::isnan(x[0]));
    case ElementFn::Equal:
      return Dim(x[0] == x[1]);
    case ElementFn::NotEqual:
      return Dim(x[0] != x[1]);
    case ElementFn::Less:
      return Dim(x[0] < x[1]);
    case ElementFn::LessEqual:
      return Dim(x[0] <= x[1]);
    case ElementFn::Greater:
      return Dim(x[0] > x[1]);
    case ElementFn::GreaterEqual:
      return Dim(x[0] >= x[1]);
    default:
      return std::nullopt;
  }
}

std::optional<Dim> convert_dim(const Dim& x, DType dtype) {
  if (dtype == DType::Bool) return Dim(x.factor() != 0);
  if (is_float(dtype)) return x.is_static() ? std::optional<Dim>(x) : std::nullopt;
  if (dtype == DType::I64) return x;
  // Dimensions are taken to fit 32 bits; numbers are looked at.
  if (!x.is_static()) return size_in_bytes(dtype) >= 4 ? std::optional<Dim>(x) : std::nullopt;
  if (dtype == DType::U64) return x.factor() >= 0 ? std::optional<Dim>(x) : std::nullopt;
  const auto value = static_cast<double>(x.factor());
  return std::abs(value) < 0x1p53 && round_to(dtype, value) == value ? std::optional<Dim>(x)
                                                                     : std::nullopt;
}

}  // namespace wafer::importers
