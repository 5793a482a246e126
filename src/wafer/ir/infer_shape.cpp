// Types of ops that move elements without computing.
#include <algorithm>

#include "wafer/ir/typing.h"

namespace wafer::ir {
namespace {

/// Rules SLC2 to SLC4: how many elements start, start + stride, ... there are below the limit.
Dim sliced(const Typing& t, const Dim& dim, int64_t start, int64_t limit, int64_t stride) {
  t.require(stride >= 1, "SLC2", "strides are at least 1; found {}", stride);
  t.require(start >= 0 && limit >= -1, "SLC2",
            "starts count from 0, limits too (-1: the whole dimension); found {} to {}", start,
            limit);
  if (limit == -1 && !dim.is_static()) {
    const auto places = divide_exact(dim, Dim(stride));
    t.require(start == 0 && places.has_value(), "SLC4",
              "the length of [{}::{}] of {} is known only once it is bound", start, stride, dim);
    return *places;
  }
  const int64_t end = limit == -1 ? dim.value() : limit;
  t.require(start <= end && may_be_at_most(Dim(end), dim), "SLC3",
            "{} to {} is not within a dimension of {}", start, end, dim);
  return start == end ? Dim(0) : Dim((end - start - 1) / stride + 1);
}

/// Rule DYN2: from operand `first`, one integer scalar a dimension.
void check_starts(const Typing& t, size_t first) {
  const size_t rank = t.operands[0].shape.size();
  t.require(t.operands.size() == first + rank, "DYN1", "needs one start a dimension: {}, not {}",
            rank, t.operands.size() - first);
  for (size_t i = first; i < t.operands.size(); ++i) {
    t.require(t.operands[i].rank() == 0 && is_integer(t.operands[i].dtype), "DYN2",
              "operand {}, a start, must be an integer scalar; found {}", i, t.operands[i]);
  }
}

/// Rule PAD3. low and high may cut.
Dim padded(const Typing& t, const Dim& dim, int64_t low, int64_t high, int64_t interior) {
  constexpr int64_t Most = int64_t{1} << 40;
  const bool fit = std::max({low, high, interior}) < Most && std::min(low, high) > -Most;
  t.require(interior >= 0 && fit, "PAD2",
            "interior is at least 0 and all are below 2^40; found {}, {}, {}", low, high, interior);
  if (low == 0 && high == 0 && interior == 0) return dim;
  t.require(dim.is_static(), "PAD4", "the padded length of {} is known only once it is bound", dim);
  const int64_t gaps = dim.value() > 1 ? (Dim(dim.value() - 1) * Dim(interior)).value() : 0;
  const int64_t length = dim.value() + gaps + low + high;
  t.require(length >= 0, "PAD3", "padding {} and {} cuts more than a dimension of {}", low, high,
            dim);
  return length;
}

}  // namespace

Types type_broadcast_in_dim(const Typing& t) {
  const TensorType& from = t.operands[0];
  const TensorType& to = t.declared_one();
  const Ints& dims = t.ints(AttrKey::Dims);
  t.require_length("BCT1", dims, from.shape.size(), AttrKey::Dims);
  t.require_dims("BCT1", dims, to.shape.size(), "dims");
  t.require(from.dtype == to.dtype, "BCT2", "keeps the element type of {}; found {}", from, to);
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim& target = to.shape[static_cast<size_t>(dims[i])];
    t.require(from.shape[i] == Dim(1) || from.shape[i] == target, "BCT3",
              "dimension {} of {} does not stretch to dimension {} of {}", i, from, dims[i], to);
  }
  return {to};
}

Types type_reshape(const Typing& t) {
  const TensorType& from = t.operands[0];
  const TensorType& to = t.declared_one();
  t.require(from.dtype == to.dtype, "RSH1", "keeps the element type of {}; found {}", from, to);
  t.require(element_count(from.shape) == element_count(to.shape), "RSH2",
            "{} has {} elements, but {} has {}", from, element_count(from.shape), to,
            element_count(to.shape));
  return {to};
}

