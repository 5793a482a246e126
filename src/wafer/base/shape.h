#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/base/dtype.h"
#include "wafer/base/units.h"

namespace wafer {

/// Values given to symbolic dimensions, by name.
using DimBindings = std::map<std::string, int64_t>;

/// One dimension: a count times a product of named symbols, such as 128, batch, or 128*batch*seq.
/// Such products are closed under what shapes need most: multiplying, exact division, equality.
/// Sums of unlike symbols are not dimensions; bind the symbols first.
class Dim {
 public:
  Dim(int64_t value = 0) : factor_(value) {}  // NOLINT: a number is a dimension
  /// The symbol `name` ([A-Za-z_][A-Za-z0-9_.]*), standing for one unknown positive count.
  static Dim symbol(std::string name);

  bool is_static() const { return symbols_.empty(); }
  /// The count. Throws InputError naming the unbound symbols when it is not static.
  int64_t value() const;
  /// The factor before the symbols; equals value() when static.
  int64_t factor() const { return factor_; }
  /// Sorted, repeated where a power is meant; empty when static.
  const std::vector<std::string>& symbols() const { return symbols_; }

  /// Throws InputError when the product passes 2^62.
  friend Dim operator*(const Dim& a, const Dim& b);
  /// a / b when it is exact for every binding, else nothing.
  friend std::optional<Dim> divide_exact(const Dim& a, const Dim& b);
  /// a + b when it is a dimension: like symbols (batch + 2*batch = 3*batch), or one of them 0.
  /// Throws InputError when the sum passes 2^62.
  friend std::optional<Dim> add_exact(const Dim& a, const Dim& b);
  friend bool operator==(const Dim&, const Dim&) = default;

  /// With every symbol that `bindings` names replaced.
  Dim bound(const DimBindings& bindings) const;
  /// "128", "batch", "128*batch*seq".
  std::string text() const;
  /// Parses text(); nothing when it is not a dimension.
  static std::optional<Dim> parse(std::string_view text);

 private:
  int64_t factor_ = 0;
  std::vector<std::string> symbols_;
};

std::optional<Dim> divide_exact(const Dim& a, const Dim& b);
std::optional<Dim> add_exact(const Dim& a, const Dim& b);

using Shape = std::vector<Dim>;

/// Product of all dimensions; 1 for a scalar.
Dim element_count(const Shape& shape);

/// Element type and shape of a tensor value.
struct TensorType {
  DType dtype = DType::F32;
  Shape shape;

  int rank() const { return static_cast<int>(shape.size()); }
  bool is_static() const;
  /// Number of elements; throws InputError when a dimension is unbound.
  int64_t elements() const { return element_count(shape).value(); }
  Bytes bytes() const { return Bytes(static_cast<double>(elements()) * size_in_bytes(dtype)); }
  TensorType bound(const DimBindings& bindings) const;
  /// "f16[64,128]", "f32[]", "f32[batch,128]".
  std::string text() const;
  /// Parses text(); nothing when it is not a type, a dimension is negative or there are over 64.
  static std::optional<TensorType> parse(std::string_view text);
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

}  // namespace wafer
