#include "wafer/ir/op.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "wafer/base/error.h"

namespace wafer::ir {
namespace {

constexpr std::array<std::string_view, OpKindCount> KindNames = {"constant",
                                                                 "iota",
                                                                 "rng",
                                                                 "elementwise",
                                                                 "convert",
                                                                 "broadcast_in_dim",
                                                                 "reshape",
                                                                 "transpose",
                                                                 "slice",
                                                                 "dynamic_slice",
                                                                 "dynamic_update_slice",
                                                                 "concatenate",
                                                                 "pad",
                                                                 "reverse",
                                                                 "reduce",
                                                                 "arg_reduce",
                                                                 "reduce_window",
                                                                 "select_and_scatter",
                                                                 "cumulative",
                                                                 "sort",
                                                                 "dot_general",
                                                                 "convolution",
                                                                 "gather",
                                                                 "scatter",
                                                                 "layer_norm",
                                                                 "layer_norm_grad",
                                                                 "rms_norm",
                                                                 "rms_norm_grad",
                                                                 "batch_norm",
                                                                 "batch_norm_grad",
                                                                 "softmax",
                                                                 "softmax_grad",
                                                                 "gelu",
                                                                 "gelu_grad",
                                                                 "attention",
                                                                 "attention_grad",
                                                                 "cross_entropy",
                                                                 "cross_entropy_grad",
                                                                 "call",
                                                                 "while",
                                                                 "conditional",
                                                                 "all_reduce",
                                                                 "all_gather",
                                                                 "reduce_scatter",
                                                                 "all_to_all",
                                                                 "collective_permute",
                                                                 "custom_call"};

constexpr std::array<std::string_view, ElementFnCount> FnNames = {"abs",
                                                                  "negate",
                                                                  "sign",
                                                                  "floor",
                                                                  "ceil",
                                                                  "round",
                                                                  "exp",
                                                                  "expm1",
                                                                  "log",
                                                                  "log1p",
                                                                  "sqrt",
                                                                  "rsqrt",
                                                                  "reciprocal",
                                                                  "sin",
                                                                  "cos",
                                                                  "tanh",
                                                                  "logistic",
                                                                  "erf",
                                                                  "not",
                                                                  "is_finite",
                                                                  "is_nan",
                                                                  "add",
                                                                  "subtract",
                                                                  "multiply",
                                                                  "divide",
                                                                  "remainder",
                                                                  "power",
                                                                  "maximum",
                                                                  "minimum",
                                                                  "atan2",
                                                                  "and",
                                                                  "or",
                                                                  "xor",
                                                                  "shift_left",
                                                                  "shift_right_logical",
                                                                  "shift_right_arithmetic",
                                                                  "eq",
                                                                  "ne",
                                                                  "lt",
                                                                  "le",
                                                                  "gt",
                                                                  "ge",
                                                                  "select",
                                                                  "clamp"};

constexpr std::array<std::string_view, AttrKeyCount> KeyNames = {"accumulate",
                                                                 "approximate",
                                                                 "a",
                                                                 "b",
                                                                 "batch",
                                                                 "batch_groups",
                                                                 "body",
                                                                 "branches",
                                                                 "causal",
                                                                 "collapsed_dims",
                                                                 "concat_dim",
                                                                 "condition",
                                                                 "contract",
                                                                 "descending",
                                                                 "dim",
                                                                 "dims",
                                                                 "distribution",
                                                                 "epsilon",
                                                                 "exclusive",
                                                                 "feature_groups",
                                                                 "fn",
                                                                 "group",
                                                                 "group_size",
                                                                 "has_side_effect",
                                                                 "high",
                                                                 "ignore_index",
                                                                 "index_vector_dim",
                                                                 "indices_batch_dims",
                                                                 "interior",
                                                                 "kernel_layout",
                                                                 "lhs_dilation",
                                                                 "lhs_layout",
                                                                 "limits",
                                                                 "low",
                                                                 "offset_dims",
                                                                 "operand_batch_dims",
                                                                 "out_layout",
                                                                 "padding_high",
                                                                 "padding_low",
                                                                 "pairs",
                                                                 "permutation",
                                                                 "reverse",
                                                                 "rhs_dilation",
                                                                 "scale",
                                                                 "seed",
                                                                 "sizes",
                                                                 "split_dim",
                                                                 "start_index_map",
                                                                 "starts",
                                                                 "strides",
                                                                 "target",
                                                                 "value",
                                                                 "window"};

template <typename Enum, size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

bool key_less(const std::pair<AttrKey, AttrValue>& entry, AttrKey key) { return entry.first < key; }

}  // namespace

std::string_view name_of(OpKind kind) { return KindNames[static_cast<size_t>(kind)]; }
std::optional<OpKind> op_kind_named(std::string_view name) {
  return find_name<OpKind>(KindNames, name);
}
std::string_view name_of(ElementFn fn) { return FnNames[static_cast<size_t>(fn)]; }
std::optional<ElementFn> element_fn_named(std::string_view name) {
  return find_name<ElementFn>(FnNames, name);
}
std::string_view name_of(AttrKey key) { return KeyNames[static_cast<size_t>(key)]; }
std::optional<AttrKey> attr_key_named(std::string_view name) {
  return find_name<AttrKey>(KeyNames, name);
}

int arity_of(ElementFn fn) {
  if (fn >= ElementFn::Select) return 3;
  return fn >= ElementFn::Add ? 2 : 1;
}

Attributes::Attributes(std::initializer_list<std::pair<AttrKey, AttrValue>> entries) {
  for (const auto& [key, value] : entries) set(key, value);
}

void Attributes::set(AttrKey key, AttrValue value) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, key_less);
  if (at != entries_.end() && at->first == key) {
    at->second = std::move(value);
  } else {
    entries_.insert(at, {key, std::move(value)});
  }
}

const AttrValue* Attributes::find(AttrKey key) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, key_less);
  return at != entries_.end() && at->first == key ? &at->second : nullptr;
}

bool operator==(const Literal& a, const Literal& b) {
  const auto same = [](double x, double y) {
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y) ||
           (std::isnan(x) && std::isnan(y));
  };
  return a.type == b.type && a.splat == b.splat && a.elided == b.elided &&
         a.integers == b.integers &&
         std::equal(a.floats.begin(), a.floats.end(), b.floats.begin(), b.floats.end(), same);
}

bool operator==(const Attributes& a, const Attributes& b) {
  const auto same = [](const auto& x, const auto& y) {
    if (x.first != y.first || x.second.index() != y.second.index()) return false;
    const auto* literal = std::get_if<LiteralRef>(&x.second);
    return literal != nullptr ? **literal == *std::get<LiteralRef>(y.second) : x.second == y.second;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

void Attributes::missing(AttrKey key) {
  throw InternalError("attribute " + std::string(name_of(key)) + " is absent or of another type");
}

}  // namespace wafer::ir
