// Ops that move elements without computing: each result element names the operand element it is.
#include <algorithm>

#include "wafer/base/error.h"
#include "wafer/reference/kernel.h"

namespace wafer::reference {
namespace {

using ir::AttrKey;

/// The tensor of type `type` whose element at an index is the element of `from` at flat position
/// source(index).
template <typename Source>
Tensor moved(const Tensor& from, const TensorType& type, Source source) {
  Tensor result{.type = type, .floats = {}, .integers = {}};
  by_storage(type.dtype, [&]<typename T>() {
    auto& to = elements_of<T>(result);
    for_each_index(sizes_of(type.shape), [&](const Index& index) {
      to.push_back(elements_of<T>(from)[static_cast<size_t>(source(index))]);
    });
  });
  return result;
}

/// Writes the elements of `from` into `to`, each at the flat position target(index), if that is not
/// negative.
template <typename Target>
void place(const Tensor& from, Tensor& to, Target target) {
  by_storage(from.type.dtype, [&]<typename T>() {
    size_t next = 0;
    for_each_index(sizes_of(from.type.shape), [&](const Index& index) {
      const int64_t position = target(index);
      const T element = elements_of<T>(from)[next++];
      if (position >= 0) elements_of<T>(to)[static_cast<size_t>(position)] = element;
    });
  });
}

/// A tensor of one repeated element.
Tensor filled(const TensorType& type, const Tensor& scalar) {
  return moved(scalar, type, [](const Index&) { return 0; });
}

int64_t integer_at(const Tensor& tensor, int64_t position) {
  const int64_t value = tensor.integers[static_cast<size_t>(position)];
  // A u64 too large for int64 is past any dimension all the same.
  return tensor.type.dtype == DType::U64 && value < 0 ? INT64_MAX : value;
}

/// The starts of a dynamic slice of `extent`, from operand `first` on, moved so that it lies within
/// the operand.
Index clamped_starts(const Job& job, size_t first, const Index& extent) {
  const Index sizes = sizes_of(job.in(0).type.shape);
  Index starts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t start = integer_at(job.in(first + i), 0);
    starts.push_back(std::clamp<int64_t>(start, 0, sizes[i] - extent[i]));
  }
  return starts;
}

/// Dimensions of gather and scatter. Both walk the "many" tensor (result or updates), whose index
/// is made of batch coordinates, which choose an index vector, and offsets within a slice.
class IndexedDims {
 public:
  IndexedDims(const Job& job, const Tensor& indices, const Index& operand_sizes, size_t many_rank)
      : indices_(indices),
        offset_dims_(job.ints(AttrKey::OffsetDims)),
        batch_dims_(complement(many_rank, offset_dims_)),
        start_map_(job.ints(AttrKey::StartIndexMap)),
        vector_dim_(static_cast<size_t>(job.integer(AttrKey::IndexVectorDim))),
        operand_batch_(job.attrs.get_or<ir::Ints>(AttrKey::OperandBatchDims, {})),
        indices_batch_(job.attrs.get_or<ir::Ints>(AttrKey::IndicesBatchDims, {})),
        rank_(operand_sizes.size()) {
    Index left_out = job.ints(AttrKey::CollapsedDims);
    left_out.insert(left_out.end(), operand_batch_.begin(), operand_batch_.end());
    window_dims_ = complement(rank_, left_out);
    index_strides_ = strides_of(sizes_of(indices.type.shape));
  }

  /// Where the slice that `many` lies in starts in the operand, by the index vector.
  Index start(const Index& many) const {
    Index index = at(many, batch_dims_);
    const bool has_vector_dim = vector_dim_ < index_strides_.size();
    if (has_vector_dim) index.insert(index.begin() + static_cast<std::ptrdiff_t>(vector_dim_), 0);
    Index start(rank_, 0);
    for (size_t k = 0; k < start_map_.size(); ++k) {
      if (has_vector_dim) index[vector_dim_] = static_cast<int64_t>(k);
      start[static_cast<size_t>(start_map_[k])] = integer_at(indices_, dot(index, index_strides_));
    }
    return start;
  }

  /// The place of `many` relative to start(many): its offset in the slice, and its batch.
  Index offset(const Index& many) const {
    Index offset(rank_, 0);
    for (size_t i = 0; i < window_dims_.size(); ++i) {
      offset[static_cast<size_t>(window_dims_[i])] = many[static_cast<size_t>(offset_dims_[i])];
    }
    for (size_t i = 0; i < operand_batch_.size(); ++i) {
      const auto dim = static_cast<size_t>(indices_batch_[i]);
      const size_t place = dim > vector_dim_ ? dim - 1 : dim;
      offset[static_cast<size_t>(operand_batch_[i])] =
          many[static_cast<size_t>(batch_dims_[place])];
    }
    return offset;
  }

 private:
  const Tensor& indices_;
  Index offset_dims_, batch_dims_, start_map_;
  size_t vector_dim_;
  Index operand_batch_, indices_batch_;
  size_t rank_;
  Index window_dims_, index_strides_;
};

bool inside(const Index& index, const Index& sizes) {
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= sizes[i]) return false;
  }
  return true;
}

}  // namespace

