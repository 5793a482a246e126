// One element at a time, and sources.
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/reference/kernel.h"
#include "wafer/reference/random.h"

namespace wafer::reference {
namespace {

using ir::AttrKey;
using ir::ElementFn;

[[noreturn]] void no_such(ElementFn fn, DType type) {
  throw InternalError(std::string(ir::name_of(fn)) + " of " + std::string(name_of(type)));
}

/// NaN where an operand is NaN, as IEEE 754's maximum.
double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }

double sign(double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0, x); }

/// Rounds half to even.
double round_even(double x) { return std::nearbyint(x); }

/// Integer powers wrap around; a negative exponent gives what truncation leaves of the reciprocal.
int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1;
  uint64_t square = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if (left & 1) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}

/// Truncated quotient; all bits set for a zero divisor, as XLA has it.
int64_t divide(DType type, int64_t a, int64_t b) {
  if (b == 0) return -1;
  if (type == DType::U64) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  }
  return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
}

/// What the truncated quotient leaves; the dividend for a zero divisor.
int64_t remainder(DType type, int64_t a, int64_t b) {
  if (b == 0) return a;
  if (type == DType::U64) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
  }
  return b == -1 ? 0 : a % b;
}

/// Shifts by the width or more leave zeros (copies of the sign for the arithmetic one).
int64_t shift(ElementFn fn, DType type, int64_t a, int64_t by) {
  const int width = 8 * size_in_bytes(type);
  const bool out = by < 0 || by >= width;
  const uint64_t bits = static_cast<uint64_t>(a) & (~uint64_t{0} >> (64 - width));
  switch (fn) {
    case ElementFn::ShiftLeft:
      return out ? 0 : static_cast<int64_t>(bits << by);
    case ElementFn::ShiftRightLogical:
      return out ? 0 : static_cast<int64_t>(bits >> by);
    default: {  // lift the sign to bit 63
      const auto lifted = static_cast<int64_t>(bits << (64 - width));
      return (lifted >> (64 - width)) >> (out ? 63 : by);
    }
  }
}

/// Comparisons of elements of either storage; NaN compares unequal to all.
template <typename T>
bool compare(ElementFn fn, DType type, T a, T b) {
  bool ordered = true;
  if constexpr (std::is_same_v<T, double>) ordered = !std::isnan(a) && !std::isnan(b);
  switch (fn) {
    case ElementFn::Equal:
      return ordered && a == b;
    case ElementFn::NotEqual:
      return !ordered || a != b;
    case ElementFn::Less:
      return ordered && less(type, a, b);
    case ElementFn::LessEqual:
      return ordered && !less(type, b, a);
    case ElementFn::Greater:
      return ordered && less(type, b, a);
    case ElementFn::GreaterEqual:
      return ordered && !less(type, a, b);
    default:
      no_such(fn, type);
  }
}

bool is_comparison(ElementFn fn) { return fn >= ElementFn::Equal && fn <= ElementFn::GreaterEqual; }

template <typename T>
T element_at(const Tensor& tensor, size_t i) {
  return elements_of<T>(tensor)[i];
}

/// Functions whose result is bool whatever they are given.
template <typename T>
bool test(const Job& job, size_t i) {
  const ElementFn fn = job.fn();
  const T a = element_at<T>(job.in(0), i);
  if (fn == ElementFn::IsFinite) return std::isfinite(static_cast<double>(a));
  if (fn == ElementFn::IsNan) return std::isnan(static_cast<double>(a));
  return compare<T>(fn, job.in(0).type.dtype, a, element_at<T>(job.in(1), i));
}

template <typename T>
T computed(const Job& job, size_t i) {
  const ElementFn fn = job.fn();
  const DType type = job.results[0].dtype;
  if (fn == ElementFn::Select) {
    return element_at<T>(job.in(job.in(0).integers[i] != 0 ? 1 : 2), i);
  }
  const T a = element_at<T>(job.in(0), i);
  const T b = job.operands.size() > 1 ? element_at<T>(job.in(1), i) : T{0};
  const T c = job.operands.size() > 2 ? element_at<T>(job.in(2), i) : T{0};
  return job.element(type, apply(fn, type, a, b, c));
}

}  // namespace

double apply(ElementFn fn, DType type, double a, double b, double c) {
  switch (fn) {
    case ElementFn::Abs:
      return std::abs(a);
    case ElementFn::Negate:
      return -a;
    case ElementFn::Sign:
      return sign(a);
    case ElementFn::Floor:
      return std::floor(a);
    case ElementFn::Ceil:
      return std::ceil(a);
    case ElementFn::Round:
      return round_even(a);
    case ElementFn::Exp:
      return std::exp(a);
    case ElementFn::Expm1:
      return std::expm1(a);
    case ElementFn::Log:
      return std::log(a);
    case ElementFn::Log1p:
      return std::log1p(a);
    case ElementFn::Sqrt:
      return std::sqrt(a);
    case ElementFn::Rsqrt:
      return 1 / std::sqrt(a);
    case ElementFn::Reciprocal:
      return 1 / a;
    case ElementFn::Sin:
      return std::sin(a);
    case ElementFn::Cos:
      return std::cos(a);
    case ElementFn::Tanh:
      return std::tanh(a);
    case ElementFn::Logistic:
      return 1 / (1 + std::exp(-a));
    case ElementFn::Erf:
      return std::erf(a);
    case ElementFn::Add:
      return a + b;
    case ElementFn::Subtract:
      return a - b;
    case ElementFn::Multiply:
      return a * b;
    case ElementFn::Divide:
      return a / b;
    case ElementFn::Remainder:
      return std::fmod(a, b);
    case ElementFn::Power:
      return std::pow(a, b);
    case ElementFn::Maximum:
      return maximum(a, b);
    case ElementFn::Minimum:
      return minimum(a, b);
    case ElementFn::Atan2:
      return std::atan2(a, b);
    case ElementFn::Clamp:
      return minimum(maximum(b, a), c);
    default:
      no_such(fn, type);
  }
}

