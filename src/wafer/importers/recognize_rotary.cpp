// Rotary position embedding as x cos + rotate_half(x) sin.
#include "wafer/importers/match.h"
#include "wafer/importers/recognize.h"
#include "wafer/ir/rewrite.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::Builder;
using ir::ElementFn;
using ir::Ints;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

using Values = std::vector<ValueId>;
using Replaced = std::optional<Values>;

/// h of v = concatenate(h, h) along the last dimension.
std::optional<ValueId> doubled(const Match& m, ValueId v) {
  const Op* join = m.maker(v, OpKind::Concatenate);
  if (join == nullptr || join->operands.size() != 2) return std::nullopt;
  const bool last = join->attrs.get<int64_t>(AttrKey::Dim) == m.rank(v) - 1;
  return last && join->operands[0] == join->operands[1] ? std::optional<ValueId>(join->operands[0])
                                                        : std::nullopt;
}

/// An element-wise op of (h, h) and numbers: that of h, doubled.
Replaced compute_half(Builder& b, const Op& op, const Values& operands, const TensorType& type) {
  const Match m(b.function());
  std::optional<Shape> shape;
  std::vector<std::optional<ValueId>> halves;
  std::vector<double> numbers;
  for (ValueId v : operands) {
    halves.push_back(doubled(m, v));
    numbers.push_back(m.splat(v).value_or(0));
    if (halves.back()) {
      shape = m.shape(*halves.back());
    } else if (!m.splat(v)) {
      return std::nullopt;
    }
  }
  if (!shape) return std::nullopt;
  Values inner;
  for (size_t i = 0; i < operands.size(); ++i) {
    const DType dtype = b.type_of(operands[i]).dtype;
    inner.push_back(halves[i] ? *halves[i] : b.broadcast_to(b.scalar(numbers[i], dtype), *shape));
  }
  const ValueId half = b.emit1(op.kind, inner, op.attrs, {{type.dtype, *shape}});
  return Values{b.concatenate({half, half}, type.rank() - 1)};
}

struct Halves {
  ValueId first, second;  ///< of x
};

/// The parts of v = concatenate(-x2, x1) with x = (x1, x2).
std::optional<Halves> match_rotated(const Match& m, ValueId v, ValueId x) {
  const Op* join = m.maker(v, OpKind::Concatenate);
  if (join == nullptr || join->operands.size() != 2 ||
      join->attrs.get<int64_t>(AttrKey::Dim) != m.rank(v) - 1) {
    return std::nullopt;
  }
  const Op* negated = m.maker(join->operands[0], ElementFn::Negate);
  if (negated == nullptr) return std::nullopt;
  const Halves halves{join->operands[1], negated->operands[0]};
  const Op* first = m.maker(halves.first, OpKind::Slice);
  const Op* second = m.maker(halves.second, OpKind::Slice);
  if (first == nullptr || second == nullptr || first->operands[0] != x ||
      second->operands[0] != x || m.shape(halves.first) != m.shape(halves.second)) {
    return std::nullopt;
  }
  const int64_t half = m.shape(halves.first).back().value();
  const bool right = first->attrs.get<Ints>(AttrKey::Starts).back() == 0 &&
                     second->attrs.get<Ints>(AttrKey::Starts).back() == half &&
                     m.shape(x).back() == Dim(2 * half);
  return right ? std::optional<Halves>(halves) : std::nullopt;
}

/// A table of v = broadcast(concatenate(h, h)), which reaches the last dimension.
struct Table {
  ValueId half;
  Ints dims;
};

std::optional<Table> match_table(const Match& m, ValueId v) {
  const Op* broadcast = m.maker(v, OpKind::BroadcastInDim);
  if (broadcast == nullptr) return std::nullopt;
  const auto half = doubled(m, broadcast->operands[0]);
  const Ints& dims = broadcast->attrs.get<Ints>(AttrKey::Dims);
  if (!half || dims.back() != m.rank(v) - 1) return std::nullopt;
  return Table{*half, dims};
}

struct Turn {
  Halves x;
  Table cos, sin;
};

/// left + right = x cos + (-x2, x1) sin.
std::optional<Turn> match_turn(const Match& m, ValueId left, ValueId right) {
  const Op* straight = m.maker(left, ElementFn::Multiply);
  const Op* crossed = m.maker(right, ElementFn::Multiply);
  if (straight == nullptr || crossed == nullptr || m.rank(left) == 0) return std::nullopt;
  for (size_t i : {0, 1}) {
    for (size_t j : {0, 1}) {
      const auto cos = match_table(m, straight->operands[1 - i]);
      const auto sin = match_table(m, crossed->operands[1 - j]);
      if (!cos || !sin) continue;
      const auto x = match_rotated(m, crossed->operands[j], straight->operands[i]);
      if (x) return Turn{*x, *cos, *sin};
    }
  }
  return std::nullopt;
}

Replaced replace_turn(Builder& b, const Values& operands) {
  const Match m(b.function());
  auto turn = match_turn(m, operands[0], operands[1]);
  if (!turn) turn = match_turn(m, operands[1], operands[0]);
  if (!turn) return std::nullopt;
  const Shape& shape = m.shape(turn->x.first);
  const int64_t last = m.rank(operands[0]) - 1;
  const auto [first, second] = turn->x;
  const ValueId cos = b.broadcast_in_dim(turn->cos.half, shape, turn->cos.dims);
  const ValueId sin = b.broadcast_in_dim(turn->sin.half, shape, turn->sin.dims);
  const ValueId left = b.subtract(b.multiply(first, cos), b.multiply(second, sin));
  const ValueId right = b.add(b.multiply(second, cos), b.multiply(first, sin));
  return Values{b.concatenate({left, right}, last)};
}

}  // namespace

ir::Graph recognize_rotary(const ir::Graph& graph) {
  return ir::rewrite(graph,
                     [](Builder& b, const Op& op, const Values& operands,
                        const std::vector<TensorType>& types) -> Replaced {
                       if (op.kind == OpKind::Convert)
                         return compute_half(b, op, operands, types[0]);
                       if (op.kind != OpKind::Elementwise) return std::nullopt;
                       if (auto half = compute_half(b, op, operands, types[0])) return half;
                       const bool adds = op.attrs.get<ElementFn>(AttrKey::Fn) == ElementFn::Add;
                       return adds ? replace_turn(b, operands) : std::nullopt;
                     });
}

}  // namespace wafer::importers
