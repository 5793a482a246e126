#include "wafer/autodiff/rules.h"

#include <array>
#include <cmath>
#include <numbers>

#include "wafer/base/error.h"
#include "wafer/ir/decompose.h"

namespace wafer::autodiff {
namespace {

using F = ir::ElementFn;
using K = ir::OpKind;
using R = OpGradient;
using ir::AttrKey;

/// dy times the derivative of an element-wise op by one operand.
using Partial = Expr (*)(R&);
struct ElementRow {
  F fn;
  std::array<Partial, 3> by;  ///< nullptr: zero
};

/// Where the operands of a maximum are equal, each gets half; an operand alone gets all where it is
/// the larger one, so that max(x, 0) has the derivative 0 at 0.
Expr larger(R& r, size_t self) {
  const size_t other = 1 - self;
  if (!r.wants(other)) return only_where(r.x(other) < r.y(), r.dy());
  const Expr shared = only_where(equal(r.x(self), r.x(other)), 0.5 * r.dy());
  return where(r.x(other) < r.x(self), r.dy(), shared);
}
Expr smaller(R& r, size_t self) {
  const size_t other = 1 - self;
  if (!r.wants(other)) return only_where(r.y() < r.x(other), r.dy());
  const Expr shared = only_where(equal(r.x(self), r.x(other)), 0.5 * r.dy());
  return where(r.x(self) < r.x(other), r.dy(), shared);
}

/// b a^(b-1), 0 for b = 0, and a^b log a, 0 for a = 0.
Expr power_by_base(R& r) {
  const Expr zero = scalar_like(r.x(1), 0);
  const Expr slope = r.x(1) * pow(r.x(0), r.x(1) + -1.0);
  return r.dy() * where(equal(r.x(1), zero), zero, slope);
}
Expr power_by_exponent(R& r) {
  const Expr zero = scalar_like(r.x(0), 0);
  return r.dy() * where(equal(r.x(0), zero), zero, r.y() * log(r.x(0)));
}

constexpr double TwoOverRootPi = 2 * std::numbers::inv_sqrtpi;

/// In the order of ElementFn. Operands x, results y; a step has the derivative zero.
constexpr std::array<ElementRow, ir::ElementFnCount> ElementRows = {{
    {F::Abs, {[](R& r) { return r.dy() * sign(r.x(0)); }}},
    {F::Negate, {[](R& r) { return -r.dy(); }}},
    {F::Sign, {}},
    {F::Floor, {}},
    {F::Ceil, {}},
    {F::Round, {}},
    {F::Exp, {[](R& r) { return r.dy() * r.y(); }}},
    {F::Expm1, {[](R& r) { return r.dy() * (r.y() + 1.0); }}},
    {F::Log, {[](R& r) { return r.dy() / r.x(0); }}},
    {F::Log1p, {[](R& r) { return r.dy() / (r.x(0) + 1.0); }}},
    {F::Sqrt, {[](R& r) { return 0.5 * r.dy() / r.y(); }}},
    {F::Rsqrt, {[](R& r) { return -0.5 * r.dy() * r.y() * square(r.y()); }}},
    {F::Reciprocal, {[](R& r) { return -r.dy() * square(r.y()); }}},
    {F::Sin, {[](R& r) { return r.dy() * cos(r.x(0)); }}},
    {F::Cos, {[](R& r) { return -r.dy() * sin(r.x(0)); }}},
    {F::Tanh, {[](R& r) { return r.dy() * (1.0 - square(r.y())); }}},
    {F::Logistic, {[](R& r) { return r.dy() * r.y() * (1.0 - r.y()); }}},
    {F::Erf, {[](R& r) { return TwoOverRootPi * r.dy() * exp(-square(r.x(0))); }}},
    {F::Not, {}},
    {F::IsFinite, {}},
    {F::IsNan, {}},
    {F::Add, {[](R& r) { return r.dy(); }, [](R& r) { return r.dy(); }}},
    {F::Subtract, {[](R& r) { return r.dy(); }, [](R& r) { return -r.dy(); }}},
    {F::Multiply, {[](R& r) { return r.dy() * r.x(1); }, [](R& r) { return r.dy() * r.x(0); }}},
    {F::Divide,
     {[](R& r) { return r.dy() / r.x(1); }, [](R& r) { return -r.dy() * r.y() / r.x(1); }}},
    {F::Remainder,
     {[](R& r) { return r.dy(); },
      [](R& r) { return -r.dy() * round((r.x(0) - r.y()) / r.x(1)); }}},
    {F::Power, {power_by_base, power_by_exponent}},
    {F::Maximum, {[](R& r) { return larger(r, 0); }, [](R& r) { return larger(r, 1); }}},
    {F::Minimum, {[](R& r) { return smaller(r, 0); }, [](R& r) { return smaller(r, 1); }}},
    {F::Atan2,
     {[](R& r) { return r.dy() * r.x(1) / (square(r.x(0)) + square(r.x(1))); },
      [](R& r) { return -r.dy() * r.x(0) / (square(r.x(0)) + square(r.x(1))); }}},
    {F::And, {}},
    {F::Or, {}},
    {F::Xor, {}},
    {F::ShiftLeft, {}},
    {F::ShiftRightLogical, {}},
    {F::ShiftRightArithmetic, {}},
    {F::Equal, {}},
    {F::NotEqual, {}},
    {F::Less, {}},
    {F::LessEqual, {}},
    {F::Greater, {}},
    {F::GreaterEqual, {}},
    {F::Select,
     {nullptr, [](R& r) { return only_where(r.x(0), r.dy()); },
      [](R& r) { return only_where(!r.x(0), r.dy()); }}},
    {F::Clamp,
     {[](R& r) { return only_where((r.x(1) < r.x(0)) & (r.x(0) <= r.x(2)), r.dy()); },
      [](R& r) { return only_where((r.x(0) <= r.x(1)) & (r.x(1) <= r.x(2)), r.dy()); },
      [](R& r) { return only_where((r.x(2) < r.x(0)) | (r.x(2) < r.x(1)), r.dy()); }}},
}};

const ElementRow& row_of(const ir::Op& op) {
  return ElementRows[static_cast<size_t>(op.attrs.get<F>(AttrKey::Fn))];
}

void elementwise(R& r) {
  for (size_t i = 0; i < r.op.operands.size(); ++i) {
    if (r.wants(i)) r.give(i, row_of(r.op).by[i](r));
  }
}

/// The composite that computes the gradient of the first operand.
void give_composite(R& r, K kind, const std::vector<ir::ValueId>& operands) {
  r.give(0, r.b.emit1(kind, operands, r.attrs()));
}

struct RuleRow {
  K kind;
  Rule rule;  ///< nullptr: none, see rule_of
};

/// In the order of OpKind.
constexpr std::array<RuleRow, ir::OpKindCount> Rules = {{
    {K::Constant, nullptr},
    {K::Iota, nullptr},
    {K::Rng, nullptr},
    {K::Elementwise, elementwise},
    {K::Convert, [](R& r) { r.give(0, convert(r.dy(), r.x_type(0).dtype)); }},
    {K::BroadcastInDim, broadcast_in_dim},
    {K::Reshape, [](R& r) { r.give(0, r.b.reshape(r.dy(), r.x_type(0).shape)); }},
    {K::Transpose, transpose},
    {K::Slice, slice},
    {K::DynamicSlice, dynamic_slice},
    {K::DynamicUpdateSlice, dynamic_update_slice},
    {K::Concatenate, concatenate},
    {K::Pad, pad},
    {K::Reverse, [](R& r) { r.give(0, r.b.emit1(K::Reverse, {r.dy()}, r.attrs())); }},
    {K::Reduce, reduce},
    {K::ArgReduce, nullptr},
    {K::ReduceWindow, reduce_window},
    {K::SelectAndScatter, select_and_scatter},
    {K::Cumulative, cumulative},
    {K::Sort, sort},
    {K::DotGeneral, dot_general},
    {K::Convolution, convolution},
    {K::Gather, gather},
    {K::Scatter, scatter},
    {K::LayerNorm, layer_norm},
    {K::LayerNormGrad, nullptr},
    {K::RmsNorm, rms_norm},
    {K::RmsNormGrad, nullptr},
    {K::BatchNorm, batch_norm},
    {K::BatchNormGrad, nullptr},
    {K::Softmax, [](R& r) { give_composite(r, K::SoftmaxGrad, {r.y(), r.dy()}); }},
    {K::SoftmaxGrad, nullptr},
    {K::Gelu, [](R& r) { give_composite(r, K::GeluGrad, {r.x(0), r.dy()}); }},
    {K::GeluGrad, nullptr},
    {K::Attention, attention},
    {K::AttentionGrad, nullptr},
    {K::CrossEntropy,
     [](R& r) { give_composite(r, K::CrossEntropyGrad, {r.x(0), r.x(1), r.dy()}); }},
    {K::CrossEntropyGrad, nullptr},
    {K::Call, nullptr},
    {K::While, nullptr},
    {K::Conditional, nullptr},
    {K::AllReduce, all_reduce},
    {K::AllGather, all_gather},
    {K::ReduceScatter, reduce_scatter},
    {K::AllToAll, all_to_all},
    {K::CollectivePermute, collective_permute},
    {K::CustomCall, nullptr},
}};

template <typename Rows, typename Key>
constexpr bool in_order(const Rows& rows, Key key) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<size_t>(key(rows[i])) != i) return false;
  }
  return true;
}
static_assert(in_order(ElementRows, [](const ElementRow& row) { return row.fn; }));
static_assert(in_order(Rules, [](const RuleRow& row) { return row.kind; }));

}  // namespace

Rule rule_of(K kind) { return Rules[static_cast<size_t>(kind)].rule; }

bool propagates(const ir::Op& op, size_t operand) {
  return op.kind != K::Elementwise || row_of(op).by[operand] != nullptr;
}

bool through_decomposition(const ir::Op& op, bool wants_fourth_operand) {
  if (op.kind == K::Attention) return wants_fourth_operand;
  return ir::is_composite(op.kind) && rule_of(op.kind) == nullptr;
}

}  // namespace wafer::autodiff
