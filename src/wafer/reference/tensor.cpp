#include "wafer/reference/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "wafer/base/error.h"
#include "wafer/reference/kernel.h"

namespace wafer::reference {
namespace {

template <typename T>
void fill_from(std::vector<T>& to, const std::vector<T>& from, bool splat, const TensorType& type) {
  const auto count = static_cast<size_t>(type.elements());
  const size_t expected = splat ? 1 : count;
  if (from.size() != expected) {
    throw InputError(fmt::format("a literal of {} holds {} elements, not {}", type.text(),
                                 from.size(), expected));
  }
  if (splat) {
    to.assign(count, from.front());
  } else {
    to = from;
  }
}

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}
bool same_bits(int64_t a, int64_t b) { return a == b; }

template <typename T>
bool is_splat(const std::vector<T>& values) {
  return values.size() > 1 && std::all_of(values.begin(), values.end(),
                                          [&](T v) { return same_bits(v, values.front()); });
}

}  // namespace

Tensor make_tensor(TensorType type, const std::vector<double>& values) {
  if (type.elements() != static_cast<int64_t>(values.size())) {
    throw InputError(
        fmt::format("{} takes {} elements, not {}", type.text(), type.elements(), values.size()));
  }
  Tensor tensor{.type = std::move(type), .floats = {}, .integers = {}};
  if (is_float(tensor.type.dtype)) {
    tensor.floats = values;
  } else {
    for (double v : values) tensor.integers.push_back(to_integer(tensor.type.dtype, v));
  }
  return tensor;
}

Tensor zeros(TensorType type) {
  Tensor tensor{.type = std::move(type), .floats = {}, .integers = {}};
  const auto count = static_cast<size_t>(tensor.type.elements());
  if (is_float(tensor.type.dtype)) {
    tensor.floats.assign(count, 0);
  } else {
    tensor.integers.assign(count, 0);
  }
  return tensor;
}

Tensor tensor_of(const ir::Literal& literal) {
  if (literal.elided) {
    throw InputError(fmt::format(
        "the elements of a constant {} were left out of the file: it can be planned, not computed",
        literal.type.text()));
  }
  Tensor tensor{.type = literal.type, .floats = {}, .integers = {}};
  if (is_float(literal.type.dtype)) {
    fill_from(tensor.floats, literal.floats, literal.splat, literal.type);
  } else {
    fill_from(tensor.integers, literal.integers, literal.splat, literal.type);
  }
  return tensor;
}

ir::Literal literal_of(const Tensor& tensor) {
  ir::Literal literal{.type = tensor.type,
                      .splat = is_splat(tensor.floats) || is_splat(tensor.integers),
                      .elided = false,
                      .floats = tensor.floats,
                      .integers = tensor.integers};
  if (literal.splat && !literal.floats.empty()) literal.floats.resize(1);
  if (literal.splat && !literal.integers.empty()) literal.integers.resize(1);
  return literal;
}

}  // namespace wafer::reference
