#include "wafer/base/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "wafer/base/error.h"

namespace wafer {
namespace {

constexpr int64_t LargestDim = int64_t{1} << 62;

bool is_symbol(std::string_view s) {
  const auto head = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  if (s.empty() || !head(s[0])) return false;
  return std::all_of(s.begin(), s.end(), [&](char c) {
    return head(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.';
  });
}

int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > LargestDim || product < -LargestDim) {
    throw InputError(fmt::format("dimension too large: {} x {} passes 2^62", a, b));
  }
  return product;
}

}  // namespace

Dim Dim::symbol(std::string name) {
  if (!is_symbol(name)) throw InputError("not a name for a dimension: \"" + name + "\"");
  Dim d(1);
  d.symbols_.push_back(std::move(name));
  return d;
}

int64_t Dim::value() const {
  if (is_static()) return factor_;
  throw InputError(fmt::format("dimension {} is not bound: give it with --dim {}=VALUE", text(),
                               symbols_.front()));
}

Dim operator*(const Dim& a, const Dim& b) {
  Dim product(multiply(a.factor_, b.factor_));
  if (product.factor_ == 0) return product;
  product.symbols_ = a.symbols_;
  product.symbols_.insert(product.symbols_.end(), b.symbols_.begin(), b.symbols_.end());
  std::sort(product.symbols_.begin(), product.symbols_.end());
  return product;
}

std::optional<Dim> divide_exact(const Dim& a, const Dim& b) {
  if (b.factor_ == 0 || a.factor_ % b.factor_ != 0) return std::nullopt;
  if (a.factor_ != 0 &&
      !std::includes(a.symbols_.begin(), a.symbols_.end(), b.symbols_.begin(), b.symbols_.end())) {
    return std::nullopt;
  }
  Dim quotient(a.factor_ / b.factor_);
  std::set_difference(a.symbols_.begin(), a.symbols_.end(), b.symbols_.begin(), b.symbols_.end(),
                      std::back_inserter(quotient.symbols_));
  return quotient;
}

std::optional<Dim> add_exact(const Dim& a, const Dim& b) {
  if (a.factor_ == 0) return b;
  if (b.factor_ == 0) return a;
  if (a.symbols_ != b.symbols_) return std::nullopt;
  Dim sum = a;
  if (__builtin_add_overflow(a.factor_, b.factor_, &sum.factor_) || sum.factor_ > LargestDim) {
    throw InputError(fmt::format("dimension too large: {} + {} passes 2^62", a.text(), b.text()));
  }
  if (sum.factor_ == 0) sum.symbols_.clear();
  return sum;
}

Dim Dim::bound(const DimBindings& bindings) const {
  if (is_static()) return *this;
  Dim result(factor_);
  for (const std::string& s : symbols_) {
    const auto found = bindings.find(s);
    result = result * (found == bindings.end() ? symbol(s) : Dim(found->second));
  }
  return result;
}

std::string Dim::text() const {
  if (is_static()) return std::to_string(factor_);
  const std::string names = fmt::format("{}", fmt::join(symbols_, "*"));
  return factor_ == 1 ? names : fmt::format("{}*{}", factor_, names);
}

std::optional<Dim> Dim::parse(std::string_view text) {
  Dim result(1);
  while (true) {
    const size_t star = text.find('*');
    const std::string_view part = text.substr(0, star);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error == std::errc() && end == part.data() + part.size()) {
      result = result * Dim(number);
    } else if (is_symbol(part)) {
      result = result * symbol(std::string(part));
    } else {
      return std::nullopt;
    }
    if (star == std::string_view::npos) return result;
    text.remove_prefix(star + 1);
  }
}

Dim element_count(const Shape& shape) {
  Dim count(1);
  for (const Dim& d : shape) count = count * d;
  return count;
}

bool TensorType::is_static() const {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_static(); });
}

TensorType TensorType::bound(const DimBindings& bindings) const {
  TensorType result{dtype, {}};
  result.shape.reserve(shape.size());
  for (const Dim& d : shape) result.shape.push_back(d.bound(bindings));
  return result;
}

std::optional<TensorType> TensorType::parse(std::string_view text) {
  constexpr size_t MostDims = 64;
  const size_t open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') return std::nullopt;
  const auto dtype = dtype_named(text.substr(0, open));
  if (!dtype) return std::nullopt;
  TensorType type{*dtype, {}};
  std::string_view dims = text.substr(open + 1, text.size() - open - 2);
  while (!dims.empty()) {
    const size_t comma = dims.find(',');
    const auto dim = Dim::parse(dims.substr(0, comma));
    if (!dim || dim->factor() < 0 || type.shape.size() == MostDims) return std::nullopt;
    type.shape.push_back(*dim);
    if (comma == std::string_view::npos) return type;
    dims.remove_prefix(comma + 1);
    if (dims.empty()) return std::nullopt;  // a comma with nothing after it
  }
  return type;
}

std::string TensorType::text() const {
  std::string dims;
  for (const Dim& d : shape) dims += (dims.empty() ? "" : ",") + d.text();
  return fmt::format("{}[{}]", name_of(dtype), dims);
}

}  // namespace wafer
