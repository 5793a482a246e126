// Dot products and convolutions.
#include "wafer/ir/convolution.h"
#include "wafer/reference/kernel.h"

namespace wafer::reference {
namespace {

using ir::AttrKey;
using ir::ConvolutionSpec;

/// Flat positions of all places of a sub-space of a tensor, in row-major order of `dims`.
std::vector<int64_t> positions(const Tensor& tensor, const Index& dims) {
  const Index sizes = sizes_of(tensor.type.shape);
  const Index strides = at(strides_of(sizes), dims);
  std::vector<int64_t> result;
  for_each_index(at(sizes, dims),
                 [&](const Index& index) { result.push_back(dot(index, strides)); });
  return result;
}

/// A sum of products, in the accumulator's precision: each product is rounded once, with the sum.
template <typename T>
class Sum {
 public:
  Sum(const Job& job, DType type) : job_(job), type_(type), accumulator_(job.accumulator(type)) {}
  void add_product(T a, T b) {
    using Wrapping = std::conditional_t<std::is_same_v<T, double>, double, uint64_t>;
    value_ = static_cast<T>(static_cast<Wrapping>(value_) +
                            static_cast<Wrapping>(a) * static_cast<Wrapping>(b));
    if (job_.precision == Precision::Typed) value_ = job_.element(accumulator_, value_);
  }
  T value() const { return job_.element(type_, value_); }

 private:
  const Job& job_;
  DType type_;
  DType accumulator_;
  T value_{0};
};

Index without(const Index& dims, const Index& gone, size_t rank) {
  Index all = dims;
  all.insert(all.end(), gone.begin(), gone.end());
  return complement(rank, all);
}

template <typename T>
void dot_into(const Job& job, Tensor& result) {
  const Tensor& lhs = job.in(0);
  const Tensor& rhs = job.in(1);
  const auto batch = job.attrs.get_or<ir::DimPairs>(AttrKey::Batch, {});
  const auto& contract = job.attrs.get<ir::DimPairs>(AttrKey::Contract);
  const auto lhs_batch = positions(lhs, batch.lhs);
  const auto rhs_batch = positions(rhs, batch.rhs);
  const auto lhs_inner = positions(lhs, contract.lhs);
  const auto rhs_inner = positions(rhs, contract.rhs);
  const auto lhs_free = positions(lhs, without(batch.lhs, contract.lhs, lhs.type.shape.size()));
  const auto rhs_free = positions(rhs, without(batch.rhs, contract.rhs, rhs.type.shape.size()));
  const T* a = elements_of<T>(lhs).data();
  const T* b = elements_of<T>(rhs).data();
  for (size_t i = 0; i < lhs_batch.size(); ++i) {
    for (int64_t row : lhs_free) {
      for (int64_t column : rhs_free) {
        Sum<T> sum(job, result.type.dtype);
        for (size_t k = 0; k < lhs_inner.size(); ++k) {
          sum.add_product(a[lhs_batch[i] + row + lhs_inner[k]],
                          b[rhs_batch[i] + column + rhs_inner[k]]);
        }
        elements_of<T>(result).push_back(sum.value());
      }
    }
  }
}

/// Positions along the spatial dimensions of a convolution.
class Spatial {
 public:
  Spatial(const ConvolutionSpec& spec, const Index& input_sizes) : spec_(spec) {
    for (size_t d : spec.input.spatial) sizes_.push_back(input_sizes[d]);
  }

  /// Moves `input` (an index of the whole input) to what the kernel's place `tap` meets at the
  /// output's place `out`; false if that is padding or a hole.
  bool locate(const Index& out, const Index& tap, Index& input) const {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const int64_t x = out[spec_.output.spatial[i]] * spec_.strides[i] +
                        tap[spec_.kernel.spatial[i]] * spec_.rhs_dilation[i] - spec_.padding_low[i];
      const int64_t hole = spec_.lhs_dilation[i];
      if (x < 0 || x % hole != 0 || x / hole >= sizes_[i]) return false;
      input[spec_.input.spatial[i]] = x / hole;
    }
    return true;
  }

 private:
  const ConvolutionSpec& spec_;
  Index sizes_;
};

template <typename T>
void convolve_into(const Job& job, Tensor& result) {
  const ConvolutionSpec spec = ir::convolution_spec(job.attrs, job.in(0).type.rank());
  const Index input_sizes = sizes_of(job.in(0).type.shape);
  const Index out_sizes = sizes_of(result.type.shape);
  const Index input_strides = strides_of(input_sizes);
  const Index kernel_strides = strides_of(sizes_of(job.in(1).type.shape));
  Index taps = sizes_of(job.in(1).type.shape);
  taps[spec.kernel.batch] = 1;  // the output's feature chooses it
  const int64_t features = taps[spec.kernel.feature];
  const int64_t out_features = out_sizes[spec.output.feature];
  const int64_t batch = out_sizes[spec.output.batch];
  const Spatial spatial(spec, input_sizes);
  Index input(input_sizes.size(), 0);
  for_each_index(out_sizes, [&](const Index& out) {
    const int64_t o = out[spec.output.feature];
    const int64_t group = o * spec.feature_groups / out_features;
    const int64_t batch_group = o * spec.batch_groups / out_features;
    input[spec.input.batch] = batch_group * batch + out[spec.output.batch];
    Sum<T> sum(job, result.type.dtype);
    for_each_index(taps, [&](const Index& tap) {
      if (!spatial.locate(out, tap, input)) return;
      input[spec.input.feature] = group * features + tap[spec.kernel.feature];
      const int64_t k = dot(tap, kernel_strides) + o * kernel_strides[spec.kernel.batch];
      sum.add_product(elements_of<T>(job.in(0))[static_cast<size_t>(dot(input, input_strides))],
                      elements_of<T>(job.in(1))[static_cast<size_t>(k)]);
    });
    elements_of<T>(result).push_back(sum.value());
  });
}

}  // namespace

Tensors dot_general(const Job& job) {
  Tensor result{.type = job.results[0], .floats = {}, .integers = {}};
  by_storage(result.type.dtype, [&]<typename T>() { dot_into<T>(job, result); });
  return {std::move(result)};
}

Tensors convolution(const Job& job) {
  Tensor result{.type = job.results[0], .floats = {}, .integers = {}};
  by_storage(result.type.dtype, [&]<typename T>() { convolve_into<T>(job, result); });
  return {std::move(result)};
}

}  // namespace wafer::reference
