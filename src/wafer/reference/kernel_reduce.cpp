// Reductions, windows, running reductions and sorting.
#include <algorithm>
#include <numeric>
#include <optional>

#include "wafer/base/error.h"
#include "wafer/reference/kernel.h"

namespace wafer::reference {
namespace {

using ir::AttrKey;

/// Combines elements of `type` with the op's fn, in the accumulator's precision.
template <typename T>
class Running {
 public:
  Running(const Job& job, DType type, T initial)
      : job_(job), type_(type), accumulator_(job.accumulator(type)), value_(initial) {}
  void take(T x) { value_ = job_.element(accumulator_, apply(job_.fn(), type_, value_, x)); }
  T value() const { return job_.element(type_, value_); }

 private:
  const Job& job_;
  DType type_;
  DType accumulator_;
  T value_;
};

/// The lines of a tensor along one dimension: flat positions of their elements.
struct Lines {
  std::vector<int64_t> firsts;
  int64_t length;
  int64_t stride;
  size_t position(int64_t first, int64_t i) const {
    return static_cast<size_t>(first + i * stride);
  }
};

Lines lines_of(const Tensor& tensor, int64_t dim) {
  Index sizes = sizes_of(tensor.type.shape);
  const Index strides = strides_of(sizes);
  Lines lines{.firsts = {},
              .length = sizes[static_cast<size_t>(dim)],
              .stride = strides[static_cast<size_t>(dim)]};
  sizes[static_cast<size_t>(dim)] = 1;
  for_each_index(sizes, [&](const Index& index) { lines.firsts.push_back(dot(index, strides)); });
  return lines;
}

/// A sliding window over an operand: for each place, the operand positions under it.
class Windows {
 public:
  Windows(const Job& job, const Tensor& operand)
      : window_(job.ints(AttrKey::Window)),
        steps_(job.ints(AttrKey::Strides)),
        low_(job.ints(AttrKey::PaddingLow)),
        sizes_(sizes_of(operand.type.shape)),
        strides_(strides_of(sizes_)) {}

  /// Calls visit(flat position, or -1 in the padding) for each element of the window at `place`.
  template <typename Visit>
  void for_each_element(const Index& place, Visit visit) const {
    for_each_index(window_, [&](const Index& offset) {
      int64_t position = 0;
      for (size_t i = 0; i < offset.size(); ++i) {
        const int64_t x = place[i] * steps_[i] - low_[i] + offset[i];
        if (x < 0 || x >= sizes_[i]) return visit(int64_t{-1});
        position += x * strides_[i];
      }
      visit(position);
    });
  }

