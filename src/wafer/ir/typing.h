#pragma once

// What the rule functions of infer_*.cpp share; not for use outside ir/.

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "wafer/base/error.h"
#include "wafer/ir/graph.h"

template <>
struct fmt::formatter<wafer::TensorType> : formatter<std::string> {
  auto format(const wafer::TensorType& type, format_context& context) const {
    return formatter<std::string>::format(type.text(), context);
  }
};

template <>
struct fmt::formatter<wafer::Dim> : formatter<std::string> {
  auto format(const wafer::Dim& dim, format_context& context) const {
    return formatter<std::string>::format(dim.text(), context);
  }
};

namespace wafer::ir {

using Types = std::vector<TensorType>;

/// An op about to be typed. Rules are checked with require(); the number is that of
/// docs/spec/ops.md.
struct Typing {
  const Graph& graph;
  OpKind kind;
  const Types& operands;
  const Attributes& attrs;
  const Types& declared;

  /// Throws InputError "dot_general: ... [DOT1]" unless the condition holds. Arguments are
  /// formatted only then.
  template <typename... Args>
  void require(bool holds, const char* rule, fmt::format_string<Args...> text,
               Args&&... args) const {
    if (!holds) fail(rule, fmt::format(text, std::forward<Args>(args)...));
  }
  [[noreturn]] void fail(const char* rule, const std::string& what) const;

  const Ints& ints(AttrKey key) const { return attrs.get<Ints>(key); }
  int64_t integer(AttrKey key) const { return attrs.get<int64_t>(key); }

  /// The only declared type (rule TYPE1).
  const TensorType& declared_one() const;
  /// Operands from..to (exclusive) have the type of operand `from`.
  void require_equal_types(const char* rule, size_t from, size_t to) const;
  void require_float(const char* rule, size_t operand) const;
  void require_integer(const char* rule, const TensorType& type, const char* what) const;
  /// A scalar of this element type.
  void require_scalar(const char* rule, size_t operand, DType dtype) const;
  /// Each in [0, rank), no two equal.
  void require_dims(const char* rule, const Ints& dims, size_t rank, const char* what) const;
  /// In [0, rank).
  size_t require_dim(const char* rule, int64_t dim, size_t rank) const;
  void require_length(const char* rule, const Ints& list, size_t length, AttrKey key) const;
  /// fn is one of is_reduction and takes elements of this type.
  void require_reduction(const char* rule, ElementFn fn, DType dtype) const;
};

/// Whether a <= b for every binding, symbols being at least 1; a wrong guess (5 against batch) is
/// let through: it is checked again when the symbol is bound.
bool may_be_at_most(const Dim& a, const Dim& b);
/// Whether `fn` can be applied to elements of this type.
bool takes(ElementFn fn, DType dtype);
/// "floats", "integers or bool", ... : what fn takes.
std::string taken_by(ElementFn fn);

/// One dimension of a sliding window.
struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t low = 0;   ///< padding; may be negative
  int64_t high = 0;  ///< padding; may be negative
  int64_t base_dilation = 1;
  int64_t window_dilation = 1;
};
/// How many places the window has in `in`; for a symbolic `in` only where this is again a product.
Dim window_places(const Typing& t, const char* rule, const Dim& in, const WindowDim& window);

// One function a kind or group of kinds; each returns the result types.
Types type_constant(const Typing& t);
Types type_iota(const Typing& t);
Types type_rng(const Typing& t);
Types type_elementwise(const Typing& t);
Types type_convert(const Typing& t);
Types type_broadcast_in_dim(const Typing& t);
Types type_reshape(const Typing& t);
Types type_transpose(const Typing& t);
Types type_slice(const Typing& t);
Types type_dynamic_slice(const Typing& t);
Types type_dynamic_update_slice(const Typing& t);
Types type_concatenate(const Typing& t);
Types type_pad(const Typing& t);
Types type_reverse(const Typing& t);
Types type_reduce(const Typing& t);
Types type_arg_reduce(const Typing& t);
Types type_reduce_window(const Typing& t);
Types type_select_and_scatter(const Typing& t);
Types type_cumulative(const Typing& t);
Types type_sort(const Typing& t);
Types type_dot_general(const Typing& t);
Types type_convolution(const Typing& t);
Types type_gather(const Typing& t);
Types type_scatter(const Typing& t);
Types type_norm(const Typing& t);        ///< layer_norm, rms_norm and their gradients
Types type_batch_norm(const Typing& t);  ///< and its gradient
Types type_softmax(const Typing& t);     ///< softmax, gelu and their gradients
Types type_attention(const Typing& t);   ///< and its gradient
Types type_cross_entropy(const Typing& t);
Types type_cross_entropy_grad(const Typing& t);
Types type_call(const Typing& t);
Types type_while(const Typing& t);
Types type_conditional(const Typing& t);
Types type_all_reduce(const Typing& t);
Types type_all_gather(const Typing& t);
Types type_reduce_scatter(const Typing& t);
Types type_all_to_all(const Typing& t);
Types type_collective_permute(const Typing& t);
Types type_custom_call(const Typing& t);

}  // namespace wafer::ir
