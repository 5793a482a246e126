// The two forms of GELU.
#include <cmath>
#include <numbers>

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

/// **Source:** Hendrycks and Gimpel, Gaussian Error Linear Units, arXiv:1606.08415, section 2.
constexpr double Cubic = 0.044715;
constexpr double Slope = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2 / pi)
/// Exporters write these constants with few digits.
constexpr double Tolerance = 1e-3;

/// v = number * x: number.
std::optional<double> multiple_of(const Match& m, ValueId v, ValueId x) {
  const Factors f = factors_of(m, v);
  if (f.values.size() == 1 && f.values[0] == x) return f.number;
  return std::nullopt;
}

/// v = number * x^power: number.
std::optional<double> power_multiple_of(const Match& m, ValueId v, ValueId x, int power) {
  Factors f = factors_of(m, v);
  int found = 0;
  for (ValueId factor : f.values) {
    const Op* raised = m.maker(factor, ElementFn::Power);
    if (factor == x) {
      ++found;
    } else if (raised != nullptr && raised->operands[0] == x && m.splat(raised->operands[1])) {
      found += static_cast<int>(*m.splat(raised->operands[1]));
    } else {
      return std::nullopt;
    }
  }
  return found == power ? std::optional<double>(f.number) : std::nullopt;
}

/// sum = a + b with b, or a, a splat: the other.
std::optional<ValueId> plus_one(const Match& m, ValueId v) {
  const Op* sum = m.maker(v, ElementFn::Add);
  if (sum == nullptr) return std::nullopt;
  for (size_t side : {0, 1}) {
    if (m.is_splat_near(sum->operands[1 - side], 1)) return sum->operands[side];
  }
  return std::nullopt;
}

/// v = sqrt(2/pi) (x + 0.044715 x^3), as that sum or as x (1 + 0.044715 x^2).
bool is_tanh_argument(const Match& m, ValueId v, ValueId x) {
  const Factors f = factors_of(m, v);
  if (f.values.size() == 1) {
    const Op* sum = m.maker(f.values[0], ElementFn::Add);
    if (sum == nullptr) return false;
    for (size_t side : {0, 1}) {
      const auto linear = multiple_of(m, sum->operands[side], x);
      const auto cubic = power_multiple_of(m, sum->operands[1 - side], x, 3);
      if (linear && cubic && is_near(f.number * *linear, Slope, Tolerance) &&
          is_near(*cubic / *linear, Cubic, Tolerance)) {
        return true;
      }
    }
    return false;
  }
  if (f.values.size() != 2 || !is_near(f.number, Slope, Tolerance)) return false;
  for (size_t side : {0, 1}) {
    if (f.values[side] != x) continue;
    const auto square = plus_one(m, f.values[1 - side]);
    const auto factor = square ? power_multiple_of(m, *square, x, 2) : std::nullopt;
    if (factor && is_near(*factor, Cubic, Tolerance)) return true;
  }
  return false;
}

enum class Form : uint8_t { Neither, Erf, Tanh };

/// gate = 1 + erf(x / sqrt 2) or 1 + tanh(..).
Form form_of(const Match& m, ValueId gate, ValueId x) {
  const auto bell = plus_one(m, gate);
  if (!bell) return Form::Neither;
  if (const Op* erf = m.maker(*bell, ElementFn::Erf)) {
    const auto slope = multiple_of(m, erf->operands[0], x);
    return slope && is_near(*slope, 1 / std::numbers::sqrt2, Tolerance) ? Form::Erf : Form::Neither;
  }
  const Op* tanh = m.maker(*bell, ElementFn::Tanh);
  return tanh != nullptr && is_tanh_argument(m, tanh->operands[0], x) ? Form::Tanh : Form::Neither;
}

/// The product of x, 1/2 and a gate.
std::optional<Values> match_gelu(Builder& b, ValueId left, ValueId right) {
  const Match m(b.function());
  Factors f = factors_of(m, left);
  const Factors g = factors_of(m, right);
  f.number *= g.number;
  f.values.insert(f.values.end(), g.values.begin(), g.values.end());
  if (f.values.size() != 2 || !is_near(f.number, 0.5)) return std::nullopt;
  for (size_t side : {0, 1}) {
    const ValueId x = f.values[side];
    const Form form = form_of(m, f.values[1 - side], x);
    if (form == Form::Neither) continue;
    return Values{b.gelu(x, form == Form::Tanh)};
  }
  return std::nullopt;
}

}  // namespace

ir::Graph recognize_gelu(const ir::Graph& graph) {
  return ir::rewrite(graph,
                     [](Builder& b, const Op& op, const Values& operands,
                        const std::vector<TensorType>& types) -> std::optional<Values> {
                       const bool multiplies =
                           op.kind == OpKind::Elementwise &&
                           op.attrs.get<ElementFn>(AttrKey::Fn) == ElementFn::Multiply;
                       if (!multiplies || !is_float(types[0].dtype)) return std::nullopt;
                       return match_gelu(b, operands[0], operands[1]);
                     });
}

}  // namespace wafer::importers