Types type_transpose(const Typing& t) {
  const TensorType& from = t.operands[0];
  const Ints& permutation = t.ints(AttrKey::Permutation);
  t.require_length("TRN1", permutation, from.shape.size(), AttrKey::Permutation);
  t.require_dims("TRN1", permutation, from.shape.size(), "permutation");
  TensorType to{from.dtype, {}};
  for (int64_t d : permutation) to.shape.push_back(from.shape[static_cast<size_t>(d)]);
  return {to};
}

Types type_slice(const Typing& t) {
  TensorType type = t.operands[0];
  for (AttrKey key : {AttrKey::Starts, AttrKey::Limits, AttrKey::Strides}) {
    t.require_length("SLC1", t.ints(key), type.shape.size(), key);
  }
  for (size_t i = 0; i < type.shape.size(); ++i) {
    type.shape[i] = sliced(t, type.shape[i], t.ints(AttrKey::Starts)[i], t.ints(AttrKey::Limits)[i],
                           t.ints(AttrKey::Strides)[i]);
  }
  return {type};
}

Types type_dynamic_slice(const Typing& t) {
  TensorType type = t.operands[0];
  check_starts(t, 1);
  const Ints& sizes = t.ints(AttrKey::Sizes);
  t.require_length("DYN3", sizes, type.shape.size(), AttrKey::Sizes);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) continue;
    t.require(sizes[i] >= 0 && may_be_at_most(Dim(sizes[i]), type.shape[i]), "DYN3",
              "size {} is not within dimension {} of {}", sizes[i], i, t.operands[0]);
    type.shape[i] = Dim(sizes[i]);
  }
  return {type};
}

Types type_dynamic_update_slice(const Typing& t) {
  const TensorType& type = t.operands[0];
  const TensorType& update = t.operands[1];
  check_starts(t, 2);
  t.require(update.dtype == type.dtype && update.rank() == type.rank(), "DYN4",
            "the update must have element type and rank of {}; found {}", type, update);
  for (size_t i = 0; i < type.shape.size(); ++i) {
    t.require(may_be_at_most(update.shape[i], type.shape[i]), "DYN4",
              "update {} is larger than {} in dimension {}", update, type, i);
  }
  return {type};
}

Types type_concatenate(const Typing& t) {
  TensorType type = t.operands[0];
  const size_t dim = t.require_dim("CAT1", t.integer(AttrKey::Dim), type.shape.size());
  for (size_t i = 1; i < t.operands.size(); ++i) {
    TensorType other = t.operands[i];
    t.require(other.rank() == type.rank(), "CAT2", "{} and {} differ in rank", type, other);
    const auto sum = add_exact(type.shape[dim], other.shape[dim]);
    t.require(sum.has_value(), "CAT3", "the sum of {} and {} is known only once they are bound",
              type.shape[dim], other.shape[dim]);
    other.shape[dim] = type.shape[dim];
    t.require(other == type, "CAT2", "{} and {} differ outside dimension {}", t.operands[0],
              t.operands[i], dim);
    type.shape[dim] = *sum;
  }
  return {type};
}

Types type_pad(const Typing& t) {
  TensorType type = t.operands[0];
  t.require_scalar("PAD1", 1, type.dtype);
  for (AttrKey key : {AttrKey::Low, AttrKey::High, AttrKey::Interior}) {
    t.require_length("PAD2", t.ints(key), type.shape.size(), key);
  }
  for (size_t i = 0; i < type.shape.size(); ++i) {
    type.shape[i] = padded(t, type.shape[i], t.ints(AttrKey::Low)[i], t.ints(AttrKey::High)[i],
                           t.ints(AttrKey::Interior)[i]);
  }
  return {type};
}

Types type_reverse(const Typing& t) {
  t.require_dims("REV1", t.ints(AttrKey::Dims), t.operands[0].shape.size(), "dims");
  return {t.operands[0]};
}

}  // namespace wafer::ir
