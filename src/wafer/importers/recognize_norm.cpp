// Layer and RMS normalisation.
#include "wafer/importers/match.h"
#include "wafer/importers/recognize.h"
#include "wafer/ir/rewrite.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::Builder;
using ir::ElementFn;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

using Values = std::vector<ValueId>;
using Replaced = std::optional<Values>;

/// x and epsilon of 1 / sqrt(mean(x x) + epsilon).
struct Inverse {
  ValueId x;
  double epsilon = 0;
};

/// v = mean(x x) + epsilon.
std::optional<Inverse> match_mean_square(const Match& m, ValueId v, const Shape& like) {
  const Op* sum = m.maker(m.row_value(v, like), ElementFn::Add);
  if (sum == nullptr) return std::nullopt;
  for (size_t side : {0, 1}) {
    const std::optional<double> epsilon = m.splat(sum->operands[1 - side]);
    const std::optional<ValueId> square = m.row_mean(sum->operands[side], like);
    if (!epsilon || !square || *epsilon < 0) continue;
    const Op* product = m.maker(*square, ElementFn::Multiply);
    if (product != nullptr && product->operands[0] == product->operands[1]) {
      return Inverse{product->operands[0], *epsilon};
    }
    const Op* power = m.maker(*square, ElementFn::Power);
    if (power != nullptr && m.splat(power->operands[1]) == 2.0) {
      return Inverse{power->operands[0], *epsilon};
    }
  }
  return std::nullopt;
}

/// v = sqrt(mean(x x) + epsilon).
std::optional<Inverse> match_root(const Match& m, ValueId v, const Shape& like) {
  v = m.row_value(v, like);
  if (const Op* root = m.maker(v, ElementFn::Sqrt)) {
    return match_mean_square(m, root->operands[0], like);
  }
  const Op* power = m.maker(v, ElementFn::Power);
  if (power == nullptr || m.splat(power->operands[1]) != 0.5) return std::nullopt;
  return match_mean_square(m, power->operands[0], like);
}

/// v = 1 / sqrt(mean(x x) + epsilon).
std::optional<Inverse> match_inverse_root(const Match& m, ValueId v, const Shape& like) {
  v = m.row_value(v, like);
  if (const Op* rsqrt = m.maker(v, ElementFn::Rsqrt)) {
    return match_mean_square(m, rsqrt->operands[0], like);
  }
  if (const Op* reciprocal = m.maker(v, ElementFn::Reciprocal)) {
    return match_root(m, reciprocal->operands[0], like);
  }
  if (const Op* quotient = m.maker(v, ElementFn::Divide);
      quotient != nullptr && m.splat(quotient->operands[0]) == 1.0) {
    return match_root(m, quotient->operands[1], like);
  }
  const Op* power = m.maker(v, ElementFn::Power);
  if (power == nullptr || m.splat(power->operands[1]) != -0.5) return std::nullopt;
  return match_mean_square(m, power->operands[0], like);
}

/// v = x / sqrt(mean(x x) + epsilon).
std::optional<Inverse> match_normalized(const Match& m, ValueId v) {
  const Shape& like = m.shape(v);
  if (like.empty()) return std::nullopt;
  if (const Op* quotient = m.maker(v, ElementFn::Divide)) {
    const auto found = match_root(m, quotient->operands[1], like);
    if (found && found->x == quotient->operands[0]) return found;
  }
  const Op* product = m.maker(v, ElementFn::Multiply);
  if (product == nullptr) return std::nullopt;
  for (size_t side : {0, 1}) {
    const auto found = match_inverse_root(m, product->operands[1 - side], like);
    if (found && found->x == product->operands[side]) return found;
  }
  return std::nullopt;
}

/// x of v = x - mean(x).
std::optional<ValueId> match_centered(const Match& m, ValueId v) {
  const Op* difference = m.maker(v, ElementFn::Subtract);
  if (difference == nullptr || m.rank(v) == 0) return std::nullopt;
  const ValueId x = difference->operands[0];
  const auto mean = m.row_mean(difference->operands[1], m.shape(v));
  return mean && *mean == x ? std::optional<ValueId>(x) : std::nullopt;
}

/// v without a conversion from a wider float type, if the type behind it is `dtype`.
ValueId as_type(const Match& m, ValueId v, DType dtype) {
  const ValueId x = m.unconverted(v);
  return m.type(x).dtype == dtype ? x : v;
}

/// normalized * scale -> rms_norm or, of a centered x, layer_norm without bias. Norms that are
/// computed in a wider type than the scale's are one op in the narrow type.
Replaced match_scaled(Builder& b, const Values& operands, const TensorType& type) {
  const Match m(b.function());
  for (size_t side : {0, 1}) {
    const auto scale = m.last_dim_vector(operands[1 - side]);
    if (!scale) continue;
    const auto found = match_normalized(m, m.unconverted(operands[side]));
    if (!found) continue;
    const auto centered = match_centered(m, found->x);
    const ValueId x = as_type(m, centered.value_or(found->x), type.dtype);
    if (m.type(x) != type || m.type(*scale).dtype != type.dtype) continue;
    if (!centered) return Values{b.rms_norm(x, *scale, found->epsilon)};
    const ValueId zero = b.constant(0, {type.dtype, {type.shape.back()}});
    return Values{b.layer_norm(x, *scale, zero, found->epsilon)};
  }
  return std::nullopt;
}

/// layer_norm without bias, plus a vector: its bias.
Replaced match_bias(Builder& b, const Values& operands) {
  const Match m(b.function());
  for (size_t side : {0, 1}) {
    const auto bias = m.last_dim_vector(operands[1 - side]);
    const Op* norm = m.maker(operands[side], OpKind::LayerNorm);
    if (!bias || norm == nullptr || m.splat(norm->operands[2]) != 0.0) continue;
    const Values of = norm->operands;
    return Values{b.layer_norm(of[0], of[1], *bias, norm->attrs.get<double>(AttrKey::Epsilon))};
  }
  return std::nullopt;
}

}  // namespace

ir::Graph recognize_norms(const ir::Graph& graph) {
  return ir::rewrite(graph,
                     [](Builder& b, const Op& op, const Values& operands,
                        const std::vector<TensorType>& types) -> Replaced {
                       if (op.kind != OpKind::Elementwise) return std::nullopt;
                       const auto fn = op.attrs.get<ElementFn>(AttrKey::Fn);
                       if (fn == ElementFn::Multiply) return match_scaled(b, operands, types[0]);
                       if (fn == ElementFn::Add) return match_bias(b, operands);
                       return std::nullopt;
                     });
}

}  // namespace wafer::importers
