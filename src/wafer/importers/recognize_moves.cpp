// Reshapes, transposes and broadcasts.
#include <algorithm>
#include <numeric>

#include "wafer/importers/match.h"
#include "wafer/importers/recognize.h"
#include "wafer/ir/rewrite.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

using Values = std::vector<ValueId>;
using Replaced = std::optional<Values>;

bool is_identity(const Ints& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Dim product(Shape::const_iterator from, Shape::const_iterator to) {
  return element_count(Shape(from, to));
}

/// How many leading dimensions of `from` a reshape to `to` joins into one, the rest staying; 0 when
/// it does something else.
size_t merged_dims(const Shape& from, const Shape& to) {
  if (to.empty() || from.size() <= to.size()) return 0;
  const size_t lead = from.size() - to.size() + 1;
  const auto middle = from.begin() + static_cast<std::ptrdiff_t>(lead);
  const bool same_tail = std::equal(middle, from.end(), to.begin() + 1, to.end());
  return same_tail && product(from.begin(), middle) == to[0] ? lead : 0;
}

/// The operand of the reshape that makes v by joining leading dimensions, if one does.
std::optional<ValueId> unmerged(const Match& m, ValueId v) {
  const Op* op = m.maker(v, OpKind::Reshape);
  if (op == nullptr || merged_dims(m.shape(op->operands[0]), m.shape(v)) == 0) return std::nullopt;
  return op->operands[0];
}

/// [a b, M, N] with its last dimensions exchanged, reshaped to [a, b, N, M]: x reshaped first, so
/// that the reshape meets the one that joined a and b.
Replaced split_before_transpose(Builder& b, const Op& transpose, const Shape& to) {
  const Match m(b.function());
  const ValueId x = transpose.operands[0];
  const Ints permutation = transpose.attrs.get<Ints>(AttrKey::Permutation);
  const auto split = static_cast<int64_t>(to.size()) - m.rank(x);
  if (m.maker(x, OpKind::Reshape) == nullptr || permutation[0] != 0 || split < 1) {
    return std::nullopt;
  }
  const auto middle = to.begin() + split + 1;
  Shape apart(to.begin(), middle);
  apart.insert(apart.end(), m.shape(x).begin() + 1, m.shape(x).end());
  Ints order(static_cast<size_t>(split) + 1);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 1; i < permutation.size(); ++i) order.push_back(permutation[i] + split);
  for (size_t d = 0; d < to.size(); ++d) {
    if (apart[static_cast<size_t>(order[d])] != to[d]) return std::nullopt;
  }
  const ValueId source = m.maker(x, OpKind::Reshape)->operands[0];
  return Values{b.transpose(b.reshape(source, apart), order)};
}

Replaced simplify_reshape(Builder& b, const Shape& to, const Values& operands) {
  const ValueId x = operands[0];
  if (b.shape_of(x) == to) return Values{x};
  const Match m(b.function());
  if (const Op* inner = m.maker(x, OpKind::Reshape)) {
    return Values{b.reshape(inner->operands[0], to)};
  }
  if (const Op* transpose = m.maker(x, OpKind::Transpose)) {
    return split_before_transpose(b, *transpose, to);
  }
  return std::nullopt;
}

Replaced simplify_transpose(Builder& b, const Op& op, const Values& operands) {
  Ints permutation = op.attrs.get<Ints>(AttrKey::Permutation);
  if (is_identity(permutation)) return operands;
  const Op* inner = Match(b.function()).maker(operands[0], OpKind::Transpose);
  if (inner == nullptr) return std::nullopt;
  const Ints& first = inner->attrs.get<Ints>(AttrKey::Permutation);
  for (int64_t& d : permutation) d = first[static_cast<size_t>(d)];
  const ValueId x = inner->operands[0];
  return Values{is_identity(permutation) ? x : b.transpose(x, permutation)};
}

