#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "wafer/base/id.h"
#include "wafer/base/shape.h"

namespace wafer::ir {

using ValueId = Id<struct ValueTag>;        ///< a value of one Function
using OpId = Id<struct OpTag>;              ///< an op of one Function
using FunctionId = Id<struct FunctionTag>;  ///< a function of one Graph

/// Every kind of op, with StableHLO's meaning and names, and the composites, which have a defined
/// decomposition into the others (ir/decompose.h). docs/spec/ops.md numbers the rules of each.
enum class OpKind : uint8_t {
  // Sources.
  Constant,  ///< {value}: a literal
  Iota,      ///< {dim}: the index along one dimension
  Rng,       ///< {distribution, seed, a, b}: uniform in [a, b) or normal(mean a, deviation b)
  // One element at a time. Operands have equal shapes; broadcasting is explicit.
  Elementwise,  ///< {fn}
  Convert,      ///< to the result's element type
  // Shapes.
  BroadcastInDim,      ///< {dims}: operand dimension i becomes result dimension dims[i]
  Reshape,             ///< same elements, row-major
  Transpose,           ///< {permutation}: result dimension i is operand dimension permutation[i]
  Slice,               ///< {starts, limits, strides}
  DynamicSlice,        ///< operand, then one scalar start a dimension {sizes}
  DynamicUpdateSlice,  ///< operand, update, then one scalar start a dimension
  Concatenate,         ///< {dim}
  Pad,                 ///< operand, scalar {low, high, interior}; low and high may be negative
  Reverse,             ///< {dims}
  // Reductions.
  Reduce,            ///< n operands, n scalar initial values {dims, fn or body}
  ArgReduce,         ///< {dim, fn = max or min}: index of the extreme, first one wins; i32 or i64
  ReduceWindow,      ///< operand, scalar {window, strides, padding_low, padding_high, fn}
  SelectAndScatter,  ///< operand, source, scalar {window, strides, padding_low, padding_high}: max
  Cumulative,        ///< {dim, fn, exclusive, reverse}: running reduction
  Sort,              ///< n operands {dim, descending}: all ordered by the first, stable
  // Products.
  DotGeneral,   ///< {contract = [..]x[..], batch = [..]x[..], accumulate}
  Convolution,  ///< input, kernel; all attributes have defaults: read them by ir/convolution.h
  // Indexing.
  Gather,   ///< operand, indices {offset_dims, collapsed_dims, start_index_map, index_vector_dim,
            ///< ..}
  Scatter,  ///< operand, indices, updates {.., fn}; without fn the update replaces
  // Composites. *Grad: the gradients of the inputs, given the inputs (or results) and the
  // cotangent.
  LayerNorm,      ///< x, scale, bias {epsilon}: over the last dimension -> y
  LayerNormGrad,  ///< x, scale, dy {epsilon} -> dx, dscale, dbias
  RmsNorm,        ///< x, scale {epsilon} -> y
  RmsNormGrad,    ///< x, scale, dy {epsilon} -> dx, dscale
  BatchNorm,      ///< x, scale, bias {epsilon, dim}: statistics of the batch -> y, mean, variance
  BatchNormGrad,  ///< x, scale, dy {epsilon, dim} -> dx, dscale, dbias
  Softmax,        ///< x: over the last dimension
  SoftmaxGrad,    ///< y (the softmax), dy -> dx
  Gelu,           ///< x {approximate = none or tanh}
  GeluGrad,       ///< x, dy {approximate} -> dx
  Attention,      ///< q, k, v [, bias] {scale, causal} -> y; see below
  AttentionGrad,  ///< q, k, v, [bias,] dy {scale, causal} -> dq, dk, dv
  CrossEntropy,   ///< logits [.., V], labels [..] {ignore_index} -> loss [..] (0 where ignored),
                  ///< f32 (f64 for f64 logits)
  CrossEntropyGrad,  ///< logits, labels, dloss [..] {ignore_index} -> dlogits
  // Sub-graphs.
  Call,         ///< {body}: operands are the inputs of the function, results its outputs
  While,        ///< {condition, body}: carried values in, carried values out
  Conditional,  ///< bool {branches = [@true, @false]} or i32 index (outside: the last), operands
  // Between devices, named groups of them; plannable, computed only by a single replica.
  AllReduce,          ///< {fn, group [, group_size]}
  AllGather,          ///< {dim, group, group_size}
  ReduceScatter,      ///< {dim, fn, group, group_size}
  AllToAll,           ///< {split_dim, concat_dim, group, group_size}
  CollectivePermute,  ///< {group, pairs}
  // Anything else that has operands, results and perhaps an effect.
  CustomCall,  ///< {target, has_side_effect}
};
inline constexpr int OpKindCount = static_cast<int>(OpKind::CustomCall) + 1;

// Slice limits and gather sizes of -1 mean the whole (perhaps symbolic) dimension.
//
// Attention: q [B, Hq, S, D], k [B, Hk, T, D], v [B, Hk, T, E] with Hq a multiple of Hk (query head
// h reads key head h / (Hq / Hk)); y [B, Hq, S, E] = softmax(q k^T scale + bias + causal mask) v.
// bias broadcasts: each of its dimensions [B|1, Hq|1, S|1, T] (added to the scores). causal hides
// keys j > i + (T - S).

/// Functions of element-wise ops and of reductions.
enum class ElementFn : uint8_t {
  // one operand
  Abs,
  Negate,
  Sign,
  Floor,
  Ceil,
  Round,  ///< half to even
  Exp,
  Expm1,
  Log,
  Log1p,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Sin,
  Cos,
  Tanh,
  Logistic,
  Erf,
  Not,
  IsFinite,
  IsNan,
  // two operands
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  Power,
  Maximum,
  Minimum,
  Atan2,
  And,
  Or,
  Xor,
  ShiftLeft,
  ShiftRightLogical,
  ShiftRightArithmetic,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  // three operands
  Select,  ///< predicate, on true, on false
  Clamp,   ///< low, x, high
};
inline constexpr int ElementFnCount = static_cast<int>(ElementFn::Clamp) + 1;

/// Attribute names; which op takes which is in the table of ir/op_table.cpp.
enum class AttrKey : uint8_t {
  Accumulate,  ///< element type of the accumulator, as a name
  Approximate,
  Axis0,  ///< low (Rng) or mean
  Axis1,  ///< high (Rng) or deviation
  Batch,
  BatchGroups,
  Body,
  Branches,
  Causal,
  CollapsedDims,
  ConcatDim,
  Condition,
  Contract,
  Descending,
  Dim,
  Dims,
  Distribution,
  Epsilon,
  Exclusive,
  FeatureGroups,
  Fn,
  Group,
  GroupSize,
  HasSideEffect,
  High,
  IgnoreIndex,
  IndexVectorDim,
  IndicesBatchDims,
  Interior,
  KernelLayout,  ///< e.g. "oi01"; input and output "bf01"
  LhsDilation,
  LhsLayout,
  Limits,
  Low,
  OffsetDims,
  OperandBatchDims,
  OutLayout,
  PaddingHigh,
  PaddingLow,
  Pairs,
  Permutation,
  Reverse,
  RhsDilation,
  Scale,
  Seed,
  Sizes,
  SplitDim,
  StartIndexMap,
  Starts,
  Strides,
  Target,
  Value,
  Window,
};
inline constexpr int AttrKeyCount = static_cast<int>(AttrKey::Window) + 1;

std::string_view name_of(OpKind kind);
std::optional<OpKind> op_kind_named(std::string_view name);
std::string_view name_of(ElementFn fn);
std::optional<ElementFn> element_fn_named(std::string_view name);
std::string_view name_of(AttrKey key);
std::optional<AttrKey> attr_key_named(std::string_view name);
/// 1, 2 or 3 operands.
int arity_of(ElementFn fn);

/// The elements of a constant. A splat holds one element for all; an elided one (large constants
/// that a dump left out) holds none: shapes and plans need no values, computing does.
struct Literal {
  TensorType type;
  bool splat = false;
  bool elided = false;
  std::vector<double> floats;     ///< row-major, for float types; each is one of the type
  std::vector<int64_t> integers;  ///< row-major, for integers (u64 as its bits) and bool
  /// Floats by their bits, so that -0 is not 0; all NaNs are alike.
  friend bool operator==(const Literal& a, const Literal& b);
};

/// Two lists of dimensions that go together: {contract = [1]x[0]}.
struct DimPairs {
  std::vector<int64_t> lhs, rhs;
  friend bool operator==(const DimPairs&, const DimPairs&) = default;
};

using Ints = std::vector<int64_t>;
/// A literal is shared between copies of its op and never changed.
using LiteralRef = std::shared_ptr<const Literal>;
using AttrValue = std::variant<bool, int64_t, double, std::string, Ints, DimPairs, ElementFn,
                               FunctionId, std::vector<FunctionId>, LiteralRef>;

/// The attributes of an op, sorted by key.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<AttrKey, AttrValue>> entries);

  void set(AttrKey key, AttrValue value);
  const AttrValue* find(AttrKey key) const;
  bool has(AttrKey key) const { return find(key) != nullptr; }
  /// The value as T. Throws InternalError when it is absent or of another type (the verifier has
  /// seen to it that it is there).
  template <typename T>
  const T& get(AttrKey key) const {
    const AttrValue* value = find(key);
    if (value == nullptr || !std::holds_alternative<T>(*value)) missing(key);
    return std::get<T>(*value);
  }
  template <typename T>
  T get_or(AttrKey key, T otherwise) const {
    const AttrValue* value = find(key);
    if (value == nullptr) return otherwise;
    if (!std::holds_alternative<T>(*value)) missing(key);
    return std::get<T>(*value);
  }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  friend bool operator==(const Attributes& a, const Attributes& b);

 private:
  [[noreturn]] static void missing(AttrKey key);
  std::vector<std::pair<AttrKey, AttrValue>> entries_;
};

}  // namespace wafer::ir