 private:
  const Index& window_;
  const Index& steps_;
  const Index& low_;
  Index sizes_, strides_;
};

}  // namespace

Tensors reduce(const Job& job) {
  const Tensor& from = job.in(0);
  const Index sizes = sizes_of(from.type.shape);
  const Index strides = strides_of(sizes);
  const Index& dims = job.ints(AttrKey::Dims);
  const Index kept = complement(sizes.size(), dims);
  const Index reduced_sizes = at(sizes, dims);
  const Index reduced_strides = at(strides, dims);
  Tensor result{.type = job.results[0], .floats = {}, .integers = {}};
  by_storage(from.type.dtype, [&]<typename T>() {
    for_each_index(at(sizes, kept), [&](const Index& index) {
      const int64_t first = dot(index, at(strides, kept));
      Running<T> running(job, from.type.dtype, elements_of<T>(job.in(1))[0]);
      for_each_index(reduced_sizes, [&](const Index& inner) {
        running.take(
            elements_of<T>(from)[static_cast<size_t>(first + dot(inner, reduced_strides))]);
      });
      elements_of<T>(result).push_back(running.value());
    });
  });
  return {std::move(result)};
}

Tensors arg_reduce(const Job& job) {
  const Tensor& from = job.in(0);
  const Lines lines = lines_of(from, job.integer(AttrKey::Dim));
  if (lines.length == 0) {
    throw InputError("arg_reduce of " + from.type.text() + ": there is no first of no elements");
  }
  const bool largest = job.fn() == ir::ElementFn::Maximum;
  Tensor result{.type = job.results[0], .floats = {}, .integers = {}};
  by_storage(from.type.dtype, [&]<typename T>() {
    const auto& x = elements_of<T>(from);
    const DType type = from.type.dtype;
    for (int64_t first : lines.firsts) {
      int64_t best = 0;
      for (int64_t i = 1; i < lines.length; ++i) {
        const T a = x[lines.position(first, best)];
        const T b = x[lines.position(first, i)];
        if (largest ? less(type, a, b) : less(type, b, a)) best = i;
      }
      result.integers.push_back(best);
    }
  });
  return {std::move(result)};
}

Tensors reduce_window(const Job& job) {
  const Tensor& from = job.in(0);
  const Windows windows(job, from);
  Tensor result{.type = job.results[0], .floats = {}, .integers = {}};
  by_storage(from.type.dtype, [&]<typename T>() {
    const T initial = elements_of<T>(job.in(1))[0];
    for_each_index(sizes_of(result.type.shape), [&](const Index& place) {
      Running<T> running(job, from.type.dtype, initial);
      windows.for_each_element(place, [&](int64_t position) {  // the padding holds `initial`
        running.take(position < 0 ? initial : elements_of<T>(from)[static_cast<size_t>(position)]);
      });
      elements_of<T>(result).push_back(running.value());
    });
  });
  return {std::move(result)};
}

Tensors select_and_scatter(const Job& job) {
  const Tensor& from = job.in(0);
  const Tensor& source = job.in(1);
  const Windows windows(job, from);
  const DType type = from.type.dtype;
  Tensor result = zeros(from.type);
  by_storage(type, [&]<typename T>() {
    const auto& x = elements_of<T>(from);
    auto& to = elements_of<T>(result);
    to.assign(to.size(), elements_of<T>(job.in(2))[0]);
    size_t next = 0;
    for_each_index(sizes_of(source.type.shape), [&](const Index& place) {
      const T element = elements_of<T>(source)[next++];
      std::optional<size_t> best;  // the first of the largest; the padding is not chosen
      windows.for_each_element(place, [&](int64_t position) {
        const auto p = static_cast<size_t>(position);
        if (position >= 0 && (!best || less(type, x[*best], x[p]))) best = p;
      });
      if (!best) return;
      to[*best] = job.element(type, apply(ir::ElementFn::Add, type, to[*best], element));
    });
  });
  return {std::move(result)};
}

Tensors cumulative(const Job& job) {
  const Tensor& from = job.in(0);
  const Lines lines = lines_of(from, job.integer(AttrKey::Dim));
  const bool exclusive = job.attrs.get_or<bool>(AttrKey::Exclusive, false);
  const bool backwards = job.attrs.get_or<bool>(AttrKey::Reverse, false);
  Tensor result = zeros(from.type);
  by_storage(from.type.dtype, [&]<typename T>() {
    const DType type = from.type.dtype;
    const T initial = neutral_of<T>(job.fn(), type);
    for (int64_t first : lines.firsts) {
      Running<T> running(job, type, initial);
      for (int64_t i = 0; i < lines.length; ++i) {
        const size_t p = lines.position(first, backwards ? lines.length - 1 - i : i);
        if (exclusive) elements_of<T>(result)[p] = running.value();
        running.take(elements_of<T>(from)[p]);
        if (!exclusive) elements_of<T>(result)[p] = running.value();
      }
    }
  });
  return {std::move(result)};
}

Tensors sort(const Job& job) {
  const Lines lines = lines_of(job.in(0), job.integer(AttrKey::Dim));
  const bool descending = job.attrs.get_or<bool>(AttrKey::Descending, false);
  Tensors results;
  for (const Tensor* operand : job.operands) results.push_back(zeros(operand->type));
  std::vector<int64_t> order(static_cast<size_t>(lines.length));
  for (int64_t first : lines.firsts) {
    std::iota(order.begin(), order.end(), 0);
    by_storage(job.in(0).type.dtype, [&]<typename T>() {
      const auto& keys = elements_of<T>(job.in(0));
      const DType type = job.in(0).type.dtype;
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const T x = keys[lines.position(first, a)];
        const T y = keys[lines.position(first, b)];
        return descending ? less(type, y, x) : less(type, x, y);
      });
    });
    for (size_t k = 0; k < results.size(); ++k) {
      by_storage(results[k].type.dtype, [&]<typename T>() {
        for (int64_t i = 0; i < lines.length; ++i) {
          elements_of<T>(results[k])[lines.position(first, i)] =
              elements_of<T>(job.in(k))[lines.position(first, order[static_cast<size_t>(i)])];
        }
      });
    }
  }
  return results;
}

}  // namespace wafer::reference