/// Which dimension of the result each dimension of `inner` is when a reshape to `outer` only puts
/// in dimensions of 1; nothing when it does more.
std::optional<Ints> inserted_ones(const Shape& inner, const Shape& outer) {
  Ints places;
  size_t next = 0;
  for (size_t d = 0; d < outer.size(); ++d) {
    // A dimension of 1 of the operand may be any of those of the result: the first one.
    if (next < inner.size() && inner[next] == outer[d]) {
      places.push_back(static_cast<int64_t>(d));
      ++next;
    } else if (outer[d] != Dim(1)) {
      return std::nullopt;
    }
  }
  if (next != inner.size()) return std::nullopt;
  return places;
}

Replaced simplify_broadcast(Builder& b, const Op& op, const Shape& to, const Values& operands) {
  const Ints& dims = op.attrs.get<Ints>(AttrKey::Dims);
  const ValueId x = operands[0];
  if (b.shape_of(x) == to && is_identity(dims)) return operands;
  const Match m(b.function());
  const Op* inner = m.maker(x);
  if (inner == nullptr) return std::nullopt;
  std::optional<Ints> places;
  if (inner->kind == OpKind::BroadcastInDim) places = inner->attrs.get<Ints>(AttrKey::Dims);
  if (inner->kind == OpKind::Reshape) {
    places = inserted_ones(m.shape(inner->operands[0]), m.shape(x));
  }
  if (!places) return std::nullopt;
  for (int64_t& d : *places) d = dims[static_cast<size_t>(d)];
  return Values{b.broadcast_in_dim(inner->operands[0], to, *places)};
}

/// x [B, S, K] joined to [B S, K], times a matrix: the product of x, joined.
Replaced merge_after_dot(Builder& b, const Op& op, const TensorType& type, const Values& operands) {
  const Match m(b.function());
  const std::optional<ValueId> x = unmerged(m, operands[0]);
  const auto& contract = op.attrs.get<ir::DimPairs>(AttrKey::Contract);
  const auto batch = op.attrs.get_or<ir::DimPairs>(AttrKey::Batch, {});
  if (!x || !batch.lhs.empty() || contract.lhs != Ints{m.rank(operands[0]) - 1}) {
    return std::nullopt;
  }
  ir::Attributes attrs = op.attrs;
  attrs.set(AttrKey::Contract, ir::DimPairs{{m.rank(*x) - 1}, contract.rhs});
  TensorType unjoined{type.dtype, {m.shape(*x).begin(), m.shape(*x).end() - 1}};
  const auto joined = m.rank(operands[0]) - 1;
  unjoined.shape.insert(unjoined.shape.end(), type.shape.begin() + joined, type.shape.end());
  const ValueId y = b.emit1(OpKind::DotGeneral, {*x, operands[1]}, attrs, {unjoined});
  return Values{b.reshape(y, type.shape)};
}

/// The operand of an element-wise op as it is before dimensions were joined: x unmerged, or a splat
/// or a vector along the last dimension, to the shape.
std::optional<ValueId> unmerged_operand(Builder& b, ValueId v, const Shape& shape) {
  const Match m(b.function());
  if (const auto x = unmerged(m, v); x && m.shape(*x) == shape) return x;
  const Op* op = m.maker(v, OpKind::BroadcastInDim);
  if (op == nullptr) return std::nullopt;
  const ValueId from = op->operands[0];
  Ints dims = op->attrs.get<Ints>(AttrKey::Dims);
  const int64_t shift = static_cast<int64_t>(shape.size()) - m.rank(v);
  for (int64_t& d : dims) {
    if (d == 0) return std::nullopt;  // along what is joined
    d += shift;
  }
  return b.broadcast_in_dim(from, shape, dims);
}

Replaced merge_after_elementwise(Builder& b, const Op& op, const TensorType& type,
                                 const Values& operands) {
  std::optional<Shape> shape;
  for (ValueId v : operands) {
    const Match m(b.function());
    if (const auto x = unmerged(m, v)) shape = m.shape(*x);
  }
  if (!shape) return std::nullopt;
  Values inner;
  for (ValueId v : operands) {
    const std::optional<ValueId> x = unmerged_operand(b, v, *shape);
    if (!x) return std::nullopt;
    inner.push_back(*x);
  }
  return Values{b.reshape(b.emit1(op.kind, inner, op.attrs, {{type.dtype, *shape}}), type.shape)};
}

