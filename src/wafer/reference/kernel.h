#pragma once

// What the kernels of kernel_*.cpp share; not for use outside reference/.

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "wafer/ir/op.h"
#include "wafer/reference/interpreter.h"
#include "wafer/reference/tensor.h"

namespace wafer::reference {

using Index = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

/// An op about to be computed: shapes are static and keep the rules of docs/spec/ops.md.
struct Job {
  ir::OpKind kind;
  const ir::Attributes& attrs;
  std::span<const Tensor* const> operands;
  std::span<const TensorType> results;
  Precision precision = Precision::F64;

  const Tensor& in(size_t i) const { return *operands[i]; }
  const ir::Ints& ints(ir::AttrKey key) const { return attrs.get<ir::Ints>(key); }
  int64_t integer(ir::AttrKey key) const { return attrs.get<int64_t>(key); }
  ir::ElementFn fn() const { return attrs.get<ir::ElementFn>(ir::AttrKey::Fn); }
  /// x as an element of `type`: rounded when precision is Typed. Integers wrap around.
  double element(DType type, double x) const;
  int64_t element(DType type, int64_t x) const;
  /// The type that sums of elements of `type` run in.
  DType accumulator(DType type) const;
};

/// Sizes of a static shape.
Index sizes_of(const Shape& shape);
/// Distance between neighbours in each dimension, row-major.
Index strides_of(const Index& sizes);
int64_t product_of(const Index& sizes);
/// Moves `index` to the next place in row-major order; false after the last one.
bool advance(Index& index, const Index& sizes);
int64_t dot(const Index& a, const Index& b);
/// The entries of `list` at `dims`, and those not at `dims`.
Index at(const Index& list, const Index& dims);
Index complement(size_t rank, const Index& dims);

/// Calls visit(index) for each place in row-major order.
template <typename Visit>
void for_each_index(const Index& sizes, Visit visit) {
  if (product_of(sizes) == 0) return;
  Index index(sizes.size(), 0);
  do {
    visit(static_cast<const Index&>(index));
  } while (advance(index, sizes));
}

template <typename T, typename TensorRef>
auto& elements_of(TensorRef& tensor) {
  if constexpr (std::is_same_v<T, double>) {
    return tensor.floats;
  } else {
    return tensor.integers;
  }
}

/// Calls run.operator()<double>() or <int64_t>(), by what elements of `type` are held as.
template <typename Run>
auto by_storage(DType type, Run run) {
  return is_float(type) ? run.template operator()<double>() : run.template operator()<int64_t>();
}

/// x truncated toward zero and saturated at the bounds of an integer type; bool: x != 0.
int64_t to_integer(DType type, double x);
/// The value of an integer element (u64 is held as its bits).
double to_double(DType type, int64_t x);
/// Whether a < b as elements of `type`; NaN is greater than all others.
bool less(DType type, double a, double b);
bool less(DType type, int64_t a, int64_t b);

/// fn of elements of `type` whose result has that type too.
double apply(ir::ElementFn fn, DType type, double a, double b = 0, double c = 0);
int64_t apply(ir::ElementFn fn, DType type, int64_t a, int64_t b = 0, int64_t c = 0);

/// x of which apply(fn, type, x, y) is y. Only for reductions.
double neutral_element(ir::ElementFn fn, DType type);
template <typename T>
T neutral_of(ir::ElementFn fn, DType type) {
  const double x = neutral_element(fn, type);
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return to_integer(type, x);
  }
}

Tensors elementwise(const Job& job);
Tensors convert(const Job& job);
Tensors constant(const Job& job);
Tensors iota(const Job& job);
Tensors rng(const Job& job);

Tensors broadcast_in_dim(const Job& job);
Tensors reshape(const Job& job);
Tensors transpose(const Job& job);
Tensors slice(const Job& job);
Tensors dynamic_slice(const Job& job);
Tensors dynamic_update_slice(const Job& job);
Tensors concatenate(const Job& job);
Tensors pad(const Job& job);
Tensors reverse(const Job& job);
Tensors gather(const Job& job);
Tensors scatter(const Job& job);

/// With fn; a body is run by the interpreter.
Tensors reduce(const Job& job);
Tensors arg_reduce(const Job& job);
Tensors reduce_window(const Job& job);
Tensors select_and_scatter(const Job& job);
Tensors cumulative(const Job& job);
Tensors sort(const Job& job);

Tensors dot_general(const Job& job);
Tensors convolution(const Job& job);

}  // namespace wafer::reference