int64_t apply(ElementFn fn, DType type, int64_t a, int64_t b, int64_t c) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  switch (fn) {
    case ElementFn::Abs:
      return a < 0 && is_signed_integer(type) ? static_cast<int64_t>(-x) : a;
    case ElementFn::Negate:
      return static_cast<int64_t>(-x);
    case ElementFn::Sign:
      return is_signed_integer(type) && a < 0 ? -1 : a != 0;
    case ElementFn::Not:
      return type == DType::Bool ? a == 0 : ~a;
    case ElementFn::Add:
      return static_cast<int64_t>(x + y);
    case ElementFn::Subtract:
      return static_cast<int64_t>(x - y);
    case ElementFn::Multiply:
      return static_cast<int64_t>(x * y);
    case ElementFn::Divide:
      return divide(type, a, b);
    case ElementFn::Remainder:
      return remainder(type, a, b);
    case ElementFn::Power:
      return power(a, b);
    case ElementFn::Maximum:
      return less(type, a, b) ? b : a;
    case ElementFn::Minimum:
      return less(type, b, a) ? b : a;
    case ElementFn::And:
      return a & b;
    case ElementFn::Or:
      return a | b;
    case ElementFn::Xor:
      return a ^ b;
    case ElementFn::ShiftLeft:
    case ElementFn::ShiftRightLogical:
    case ElementFn::ShiftRightArithmetic:
      return shift(fn, type, a, b);
    case ElementFn::Clamp: {
      const int64_t raised = less(type, b, a) ? a : b;
      return less(type, c, raised) ? c : raised;
    }
    default:
      no_such(fn, type);
  }
}

Tensors elementwise(const Job& job) {
  Tensor result = zeros(job.results[0]);
  const ElementFn fn = job.fn();
  const bool tests = is_comparison(fn) || fn == ElementFn::IsFinite || fn == ElementFn::IsNan;
  const DType storage = tests ? job.in(0).type.dtype : job.results[0].dtype;
  by_storage(storage, [&]<typename T>() {
    const auto count = static_cast<size_t>(result.type.elements());
    for (size_t i = 0; i < count; ++i) {
      if (tests) {
        result.integers[i] = test<T>(job, i);
      } else {
        elements_of<T>(result)[i] = computed<T>(job, i);
      }
    }
  });
  return {std::move(result)};
}

Tensors convert(const Job& job) {
  const DType from = job.in(0).type.dtype;
  const DType to = job.results[0].dtype;
  Tensor result{.type = job.results[0], .floats = {}, .integers = {}};
  for (double x : job.in(0).floats) {
    if (is_float(to)) {
      result.floats.push_back(job.element(to, x));
    } else {
      result.integers.push_back(to_integer(to, x));
    }
  }
  for (int64_t x : job.in(0).integers) {
    if (is_float(to)) {
      result.floats.push_back(job.element(to, to_double(from, x)));
    } else {
      result.integers.push_back(job.element(to, x));
    }
  }
  return {std::move(result)};
}

Tensors constant(const Job& job) {
  Tensor result = tensor_of(*job.attrs.get<ir::LiteralRef>(AttrKey::Value));
  for (double& x : result.floats) x = job.element(result.type.dtype, x);
  return {std::move(result)};
}

Tensors iota(const Job& job) {
  Tensor result{.type = job.results[0], .floats = {}, .integers = {}};
  const auto dim = static_cast<size_t>(job.integer(AttrKey::Dim));
  const DType type = result.type.dtype;
  for_each_index(sizes_of(result.type.shape), [&](const Index& index) {
    if (is_float(type)) {
      result.floats.push_back(job.element(type, static_cast<double>(index[dim])));
    } else {
      result.integers.push_back(job.element(type, index[dim]));
    }
  });
  return {std::move(result)};
}

Tensors rng(const Job& job) {
  Tensor result = zeros(job.results[0]);
  const auto seed = static_cast<uint64_t>(job.integer(AttrKey::Seed));
  const double a = job.attrs.get<double>(AttrKey::Axis0);
  const double b = job.attrs.get<double>(AttrKey::Axis1);
  const bool normal = job.attrs.get<std::string>(AttrKey::Distribution) == "normal";
  for (size_t i = 0; i < result.floats.size(); ++i) {
    const double x = normal ? random_normal(seed, i, a, b) : random_uniform(seed, i, a, b);
    result.floats[i] = job.element(result.type.dtype, x);
  }
  return {std::move(result)};
}

}  // namespace wafer::reference