/// Dimensions of the result along which an operand has more than one value.
std::optional<std::vector<bool>> varied_dims(const Match& m, ValueId v) {
  const Op* op = m.maker(v, OpKind::BroadcastInDim);
  if (op == nullptr) return std::nullopt;
  std::vector<bool> varied(m.shape(v).size(), false);
  const Ints& dims = op->attrs.get<Ints>(AttrKey::Dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (m.shape(op->operands[0])[i] != Dim(1)) varied[static_cast<size_t>(dims[i])] = true;
  }
  return varied;
}

/// The operand of the broadcast that makes v, to a shape that is 1 where nothing varies.
ValueId narrowed(Builder& b, ValueId v, const Shape& narrow) {
  const Op op = *Match(b.function()).maker(v);
  const Ints& dims = op.attrs.get<Ints>(AttrKey::Dims);
  const ValueId x = op.operands[0];
  const bool repeats = element_count(b.shape_of(x)) != element_count(narrow);
  const bool in_order = std::is_sorted(dims.begin(), dims.end());
  return repeats || !in_order ? b.broadcast_in_dim(x, narrow, dims) : b.reshape(x, narrow);
}

/// An op of broadcast operands, done before they are broadcast.
Replaced broadcast_late(Builder& b, const Op& op, const TensorType& type, const Values& operands) {
  const Match m(b.function());
  std::vector<bool> varied(type.shape.size(), false);
  for (ValueId v : operands) {
    const auto own = varied_dims(m, v);
    if (!own) return std::nullopt;
    for (size_t d = 0; d < varied.size(); ++d) varied[d] = varied[d] || (*own)[d];
  }
  Shape narrow = type.shape;
  for (size_t d = 0; d < varied.size(); ++d) {
    if (!varied[d]) narrow[d] = Dim(1);
  }
  if (narrow == type.shape) return std::nullopt;
  Values inner;
  for (ValueId v : operands) inner.push_back(narrowed(b, v, narrow));
  Ints dims(narrow.size());
  std::iota(dims.begin(), dims.end(), 0);
  return Values{b.broadcast_in_dim(b.emit1(op.kind, inner, op.attrs, {{type.dtype, narrow}}),
                                   type.shape, dims)};
}

/// The operand of a conversion to f32 from a narrower float type.
std::optional<ValueId> narrow_source(const Match& m, ValueId v) {
  const Op* convert = m.maker(v, OpKind::Convert);
  if (convert == nullptr || m.type(v).dtype != DType::F32) return std::nullopt;
  const DType from = m.type(convert->operands[0]).dtype;
  const bool narrower = is_float(from) && size_in_bytes(from) < 4;
  return narrower ? std::optional<ValueId>(convert->operands[0]) : std::nullopt;
}

/// A loss of scores that were widened to f32: it widens them itself.
Replaced narrow_loss(Builder& b, const Op& op, const Values& operands) {
  const Match m(b.function());
  const Op* reshape = m.maker(operands[0], OpKind::Reshape);
  const auto scores = narrow_source(m, reshape != nullptr ? reshape->operands[0] : operands[0]);
  if (!scores) return std::nullopt;
  const ValueId shaped = b.reshape(*scores, b.shape_of(operands[0]));
  return b.emit(op.kind, {shaped, operands[1]}, op.attrs);
}

/// A softmax of x widened to f32 and back: it does so itself.
Replaced narrow_softmax(Builder& b, const TensorType& type, const Values& operands) {
  const Match m(b.function());
  const Op* softmax = m.maker(operands[0], OpKind::Softmax);
  const auto x = softmax == nullptr ? std::nullopt : narrow_source(m, softmax->operands[0]);
  if (!x || m.type(*x) != type) return std::nullopt;
  return Values{b.softmax(*x)};
}

