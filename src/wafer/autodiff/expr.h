#pragma once

#include <functional>
#include <memory>

#include "wafer/ir/builder.h"

namespace wafer::autodiff {

/// A value that rules compute with. Its ops are appended to the builder's function when it is first
/// used as a value, operands from left to right: so their order does not depend on the order in
/// which a compiler evaluates arguments.
class Expr {
 public:
  Expr(ir::Builder& b, ir::ValueId made) : node_(new Node{b, {}, made}) {}
  Expr(ir::Builder& b, std::function<ir::ValueId()> make)
      : node_(new Node{b, std::move(make), {}}) {}

  operator ir::ValueId() const {  // NOLINT: an expression is its value
    if (!node_->made.valid()) node_->made = node_->make();
    return node_->made;
  }
  ir::Builder& builder() const { return node_->b; }

 private:
  struct Node {
    ir::Builder& b;
    std::function<ir::ValueId()> make;
    ir::ValueId made;
  };
  std::shared_ptr<Node> node_;  // shared by the expressions that use it
};

inline Expr apply(ir::ElementFn fn, const Expr& a) {
  return {a.builder(), [=] { return a.builder().unary(fn, a); }};
}
inline Expr apply(ir::ElementFn fn, const Expr& a, const Expr& c) {
  return {a.builder(), [=] {
            const ir::ValueId left = a;
            return a.builder().binary(fn, left, c);
          }};
}

inline Expr operator+(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Add, a, c); }
inline Expr operator-(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Subtract, a, c); }
inline Expr operator*(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Multiply, a, c); }
inline Expr operator/(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Divide, a, c); }
inline Expr operator-(const Expr& a) { return apply(ir::ElementFn::Negate, a); }

/// A scalar of the element type of a.
inline Expr scalar_like(const Expr& a, double k) {
  return {a.builder(), [=] { return a.builder().scalar(k, a.builder().type_of(a).dtype); }};
}
inline Expr operator*(double k, const Expr& a) { return a * scalar_like(a, k); }
inline Expr operator+(const Expr& a, double k) { return a + scalar_like(a, k); }
inline Expr operator-(double k, const Expr& a) { return -a + scalar_like(a, k); }

inline Expr sin(const Expr& a) { return apply(ir::ElementFn::Sin, a); }
inline Expr cos(const Expr& a) { return apply(ir::ElementFn::Cos, a); }
inline Expr exp(const Expr& a) { return apply(ir::ElementFn::Exp, a); }
inline Expr log(const Expr& a) { return apply(ir::ElementFn::Log, a); }
inline Expr sqrt(const Expr& a) { return apply(ir::ElementFn::Sqrt, a); }
inline Expr sign(const Expr& a) { return apply(ir::ElementFn::Sign, a); }
inline Expr round(const Expr& a) { return apply(ir::ElementFn::Round, a); }
inline Expr square(const Expr& a) { return a * a; }
inline Expr pow(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Power, a, c); }
inline Expr max(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Maximum, a, c); }
inline Expr min(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Minimum, a, c); }

/// bool, element by element.
inline Expr operator<(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Less, a, c); }
inline Expr operator<=(const Expr& a, const Expr& c) {
  return apply(ir::ElementFn::LessEqual, a, c);
}
inline Expr equal(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Equal, a, c); }
inline Expr operator&(const Expr& a, const Expr& c) { return apply(ir::ElementFn::And, a, c); }
inline Expr operator|(const Expr& a, const Expr& c) { return apply(ir::ElementFn::Or, a, c); }
inline Expr operator!(const Expr& a) { return apply(ir::ElementFn::Not, a); }

inline Expr where(const Expr& predicate, const Expr& on_true, const Expr& on_false) {
  return {predicate.builder(), [=] {
            const ir::ValueId p = predicate;
            const ir::ValueId t = on_true;
            return predicate.builder().select(p, t, on_false);
          }};
}
/// a where the predicate holds, else 0.
inline Expr only_where(const Expr& predicate, const Expr& a) {
  return where(predicate, a, scalar_like(a, 0));
}

inline Expr convert(const Expr& a, DType dtype) {
  return {a.builder(), [=] { return a.builder().convert(a, dtype); }};
}

}  // namespace wafer::autodiff
