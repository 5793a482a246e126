#include "wafer/autodiff/op_gradient.h"

#include "wafer/autodiff/backward.h"
#include "wafer/autodiff/differentiator.h"
#include "wafer/base/error.h"

namespace wafer::autodiff {

OpGradient::OpGradient(Backward& backward, const ir::Op& visited)
    : b(backward.builder()), op(visited), backward_(backward) {}

bool OpGradient::wants(size_t i) const { return backward_.varies(op.operands[i]); }

Expr OpGradient::x(size_t i) {
  return {b, [this, i] { return backward_.available(op.operands[i]); }};
}

Expr OpGradient::y(size_t i) {
  return {b, [this, i] { return backward_.available(op.results[i]); }};
}

TensorType OpGradient::x_type(size_t i) const { return backward_.primal().type_of(op.operands[i]); }

TensorType OpGradient::y_type(size_t i) const { return backward_.primal().type_of(op.results[i]); }

bool OpGradient::has_dy(size_t i) const {
  return !backward_.contributions_[op.results[i].index].empty();
}

Expr OpGradient::dy(size_t i) {
  if (!has_dy(i)) return zeros(y_type(i));
  return {b, [this, i] { return backward_.cotangent(op.results[i]); }};
}

void OpGradient::give(size_t i, ir::ValueId gradient) {
  if (!wants(i)) return;
  WAFER_CHECK(b.type_of(gradient) == x_type(i),
              std::string(ir::name_of(op.kind)) + ": gradient " + b.type_of(gradient).text());
  backward_.add(op.operands[i], {.value = gradient, .starts = {}});
}

void OpGradient::give_part(size_t i, ir::ValueId gradient, const ir::Ints& starts) {
  if (wants(i)) backward_.add(op.operands[i], {.value = gradient, .starts = starts});
}

void OpGradient::refuse(const std::string& why) {
  backward_.graph_.refuse(op, backward_.primal().name, why);
}

}  // namespace wafer::autodiff