Tensors broadcast_in_dim(const Job& job) {
  const Index sizes = sizes_of(job.in(0).type.shape);
  const Index& dims = job.ints(AttrKey::Dims);
  Index strides = strides_of(sizes);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) strides[i] = 0;
  }
  return {moved(job.in(0), job.results[0],
                [&](const Index& index) { return dot(at(index, dims), strides); })};
}

Tensors reshape(const Job& job) {
  Tensor result = job.in(0);
  result.type = job.results[0];
  return {std::move(result)};
}

Tensors transpose(const Job& job) {
  const Index strides =
      at(strides_of(sizes_of(job.in(0).type.shape)), job.ints(AttrKey::Permutation));
  return {
      moved(job.in(0), job.results[0], [&](const Index& index) { return dot(index, strides); })};
}

Tensors slice(const Job& job) {
  Index strides = strides_of(sizes_of(job.in(0).type.shape));
  const int64_t first = dot(job.ints(AttrKey::Starts), strides);
  for (size_t i = 0; i < strides.size(); ++i) strides[i] *= job.ints(AttrKey::Strides)[i];
  return {moved(job.in(0), job.results[0],
                [&](const Index& index) { return first + dot(index, strides); })};
}

Tensors dynamic_slice(const Job& job) {
  const Index strides = strides_of(sizes_of(job.in(0).type.shape));
  const int64_t first = dot(clamped_starts(job, 1, sizes_of(job.results[0].shape)), strides);
  return {moved(job.in(0), job.results[0],
                [&](const Index& index) { return first + dot(index, strides); })};
}

Tensors dynamic_update_slice(const Job& job) {
  Tensor result = job.in(0);
  const Index strides = strides_of(sizes_of(result.type.shape));
  const int64_t first = dot(clamped_starts(job, 2, sizes_of(job.in(1).type.shape)), strides);
  place(job.in(1), result, [&](const Index& index) { return first + dot(index, strides); });
  return {std::move(result)};
}

Tensors concatenate(const Job& job) {
  Tensor result = zeros(job.results[0]);
  const auto dim = static_cast<size_t>(job.integer(AttrKey::Dim));
  const Index strides = strides_of(sizes_of(result.type.shape));
  int64_t first = 0;
  for (const Tensor* part : job.operands) {
    place(*part, result, [&](const Index& index) { return first + dot(index, strides); });
    first += part->type.shape[dim].value() * strides[dim];
  }
  return {std::move(result)};
}

Tensors pad(const Job& job) {
  Tensor result = filled(job.results[0], job.in(1));
  const Index sizes = sizes_of(result.type.shape);
  const Index strides = strides_of(sizes);
  Index target(sizes.size());
  place(job.in(0), result, [&](const Index& index) {
    for (size_t i = 0; i < index.size(); ++i) {
      target[i] = job.ints(AttrKey::Low)[i] + index[i] * (job.ints(AttrKey::Interior)[i] + 1);
    }
    return inside(target, sizes) ? dot(target, strides) : -1;
  });
  return {std::move(result)};
}

Tensors reverse(const Job& job) {
  const Index sizes = sizes_of(job.in(0).type.shape);
  Index strides = strides_of(sizes);
  int64_t first = 0;
  for (int64_t d : job.ints(AttrKey::Dims)) {
    int64_t& stride = strides[static_cast<size_t>(d)];
    first += (sizes[static_cast<size_t>(d)] - 1) * stride;
    stride = -stride;
  }
  return {moved(job.in(0), job.results[0],
                [&](const Index& index) { return first + dot(index, strides); })};
}

Tensors gather(const Job& job) {
  const Index sizes = sizes_of(job.in(0).type.shape);
  const Index strides = strides_of(sizes);
  const IndexedDims dims(job, job.in(1), sizes, job.results[0].shape.size());
  Index slice_sizes = job.ints(AttrKey::Sizes);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (slice_sizes[i] == -1) slice_sizes[i] = sizes[i];
  }
  return {moved(job.in(0), job.results[0], [&](const Index& index) {
    Index start = dims.start(index);
    for (size_t i = 0; i < sizes.size(); ++i) {  // slices are moved to lie within the operand
      start[i] = std::clamp<int64_t>(start[i], 0, sizes[i] - slice_sizes[i]);
    }
    return dot(start, strides) + dot(dims.offset(index), strides);
  })};
}

Tensors scatter(const Job& job) {
  Tensor result = job.in(0);
  const Tensor& updates = job.in(2);
  const Index sizes = sizes_of(result.type.shape);
  const Index strides = strides_of(sizes);
  const IndexedDims dims(job, job.in(1), sizes, updates.type.shape.size());
  const bool combines = job.attrs.has(AttrKey::Fn);
  const DType type = result.type.dtype;
  by_storage(type, [&]<typename T>() {
    size_t next = 0;
    for_each_index(sizes_of(updates.type.shape), [&](const Index& index) {
      const T update = elements_of<T>(updates)[next++];
      const Index start = dims.start(index);
      Index target = dims.offset(index);
      for (size_t i = 0; i < target.size(); ++i) {
        // Compared before adding: indices may be anything.
        if (start[i] < -target[i] || start[i] >= sizes[i] - target[i]) return;
        target[i] += start[i];
      }
      T& element = elements_of<T>(result)[static_cast<size_t>(dot(target, strides))];
      element = combines ? job.element(type, apply(job.fn(), type, element, update)) : update;
    });
  });
  return {std::move(result)};
}

}  // namespace wafer::reference
