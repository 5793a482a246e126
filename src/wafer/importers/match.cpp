#include "wafer/importers/match.h"

#include <algorithm>
#include <cmath>

namespace wafer::importers {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

bool is_prefix_map(const Ints& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

}  // namespace

bool is_near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::abs(b);
}

const Op* Match::maker(ValueId v) const {
  const ir::OpId producer = f_.values[v.index].producer;
  return producer.valid() ? &f_.op(producer) : nullptr;
}

const Op* Match::maker(ValueId v, OpKind kind) const {
  const Op* op = maker(v);
  return op != nullptr && op->kind == kind ? op : nullptr;
}

const Op* Match::maker(ValueId v, ElementFn fn) const {
  const Op* op = maker(v, OpKind::Elementwise);
  return op != nullptr && op->attrs.get<ElementFn>(AttrKey::Fn) == fn ? op : nullptr;
}

std::optional<double> Match::splat(ValueId v) const {
  const Op* op = maker(v);
  if (op == nullptr) return std::nullopt;
  switch (op->kind) {
    case OpKind::BroadcastInDim:
    case OpKind::Reshape:
    case OpKind::Slice:
    case OpKind::Transpose:
    case OpKind::Convert:
      return splat(op->operands[0]);
    case OpKind::Constant: {
      const ir::Literal& literal = *op->attrs.get<ir::LiteralRef>(AttrKey::Value);
      if (literal.floats.size() == 1) return literal.floats[0];
      if (literal.integers.size() == 1) return static_cast<double>(literal.integers[0]);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

bool Match::is_splat_near(ValueId v, double value, double tolerance) const {
  const std::optional<double> s = splat(v);
  return s && is_near(*s, value, tolerance);
}

std::optional<ValueId> Match::last_dim_vector(ValueId v) const {
  const Op* op = maker(v, OpKind::BroadcastInDim);
  if (op == nullptr || rank(v) == 0) return std::nullopt;
  const ValueId row = op->operands[0];
  const Ints& dims = op->attrs.get<Ints>(AttrKey::Dims);
  if (rank(row) != 1 || dims[0] != rank(v) - 1 || shape(row)[0] != shape(v).back()) {
    return std::nullopt;
  }
  return row;
}

ValueId Match::row_value(ValueId v, const Shape& like) const {
  const Shape rows(like.begin(), like.end() - 1);
  Shape column = rows;
  column.emplace_back(1);
  while (const Op* op = maker(v)) {
    const bool moves =
        op->kind == OpKind::Reshape ||
        (op->kind == OpKind::BroadcastInDim && is_prefix_map(op->attrs.get<Ints>(AttrKey::Dims)));
    if (!moves) break;
    const Shape& inner = shape(op->operands[0]);
    if (inner != rows && inner != column) break;
    v = op->operands[0];
  }
  return v;
}

std::optional<ValueId> Match::row_mean(ValueId v, const Shape& like) const {
  v = row_value(v, like);
  const Shape rows(like.begin(), like.end() - 1);
  if (!like.back().is_static()) return std::nullopt;
  const auto count = static_cast<double>(like.back().value());
  const Op* scaled = maker(v, ElementFn::Multiply);
  const Op* divided = maker(v, ElementFn::Divide);
  ValueId sum;
  if (scaled != nullptr && is_splat_near(scaled->operands[1], 1 / count)) {
    sum = scaled->operands[0];
  } else if (divided != nullptr && is_splat_near(divided->operands[1], count)) {
    sum = divided->operands[0];
  } else {
    return std::nullopt;
  }
  sum = row_value(sum, like);
  const Op* reduce = maker(sum, OpKind::Reduce);
  if (reduce == nullptr || reduce->operands.size() != 2) return std::nullopt;
  const ir::AttrValue* fn = reduce->attrs.find(AttrKey::Fn);
  const bool adds = fn != nullptr && std::get<ElementFn>(*fn) == ElementFn::Add &&
                    splat(reduce->operands[1]) == 0.0;
  const Ints last = {static_cast<int64_t>(like.size()) - 1};
  const ValueId x = reduce->operands[0];
  if (!adds || reduce->attrs.get<Ints>(AttrKey::Dims) != last || shape(x) != like) {
    return std::nullopt;
  }
  return x;
}

ValueId Match::unconverted(ValueId v) const {
  while (const Op* op = maker(v, OpKind::Convert)) {
    if (!is_float(type(op->operands[0]).dtype) || !is_float(type(v).dtype)) break;
    v = op->operands[0];
  }
  return v;
}

Factors factors_of(const Match& m, ValueId v, int most) {
  Factors result;
  std::vector<ValueId> open = {v};
  while (!open.empty()) {
    const ValueId x = open.back();
    open.pop_back();
    const Op* product = m.maker(x, ElementFn::Multiply);
    const Op* quotient = m.maker(x, ElementFn::Divide);
    if (const std::optional<double> number = m.splat(x)) {
      result.number *= *number;
    } else if (product != nullptr && most-- > 0) {
      open.insert(open.end(), product->operands.rbegin(), product->operands.rend());
    } else if (quotient != nullptr && m.splat(quotient->operands[1]) && most-- > 0) {
      result.number /= *m.splat(quotient->operands[1]);
      open.push_back(quotient->operands[0]);
    } else {
      result.values.push_back(x);
    }
  }
  return result;
}

}  // namespace wafer::importers