Replaced simplify_op(Builder& b, const Op& op, const TensorType& type, const Values& operands) {
  switch (op.kind) {
    case OpKind::CrossEntropy:
      return narrow_loss(b, op, operands);
    case OpKind::Reshape:
      return simplify_reshape(b, type.shape, operands);
    case OpKind::Transpose:
      return simplify_transpose(b, op, operands);
    case OpKind::BroadcastInDim:
      return simplify_broadcast(b, op, type.shape, operands);
    case OpKind::DotGeneral:
      return merge_after_dot(b, op, type, operands);
    case OpKind::Convert:
      if (b.type_of(operands[0]) == type) return operands;
      if (auto softmax = narrow_softmax(b, type, operands)) return softmax;
      [[fallthrough]];
    case OpKind::Elementwise:
      if (auto merged = merge_after_elementwise(b, op, type, operands)) return merged;
      return broadcast_late(b, op, type, operands);
    default:
      return std::nullopt;
  }
}

/// The dims of x that stand for dims of its transpose, if the free ones keep their order.
std::optional<Ints> moved_dims(const Ints& permutation, const Ints& contract, const Ints& batch,
                               Ints& batch_out) {
  std::vector<bool> taken(permutation.size(), false);
  Ints contract_out;
  for (int64_t d : contract) {
    taken[static_cast<size_t>(d)] = true;
    contract_out.push_back(permutation[static_cast<size_t>(d)]);
  }
  for (int64_t d : batch) {
    taken[static_cast<size_t>(d)] = true;
    batch_out.push_back(permutation[static_cast<size_t>(d)]);
  }
  int64_t last = -1;
  for (size_t d = 0; d < permutation.size(); ++d) {
    if (taken[d]) continue;
    if (permutation[d] < last) return std::nullopt;
    last = permutation[d];
  }
  return contract_out;
}

/// Replaces operand `side` of the product by what it is the transpose of.
bool fold_operand(const Match& m, ValueId& operand, Ints& contract, Ints& batch) {
  const Op* transpose = m.maker(operand, OpKind::Transpose);
  if (transpose == nullptr) return false;
  Ints batch_out;
  const auto contract_out =
      moved_dims(transpose->attrs.get<Ints>(AttrKey::Permutation), contract, batch, batch_out);
  if (!contract_out) return false;
  operand = transpose->operands[0];
  contract = *contract_out;
  batch = batch_out;
  return true;
}

}  // namespace

ir::Graph simplify_moves(const ir::Graph& graph) {
  return ir::rewrite(graph,
                     [](Builder& b, const Op& op, const Values& operands,
                        const std::vector<TensorType>& types) -> Replaced {
                       if (operands.empty() || types.size() != 1) return std::nullopt;
                       return simplify_op(b, op, types[0], operands);
                     });
}

ir::Graph fold_transposes(const ir::Graph& graph) {
  return ir::rewrite(graph,
                     [](Builder& b, const Op& op, const Values& operands,
                        const std::vector<TensorType>& types) -> Replaced {
                       if (op.kind != OpKind::DotGeneral) return std::nullopt;
                       auto contract = op.attrs.get<ir::DimPairs>(AttrKey::Contract);
                       auto batch = op.attrs.get_or<ir::DimPairs>(AttrKey::Batch, {});
                       Values folded = operands;
                       const Match m(b.function());
                       const bool left = fold_operand(m, folded[0], contract.lhs, batch.lhs);
                       const bool right = fold_operand(m, folded[1], contract.rhs, batch.rhs);
                       if (!left && !right) return std::nullopt;
                       ir::Attributes attrs = op.attrs;
                       attrs.set(AttrKey::Contract, contract);
                       attrs.set(AttrKey::Batch, batch);
                       return b.emit(OpKind::DotGeneral, folded, attrs, types);
                     });
}

}  // namespace wafer::importers
