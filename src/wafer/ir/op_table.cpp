#include "wafer/ir/op_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wafer/base/error.h"

namespace wafer::ir {
namespace {

constexpr int Any = OpRow::Any;
using K = AttrKey;

constexpr AttrSet WindowKeys = {K::Window, K::Strides, K::PaddingLow, K::PaddingHigh};
constexpr AttrSet ConvolutionKeys = {
    K::Strides,      K::PaddingLow, K::PaddingHigh,   K::LhsDilation, K::RhsDilation, K::LhsLayout,
    K::KernelLayout, K::OutLayout,  K::FeatureGroups, K::BatchGroups, K::Accumulate};
constexpr AttrSet IndexKeys = {K::OffsetDims, K::CollapsedDims, K::StartIndexMap,
                               K::IndexVectorDim};
constexpr AttrSet IndexBatchKeys = {K::OperandBatchDims, K::IndicesBatchDims};

/// One row a kind, in the order of OpKind.
constexpr std::array<OpRow, OpKindCount> Rows = {{
    // kind, operands from .. to, required, optional
    {OpKind::Constant, 0, 0, {K::Value}, {}},
    {OpKind::Iota, 0, 0, {K::Dim}, {}},
    {OpKind::Rng, 0, 0, {K::Distribution, K::Seed, K::Axis0, K::Axis1}, {}},
    {OpKind::Elementwise, 1, 3, {K::Fn}, {}},
    {OpKind::Convert, 1, 1, {}, {}},
    {OpKind::BroadcastInDim, 1, 1, {K::Dims}, {}},
    {OpKind::Reshape, 1, 1, {}, {}},
    {OpKind::Transpose, 1, 1, {K::Permutation}, {}},
    {OpKind::Slice, 1, 1, {K::Starts, K::Limits, K::Strides}, {}},
    {OpKind::DynamicSlice, 1, Any, {K::Sizes}, {}},
    {OpKind::DynamicUpdateSlice, 2, Any, {}, {}},
    {OpKind::Concatenate, 1, Any, {K::Dim}, {}},
    {OpKind::Pad, 2, 2, {K::Low, K::High, K::Interior}, {}},
    {OpKind::Reverse, 1, 1, {K::Dims}, {}},
    {OpKind::Reduce, 2, Any, {K::Dims}, {K::Fn, K::Body}},
    {OpKind::ArgReduce, 1, 1, {K::Dim, K::Fn}, {}},
    {OpKind::ReduceWindow, 2, 2, WindowKeys | AttrSet{K::Fn}, {}},
    {OpKind::SelectAndScatter, 3, 3, WindowKeys, {}},
    {OpKind::Cumulative, 1, 1, {K::Dim, K::Fn}, {K::Exclusive, K::Reverse}},
    {OpKind::Sort, 1, Any, {K::Dim}, {K::Descending}},
    {OpKind::DotGeneral, 2, 2, {K::Contract}, {K::Batch, K::Accumulate}},
    {OpKind::Convolution, 2, 2, {}, ConvolutionKeys},
    {OpKind::Gather, 2, 2, IndexKeys | AttrSet{K::Sizes}, IndexBatchKeys},
    {OpKind::Scatter, 3, 3, IndexKeys, IndexBatchKeys | AttrSet{K::Fn}},
    {OpKind::LayerNorm, 3, 3, {K::Epsilon}, {}},
    {OpKind::LayerNormGrad, 3, 3, {K::Epsilon}, {}},
    {OpKind::RmsNorm, 2, 2, {K::Epsilon}, {}},
    {OpKind::RmsNormGrad, 3, 3, {K::Epsilon}, {}},
    {OpKind::BatchNorm, 3, 3, {K::Epsilon, K::Dim}, {}},
    {OpKind::BatchNormGrad, 3, 3, {K::Epsilon, K::Dim}, {}},
    {OpKind::Softmax, 1, 1, {}, {}},
    {OpKind::SoftmaxGrad, 2, 2, {}, {}},
    {OpKind::Gelu, 1, 1, {}, {K::Approximate}},
    {OpKind::GeluGrad, 2, 2, {}, {K::Approximate}},
    {OpKind::Attention, 3, 4, {K::Scale}, {K::Causal}},
    {OpKind::AttentionGrad, 4, 5, {K::Scale}, {K::Causal}},
    {OpKind::CrossEntropy, 2, 2, {}, {K::IgnoreIndex}},
    {OpKind::CrossEntropyGrad, 3, 3, {}, {K::IgnoreIndex}},
    {OpKind::Call, 0, Any, {K::Body}, {}},
    {OpKind::While, 0, Any, {K::Condition, K::Body}, {}},
    {OpKind::Conditional, 1, Any, {K::Branches}, {}},
    {OpKind::AllReduce, 1, Any, {K::Fn, K::Group}, {K::GroupSize}},
    {OpKind::AllGather, 1, 1, {K::Dim, K::Group, K::GroupSize}, {}},
    {OpKind::ReduceScatter, 1, 1, {K::Dim, K::Fn, K::Group, K::GroupSize}, {}},
    {OpKind::AllToAll, 1, 1, {K::SplitDim, K::ConcatDim, K::Group, K::GroupSize}, {}},
    {OpKind::CollectivePermute, 1, 1, {K::Group, K::Pairs}, {}},
    {OpKind::CustomCall, 0, Any, {K::Target}, {K::HasSideEffect}},
}};

constexpr bool in_order() {
  for (int i = 0; i < OpKindCount; ++i) {
    if (static_cast<int>(Rows[static_cast<size_t>(i)].kind) != i) return false;
  }
  return true;
}
static_assert(in_order(), "row_of looks rows up by kind");

AttrSet keys_of(const Attributes& attrs) {
  AttrSet keys;
  for (const auto& [key, value] : attrs) keys.add(key);
  return keys;
}

std::string count_text(const OpRow& row) {
  if (row.max_operands == Any) return fmt::format("at least {}", row.min_operands);
  if (row.min_operands == row.max_operands) return std::to_string(row.min_operands);
  return fmt::format("{} to {}", row.min_operands, row.max_operands);
}

bool names_functions_of(const Graph& graph, const AttrValue& value) {
  const auto inside = [&](FunctionId id) { return id.index < graph.functions.size(); };
  if (const auto* one = std::get_if<FunctionId>(&value)) return inside(*one);
  const auto* many = std::get_if<std::vector<FunctionId>>(&value);
  return many == nullptr || std::all_of(many->begin(), many->end(), inside);
}

/// Rule OP4 to OP6 for one attribute; empty when it keeps them.
std::string value_problem(const Graph& graph, AttrKey key, const AttrValue& value) {
  if (type_of(value) != type_of(key)) {
    return fmt::format("attribute {} is a {}, not a {} [OP4]", name_of(key), name_of(type_of(key)),
                       name_of(type_of(value)));
  }
  if (!names_functions_of(graph, value)) {
    return fmt::format("attribute {} names a function that the graph does not have [OP5]",
                       name_of(key));
  }
  const auto* literal = std::get_if<LiteralRef>(&value);
  if (literal != nullptr && *literal == nullptr) {
    return fmt::format("attribute {} holds no literal [OP6]", name_of(key));
  }
  return {};
}

}  // namespace

AttrType type_of(const AttrValue& value) { return static_cast<AttrType>(value.index()); }

AttrType type_of(AttrKey key) {
  switch (key) {
    case K::Causal:
    case K::Descending:
    case K::Exclusive:
    case K::HasSideEffect:
    case K::Reverse:
      return AttrType::Bool;
    case K::BatchGroups:
    case K::ConcatDim:
    case K::Dim:
    case K::FeatureGroups:
    case K::GroupSize:
    case K::IgnoreIndex:
    case K::IndexVectorDim:
    case K::Seed:
    case K::SplitDim:
      return AttrType::Int;
    case K::Axis0:
    case K::Axis1:
    case K::Epsilon:
    case K::Scale:
      return AttrType::Float;
    case K::Accumulate:
    case K::Approximate:
    case K::Distribution:
    case K::Group:
    case K::KernelLayout:
    case K::LhsLayout:
    case K::OutLayout:
    case K::Target:
      return AttrType::String;
    case K::Batch:
    case K::Contract:
    case K::Pairs:
      return AttrType::IntPairs;
    case K::Fn:
      return AttrType::Fn;
    case K::Body:
    case K::Condition:
      return AttrType::Function;
    case K::Branches:
      return AttrType::FunctionList;
    case K::Value:
      return AttrType::Literal;
    default:
      return AttrType::IntList;
  }
}

std::string_view name_of(AttrType type) {
  constexpr std::array<std::string_view, 10> Names = {"bool",
                                                      "integer",
                                                      "float",
                                                      "string",
                                                      "list of integers",
                                                      "pair of lists of integers",
                                                      "element function",
                                                      "function",
                                                      "list of functions",
                                                      "literal"};
  return Names[static_cast<size_t>(type)];
}

std::vector<AttrKey> AttrSet::keys() const {
  std::vector<AttrKey> result;
  for (int i = 0; i < AttrKeyCount; ++i) {
    if (has(static_cast<AttrKey>(i))) result.push_back(static_cast<AttrKey>(i));
  }
  return result;
}

const OpRow& row_of(OpKind kind) { return Rows[static_cast<size_t>(kind)]; }

bool is_reduction(ElementFn fn) {
  switch (fn) {
    case ElementFn::Add:
    case ElementFn::Multiply:
    case ElementFn::Maximum:
    case ElementFn::Minimum:
    case ElementFn::And:
    case ElementFn::Or:
    case ElementFn::Xor:
      return true;
    default:
      return false;
  }
}

std::vector<std::string> row_problems(const Graph& graph, OpKind kind, size_t operands,
                                      const Attributes& attrs) {
  std::vector<std::string> problems;
  const OpRow& row = row_of(kind);
  const auto count = static_cast<int64_t>(operands);
  if (count < row.min_operands || (row.max_operands != Any && count > row.max_operands)) {
    problems.push_back(
        fmt::format("{} takes {} operands, not {} [OP1]", name_of(kind), count_text(row), count));
  }
  const AttrSet present = keys_of(attrs);
  if (!present.contains(row.required)) {
    for (AttrKey key : row.required.keys()) {
      if (present.has(key)) continue;
      problems.push_back(fmt::format("{} needs the attribute {} ({}) [OP2]", name_of(kind),
                                     name_of(key), name_of(type_of(key))));
    }
  }
  const AttrSet taken = row.required | row.optional;
  for (const auto& [key, value] : attrs) {
    if (!taken.has(key)) {
      problems.push_back(
          fmt::format("{} takes no attribute {} [OP3]", name_of(kind), name_of(key)));
    }
    std::string problem = value_problem(graph, key, value);
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace wafer::ir
