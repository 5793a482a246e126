#pragma once

#include <string>

#include "wafer/autodiff/expr.h"

namespace wafer::autodiff {

class Backward;

/// One op in the backward pass: what its rule reads, and where it puts the gradients of the
/// operands. Ops are appended to the function of `b`, which stands for it in phase, layer, scope
/// and location.
class OpGradient {
 public:
  OpGradient(Backward& backward, const ir::Op& op);

  ir::Builder& b;
  const ir::Op& op;

  /// Whether a gradient of operand i is asked for.
  bool wants(size_t i) const;
  /// Operand i and result i of the op. The value is kept (or made again) for the backward pass.
  Expr x(size_t i);
  Expr y(size_t i = 0);
  /// Their types; keeps nothing. By value: what is emitted may move the function's own.
  TensorType x_type(size_t i) const;
  TensorType y_type(size_t i = 0) const;
  bool has_dy(size_t i) const;
  /// Cotangent of result i; zeros where nothing depends on it.
  Expr dy(size_t i = 0);

  /// Adds to the cotangent of operand i; of its type. Does nothing where it is not wanted.
  void give(size_t i, ir::ValueId gradient);
  /// Adds `gradient` to the part of the cotangent of operand i that begins at `starts`.
  void give_part(size_t i, ir::ValueId gradient, const ir::Ints& starts);
  /// There is no gradient of operand i (told with all others of the graph).
  void refuse(const std::string& why);

  /// b's constants and ops as expressions.
  Expr expr(ir::ValueId v) { return {b, v}; }
  Expr zeros(TensorType type) {
    return {b, [this, type = std::move(type)] { return b.constant(0, type); }};
  }
  const ir::Attributes& attrs() const { return op.attrs; }
  const ir::Ints& ints(ir::AttrKey key) const { return op.attrs.get<ir::Ints>(key); }

 private:
  Backward& backward_;
};

}  // namespace wafer::autodiff
