#pragma once

#include <optional>
#include <span>
#include <vector>

#include "wafer/ir/op.h"

namespace wafer::importers {

/// All elements of a value, where folding could follow them. Integers and booleans may be symbolic
/// dimensions, so that shape arithmetic is followed while the batch is open.
struct Known {
  DType dtype = DType::I64;
  ir::Ints shape;
  std::vector<Dim> ints;       ///< row-major, for integers and bool
  std::vector<double> floats;  ///< row-major, for float types

  int64_t size() const;
  bool is_float_type() const { return is_float(dtype); }
  bool is_static() const;
  /// Every element equals the first; true for one element, false for none.
  bool is_splat() const;
  TensorType type() const;
  friend bool operator==(const Known&, const Known&) = default;
};

int64_t elements_in(const ir::Ints& shape);

/// A 1-dimensional i64 value.
Known known_dims(const Shape& elements);
/// The literal with these elements. They must be static.
ir::Literal literal_of(const Known& known);
/// The elements of a literal that is not elided.
Known known_of(const ir::Literal& literal);

/// fn applied element by element to operands of equal shape (Select takes a bool first); nothing
/// where an element has no one answer for every value of the symbols, or on overflow.
std::optional<Known> fold_elementwise(ir::ElementFn fn, const std::vector<const Known*>& operands);
/// Nothing where a symbolic element becomes a float, or an integer does not fit.
std::optional<Known> fold_convert(const Known& x, DType dtype);
/// Reduction over `dims` with Add, Multiply, Maximum or Minimum.
std::optional<Known> fold_reduce(ir::ElementFn fn, const Known& x, const ir::Ints& dims);

/// Result element i (of `shape`, row-major) is x's element offset + sum of i_d * strides_d: slices,
/// transposes and broadcasts.
Known fold_view(const Known& x, const ir::Ints& shape, const ir::Ints& strides, int64_t offset = 0);
Known fold_concatenate(const std::vector<const Known*>& xs, int64_t dim);
/// Elements of x along `axis` by indices within it: the shape of x with that of the indices in the
/// place of the axis.
Known fold_gather(const Known& x, const Known& indices, int64_t axis);
/// Row-major strides of a shape.
ir::Ints strides_of(const ir::Ints& shape);

}  // namespace wafer::importers
