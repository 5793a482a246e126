#pragma once

#include <span>
#include <string>
#include <vector>

#include "wafer/ir/graph.h"

namespace wafer::ir {

/// The type of an attribute's value, in the order of AttrValue's alternatives.
enum class AttrType : uint8_t {
  Bool,
  Int,
  Float,
  String,
  IntList,
  IntPairs,
  Fn,
  Function,
  FunctionList,
  Literal
};
/// Each name has one type, whatever op carries it.
AttrType type_of(AttrKey key);
/// "integer", "list of integers", ...
std::string_view name_of(AttrType type);
AttrType type_of(const AttrValue& value);

/// A set of attribute names.
class AttrSet {
 public:
  constexpr AttrSet() = default;
  constexpr AttrSet(std::initializer_list<AttrKey> keys) {
    for (AttrKey key : keys) bits_ |= bit(key);
  }
  constexpr bool has(AttrKey key) const { return (bits_ & bit(key)) != 0; }
  constexpr void add(AttrKey key) { bits_ |= bit(key); }
  constexpr bool contains(AttrSet other) const { return (other.bits_ & ~bits_) == 0; }
  friend constexpr AttrSet operator|(AttrSet a, AttrSet b) {
    a.bits_ |= b.bits_;
    return a;
  }
  /// In the order of AttrKey.
  std::vector<AttrKey> keys() const;

 private:
  static constexpr uint64_t bit(AttrKey key) { return uint64_t{1} << static_cast<int>(key); }
  uint64_t bits_ = 0;
};
static_assert(AttrKeyCount <= 64);

/// What ops of a kind look like: how many operands, which attributes.
struct OpRow {
  static constexpr int Any = -1;
  OpKind kind;
  int min_operands;
  int max_operands;  ///< Any: no upper bound
  AttrSet required;
  AttrSet optional;
};
const OpRow& row_of(OpKind kind);

/// Whether reductions of all sorts take it: associative, with a neutral element.
bool is_reduction(ElementFn fn);

/// Breaches of the rules OP1 to OP6 of docs/spec/ops.md, which hold for every kind.
std::vector<std::string> row_problems(const Graph& graph, OpKind kind, size_t operands,
                                      const Attributes& attrs);

}  // namespace wafer::ir
