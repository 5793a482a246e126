#include "wafer/importers/mask_pattern.h"

#include <algorithm>
#include <cmath>

#include "wafer/importers/match.h"

namespace wafer::importers {
namespace {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

/// From low to high, both included; NaN where nothing is known.
struct Interval {
  double low = NAN;
  double high = NAN;
  bool known() const { return low <= high; }
};

/// Indices from `from` to below `to` in each dimension.
struct Range {
  int64_t from = 0;
  int64_t to = 1;
};
using Block = std::vector<Range>;

constexpr Interval Unknown;
constexpr int64_t LargestScan = int64_t{1} << 22;

Interval truth(bool never, bool always) { return {always ? 1.0 : 0.0, never ? 0.0 : 1.0}; }

Interval hull(std::initializer_list<double> values) {
  for (double v : values) {
    if (std::isnan(v)) return Unknown;
  }
  return {std::min(values), std::max(values)};
}

/// 0 times infinity is 0 here: the bound of a product of finite numbers.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Interval combine(ElementFn fn, const Interval& a, const Interval& b) {
  if (!a.known() || !b.known()) return Unknown;
  switch (fn) {
    case ElementFn::Add:
      return hull({a.low + b.low, a.high + b.high});
    case ElementFn::Subtract:
      return hull({a.low - b.high, a.high - b.low});
    case ElementFn::Multiply:
      return hull(
          {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
    case ElementFn::Maximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case ElementFn::Minimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case ElementFn::Less:
      return truth(a.low >= b.high, a.high < b.low);
    case ElementFn::LessEqual:
      return truth(a.low > b.high, a.high <= b.low);
    case ElementFn::Greater:
      return truth(a.high <= b.low, a.low > b.high);
    case ElementFn::GreaterEqual:
      return truth(a.high < b.low, a.low >= b.high);
    case ElementFn::Equal:
    case ElementFn::NotEqual: {
      const bool apart = a.high < b.low || b.high < a.low;
      const bool same = a.low == a.high && b.low == b.high && a.low == b.low;
      return fn == ElementFn::Equal ? truth(apart, same) : truth(same, apart);
    }
    case ElementFn::And:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case ElementFn::Or:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return Unknown;
  }
}

class Evaluator {
 public:
  explicit Evaluator(const ir::Function& f) : m_(f) {}

  Interval of(ValueId v, const Block& block) {
    if (--steps_left_ < 0) return Unknown;
    const Op* op = m_.maker(v);
    if (op == nullptr) return Unknown;
    switch (op->kind) {
      case OpKind::Constant:
        return of_literal(*op->attrs.get<ir::LiteralRef>(AttrKey::Value), block);
      case OpKind::Iota: {
        const Range& r = block[static_cast<size_t>(op->attrs.get<int64_t>(AttrKey::Dim))];
        return {static_cast<double>(r.from), static_cast<double>(r.to - 1)};
      }
      case OpKind::BroadcastInDim:
        return of_broadcast(*op, block);
      case OpKind::Reshape:
        return of_reshape(*op, block);
      case OpKind::Transpose:
        return of_transpose(*op, block);
      case OpKind::Slice:
        return of_slice(*op, block);
      case OpKind::Convert:
        return of_convert(*op, block);
      case OpKind::Elementwise:
        return of_elementwise(*op, block);
      default:
        return Unknown;
    }
  }
  bool exhausted() const { return steps_left_ < 0; }

 private:
  Interval of_literal(const ir::Literal& literal, const Block& block) {
    if (literal.elided) return Unknown;
    const bool real = is_float(literal.type.dtype);
    const auto at = [&](size_t i) {
      return real ? literal.floats[i] : static_cast<double>(literal.integers[i]);
    };
    if (literal.splat) return {at(0), at(0)};
    Ints index;
    int64_t count = 1;
    for (const Range& r : block) {
      index.push_back(r.from);
      count *= r.to - r.from;
    }
    if (count > LargestScan) return Unknown;
    steps_left_ -= count / 64;
    Interval result{HUGE_VAL, -HUGE_VAL};
    for (int64_t n = 0; n < count; ++n) {
      size_t flat = 0;
      for (size_t d = 0; d < block.size(); ++d) {
        flat = flat * static_cast<size_t>(literal.type.shape[d].value()) +
               static_cast<size_t>(index[d]);
      }
      if (std::isnan(at(flat))) return Unknown;
      result = {std::min(result.low, at(flat)), std::max(result.high, at(flat))};
      for (size_t d = block.size(); d-- > 0;) {
        if (++index[d] < block[d].to) break;
        index[d] = block[d].from;
      }
    }
    return result;
  }

  Interval of_broadcast(const Op& op, const Block& block) {
    const Ints& dims = op.attrs.get<Ints>(AttrKey::Dims);
    const Shape& from = m_.shape(op.operands[0]);
    Block inner;
    for (size_t d = 0; d < dims.size(); ++d) {
      inner.push_back(from[d] == Dim(1) ? Range{} : block[static_cast<size_t>(dims[d])]);
    }
    return of(op.operands[0], inner);
  }

  /// Only those that put in or take out dimensions of 1.
  Interval of_reshape(const Op& op, const Block& block) {
    const Shape& from = m_.shape(op.operands[0]);
    const Shape& to = m_.shape(op.results[0]);
    Block inner;
    size_t next = 0;
    for (const Dim& d : from) {
      if (d == Dim(1)) {
        inner.emplace_back();
        continue;
      }
      while (next < to.size() && to[next] == Dim(1)) ++next;
      if (next == to.size() || to[next] != d) return Unknown;
      inner.push_back(block[next++]);
    }
    return of(op.operands[0], inner);
  }

  Interval of_transpose(const Op& op, const Block& block) {
    const Ints& permutation = op.attrs.get<Ints>(AttrKey::Permutation);
    Block inner(block.size());
    for (size_t d = 0; d < block.size(); ++d) inner[static_cast<size_t>(permutation[d])] = block[d];
    return of(op.operands[0], inner);
  }

  Interval of_slice(const Op& op, const Block& block) {
    const Ints& starts = op.attrs.get<Ints>(AttrKey::Starts);
    const Ints& strides = op.attrs.get<Ints>(AttrKey::Strides);
    Block inner = block;
    for (size_t d = 0; d < block.size(); ++d) {
      if (strides[d] != 1) return Unknown;
      inner[d].from += starts[d];
      inner[d].to += starts[d];
    }
    return of(op.operands[0], inner);
  }

  Interval of_convert(const Op& op, const Block& block) {
    const Interval x = of(op.operands[0], block);
    const DType to = m_.type(op.results[0]).dtype;
    if (!x.known()) return Unknown;
    if (to == DType::Bool) return combine(ElementFn::NotEqual, x, {0, 0});
    return {round_to(to, x.low), round_to(to, x.high)};
  }

  Interval of_elementwise(const Op& op, const Block& block) {
    const auto fn = op.attrs.get<ElementFn>(AttrKey::Fn);
    const Interval a = of(op.operands[0], block);
    if (fn == ElementFn::Select) {
      if (!a.known()) return Unknown;
      if (a.low == 1) return of(op.operands[1], block);
      if (a.high == 0) return of(op.operands[2], block);
      const Interval b = of(op.operands[1], block);
      const Interval c = of(op.operands[2], block);
      return hull({b.low, b.high, c.low, c.high});
    }
    if (op.operands.size() == 2) return combine(fn, a, of(op.operands[1], block));
    if (!a.known()) return Unknown;
    if (fn == ElementFn::Negate) return {-a.high, -a.low};
    if (fn == ElementFn::Not && m_.type(op.results[0]).dtype == DType::Bool) {
      return {1 - a.high, 1 - a.low};
    }
    return Unknown;
  }

  Match m_;
  int64_t steps_left_ = 4000000;
};

class CausalCheck {
 public:
  CausalCheck(const ir::Function& f, ValueId v) : values_(f), v_(v), type_(f.type_of(v)) {}

  bool holds() {
    const size_t rank = type_.shape.size();
    if (rank < 2) return false;
    for (size_t d = rank - 2; d < rank; ++d) {
      if (!type_.shape[d].is_static() || type_.shape[d].factor() < 1) return false;
    }
    rows_ = type_.shape[rank - 2].factor();
    columns_ = type_.shape[rank - 1].factor();
    offset_ = columns_ - rows_;
    if (rows_ < 2 || offset_ < 0) return false;  // one row hides nothing
    for (size_t d = 0; d + 2 < rank; ++d) {
      const Dim& size = type_.shape[d];
      outer_.push_back({0, size.is_static() ? size.factor() : int64_t{1} << 40});
    }
    return holds({0, rows_}, {0, columns_});
  }

 private:
  bool holds(const Range& rows, const Range& columns) {
    if (values_.exhausted()) return false;
    const bool seen = columns.to - 1 <= rows.from + offset_;
    const bool hidden = columns.from > rows.to - 1 + offset_;
    if (seen || hidden) {
      Block block = outer_;
      block.push_back(rows);
      block.push_back(columns);
      const Interval x = values_.of(v_, block);
      if (x.known() && (seen ? all_seen(x) : all_hidden(x))) return true;
      if (x.known() && (seen ? all_hidden(x) : all_seen(x))) return false;
    }
    const bool one_row = rows.to - rows.from == 1;
    const bool one_column = columns.to - columns.from == 1;
    if (one_row && one_column) return false;
    const Range top{rows.from, one_row ? rows.to : (rows.from + rows.to) / 2};
    const Range left{columns.from, one_column ? columns.to : (columns.from + columns.to) / 2};
    const Range bottom{top.to, rows.to};
    const Range right{left.to, columns.to};
    if (!holds(top, left)) return false;
    if (!one_column && !holds(top, right)) return false;
    if (!one_row && !holds(bottom, left)) return false;
    return one_row || one_column || holds(bottom, right);
  }

  bool all_seen(const Interval& x) const {
    return type_.dtype == DType::Bool ? x.low == 1 : x.low == 0 && x.high == 0;
  }
  bool all_hidden(const Interval& x) const {
    return type_.dtype == DType::Bool ? x.high == 0 : x.high <= LargestHidden;
  }

  Evaluator values_;
  ValueId v_;
  const TensorType& type_;
  Block outer_;
  int64_t rows_ = 0, columns_ = 0, offset_ = 0;
};

}  // namespace

bool is_causal_mask(const ir::Function& function, ValueId v) {
  return CausalCheck(function, v).holds();
}

}  // namespace wafer::importers
