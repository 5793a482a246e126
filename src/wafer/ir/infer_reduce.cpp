// Types of reductions, windows, running reductions and sorting.
#include <algorithm>

#include "wafer/ir/typing.h"

namespace wafer::ir {
namespace {

/// Rule RED5: the body takes two of each element (all left ones, then all right ones).
void check_reducer(const Typing& t, size_t n) {
  const Function& body = t.graph.function(t.attrs.get<FunctionId>(AttrKey::Body));
  t.require(body.inputs.size() == 2 * n && body.outputs.size() == n, "RED5",
            "{} operands need a body with {} inputs and {} outputs; {} has {} and {}", n, 2 * n, n,
            body.name, body.inputs.size(), body.outputs.size());
  for (size_t i = 0; i < 3 * n; ++i) {
    const ValueId value = i < 2 * n ? body.inputs[i].value : body.outputs[i - 2 * n].value;
    const TensorType expected{t.operands[i % n].dtype, {}};
    t.require(body.type_of(value) == expected, "RED5", "body {} must work on {}; found {}",
              body.name, expected, body.type_of(value));
  }
}

void check_reduced(const Typing& t, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    t.require(t.operands[i].shape == t.operands[0].shape, "RED1",
              "operands must have one shape; found {} and {}", t.operands[0], t.operands[i]);
    t.require_scalar("RED2", n + i, t.operands[i].dtype);
  }
  const bool by_body = t.attrs.has(AttrKey::Body);
  t.require(by_body != t.attrs.has(AttrKey::Fn), "RED4", "needs either fn or body");
  if (by_body) return check_reducer(t, n);
  t.require(n == 1, "RED4", "several operands are reduced together by a body, not by fn");
  t.require_reduction("RED6", t.attrs.get<ElementFn>(AttrKey::Fn), t.operands[0].dtype);
}

/// The shape that a window of the op has places in (rules WIN1 and WIN3).
Shape window_shape(const Typing& t, const TensorType& type) {
  for (AttrKey key :
       {AttrKey::Window, AttrKey::Strides, AttrKey::PaddingLow, AttrKey::PaddingHigh}) {
    t.require_length("WIN1", t.ints(key), type.shape.size(), key);
  }
  Shape shape;
  for (size_t i = 0; i < type.shape.size(); ++i) {
    const WindowDim window{.size = t.ints(AttrKey::Window)[i],
                           .stride = t.ints(AttrKey::Strides)[i],
                           .low = t.ints(AttrKey::PaddingLow)[i],
                           .high = t.ints(AttrKey::PaddingHigh)[i]};
    shape.push_back(window_places(t, "WIN3", type.shape[i], window));
  }
  return shape;
}

void check_window_values(const Typing& t, const char* rule, const WindowDim& w) {
  constexpr int64_t Most = int64_t{1} << 31;
  t.require(w.size >= 1 && w.stride >= 1 && w.base_dilation >= 1 && w.window_dilation >= 1, rule,
            "window, stride and dilation are at least 1; found {}, {}, {} and {}", w.size, w.stride,
            w.base_dilation, w.window_dilation);
  const int64_t largest =
      std::max({w.size, w.stride, w.base_dilation, w.window_dilation, w.low, w.high});
  t.require(largest < Most && std::min(w.low, w.high) > -Most, rule,
            "window, stride, dilation and padding stay below 2^31; found {}", largest);
}

}  // namespace

Dim window_places(const Typing& t, const char* rule, const Dim& in, const WindowDim& w) {
  check_window_values(t, rule, w);
  const int64_t reach = (w.size - 1) * w.window_dilation + 1;
  if (w.stride == 1 && w.base_dilation == 1 && w.low + w.high + 1 == reach) return in;
  if (!in.is_static()) {
    const auto tiles = divide_exact(in, Dim(w.stride));
    const bool tiled = w.base_dilation == 1 && w.low == 0 && w.high == 0 && w.stride == reach;
    t.require(tiled && tiles.has_value(), rule,
              "how often the window fits into {} is known only once it is bound", in);
    return *tiles;
  }
  const int64_t spread =
      in.value() == 0 ? 0 : (Dim(in.value() - 1) * Dim(w.base_dilation)).value() + 1;
  const int64_t padded = spread + w.low + w.high;
  return padded < reach ? Dim(0) : Dim((padded - reach) / w.stride + 1);
}

Types type_reduce(const Typing& t) {
  t.require(t.operands.size() % 2 == 0, "RED2",
            "each operand needs an initial value; found {} operands in all", t.operands.size());
  const size_t n = t.operands.size() / 2;
  check_reduced(t, n);
  const Ints& dims = t.ints(AttrKey::Dims);
  const Shape& from = t.operands[0].shape;
  t.require_dims("RED3", dims, from.size(), "dims");
  std::vector<bool> gone(from.size(), false);
  for (int64_t d : dims) gone[static_cast<size_t>(d)] = true;
  Shape to;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!gone[i]) to.push_back(from[i]);
  }
  Types results;
  for (size_t i = 0; i < n; ++i) results.push_back({t.operands[i].dtype, to});
  return results;
}

Types type_arg_reduce(const Typing& t) {
  const TensorType& from = t.operands[0];
  const size_t dim = t.require_dim("ARG1", t.integer(AttrKey::Dim), from.shape.size());
  const auto fn = t.attrs.get<ElementFn>(AttrKey::Fn);
  t.require(fn == ElementFn::Maximum || fn == ElementFn::Minimum, "ARG2",
            "fn is maximum or minimum; found {}", name_of(fn));
  const DType dtype = t.declared_one().dtype;
  t.require(dtype == DType::I32 || dtype == DType::I64, "ARG3", "the index is i32 or i64; found {}",
            t.declared_one());
  TensorType to{dtype, from.shape};
  to.shape.erase(to.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  return {to};
}

Types type_reduce_window(const Typing& t) {
  const TensorType& type = t.operands[0];
  t.require_scalar("WIN2", 1, type.dtype);
  t.require_reduction("RED6", t.attrs.get<ElementFn>(AttrKey::Fn), type.dtype);
  return {{type.dtype, window_shape(t, type)}};
}

Types type_select_and_scatter(const Typing& t) {
  const TensorType& type = t.operands[0];
  const TensorType expected{type.dtype, window_shape(t, type)};
  t.require(t.operands[1] == expected, "SAS1", "the source must be {}; found {}", expected,
            t.operands[1]);
  t.require_scalar("SAS2", 2, type.dtype);
  t.require(takes(ElementFn::Add, type.dtype), "SAS3", "works on numbers; found {}", type);
  return {type};
}

Types type_cumulative(const Typing& t) {
  const TensorType& type = t.operands[0];
  t.require_dim("CUM1", t.integer(AttrKey::Dim), type.shape.size());
  t.require_reduction("RED6", t.attrs.get<ElementFn>(AttrKey::Fn), type.dtype);
  return {type};
}

Types type_sort(const Typing& t) {
  const Shape& shape = t.operands[0].shape;
  t.require_dim("SRT1", t.integer(AttrKey::Dim), shape.size());
  for (const TensorType& type : t.operands) {
    t.require(type.shape == shape, "SRT2", "operands must have one shape; found {} and {}",
              t.operands[0], type);
  }
  return t.operands;
}

}  // namespace wafer::ir
