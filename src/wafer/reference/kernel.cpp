#include "wafer/reference/kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "wafer/base/error.h"

namespace wafer::reference {
namespace {

int bits_of(DType type) { return 8 * size_in_bytes(type); }

}  // namespace

double Job::element(DType type, double x) const {
  return precision == Precision::Typed ? round_to(type, x) : x;
}

int64_t Job::element(DType type, int64_t x) const {
  if (type == DType::Bool) return x != 0;
  const int spare = 64 - bits_of(type);
  const uint64_t lifted = static_cast<uint64_t>(x) << spare;
  return is_signed_integer(type) ? static_cast<int64_t>(lifted) >> spare
                                 : static_cast<int64_t>(lifted >> spare);
}

DType Job::accumulator(DType type) const {
  if (const ir::AttrValue* named = attrs.find(ir::AttrKey::Accumulate)) {
    return dtype_named(std::get<std::string>(*named)).value();
  }
  return is_float(type) && size_in_bytes(type) < 4 ? DType::F32 : type;
}

Index sizes_of(const Shape& shape) {
  Index sizes;
  for (const Dim& d : shape) sizes.push_back(d.value());
  return sizes;
}

Index strides_of(const Index& sizes) {
  Index strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

int64_t product_of(const Index& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

bool advance(Index& index, const Index& sizes) {
  for (size_t i = sizes.size(); i-- > 0;) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

int64_t dot(const Index& a, const Index& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), int64_t{0});
}

Index at(const Index& list, const Index& dims) {
  Index result;
  for (int64_t d : dims) result.push_back(list[static_cast<size_t>(d)]);
  return result;
}

Index complement(size_t rank, const Index& dims) {
  Index result;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) result.push_back(d);
  }
  return result;
}

int64_t to_integer(DType type, double x) {
  if (type == DType::Bool) return x != 0;
  if (std::isnan(x)) return 0;
  const bool is_signed = is_signed_integer(type);
  const double high = std::ldexp(1.0, bits_of(type) - (is_signed ? 1 : 0));  // first one too large
  const double low = is_signed ? -high : 0;
  const double whole = std::trunc(x);
  if (whole < high && whole >= low) {
    return is_signed ? static_cast<int64_t>(whole)
                     : static_cast<int64_t>(static_cast<uint64_t>(whole));
  }
  const uint64_t ones = ~uint64_t{0} >> (64 - bits_of(type));
  if (!is_signed) return whole < 0 ? 0 : static_cast<int64_t>(ones);
  const auto largest = static_cast<int64_t>(ones >> 1);
  return whole < 0 ? -largest - 1 : largest;
}

double to_double(DType type, int64_t x) {
  return type == DType::U64 ? static_cast<double>(static_cast<uint64_t>(x))
                            : static_cast<double>(x);
}

double neutral_element(ir::ElementFn fn, DType type) {
  switch (fn) {
    case ir::ElementFn::Add:
    case ir::ElementFn::Or:
    case ir::ElementFn::Xor:
      return 0;
    case ir::ElementFn::Multiply:
      return 1;
    case ir::ElementFn::And:  // all bits set
      return is_signed_integer(type) ? -1 : HUGE_VAL;
    case ir::ElementFn::Maximum:
      return type == DType::Bool ? 0 : -HUGE_VAL;
    case ir::ElementFn::Minimum:
      return HUGE_VAL;
    default:
      throw InternalError("not a reduction: " + std::string(ir::name_of(fn)));
  }
}

bool less(DType, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  return a < b;
}

bool less(DType type, int64_t a, int64_t b) {
  return type == DType::U64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

}  // namespace wafer::reference
