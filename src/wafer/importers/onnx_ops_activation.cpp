// Activations: formulas of the ONNX operator specification over element-wise functions.
#include <array>
#include <cmath>
#include <limits>

#include "wafer/importers/onnx_formulas.h"
#include "wafer/importers/onnx_ops.h"

namespace wafer::importers {

using ir::ElementFn;

Term relu(Folder& f, const Term& x) { return f.maximum(x, f.scalar(0, x.dtype())); }

Term swish(Folder& f, const Term& x, double alpha) {
  const Term inner = alpha == 1 ? x : f.multiply(x, alpha);
  return f.multiply(x, f.unary(ElementFn::Logistic, inner));
}

Term gelu(Folder& f, const Term& x, bool tanh_approximation) {
  return f.term(f.builder().gelu(f.id(x), tanh_approximation));
}

namespace {

/// max(0, x) + log1p(exp(-|x|)): log(1 + exp(x)) that does not overflow.
Term softplus_of(Folder& f, const Term& x) {
  const Term small =
      f.unary(ElementFn::Exp, f.unary(ElementFn::Negate, f.unary(ElementFn::Abs, x)));
  return f.add(relu(f, x), f.unary(ElementFn::Log1p, small));
}

/// x above 0, else alpha (exp(x / scale) - 1); the exponent is cut so that it cannot overflow.
Term exponential_below(Folder& f, const Term& x, double alpha, double scale) {
  const Term zero = f.scalar(0, x.dtype());
  const Term negative = f.minimum(x, zero);
  const Term scaled = scale == 1 ? negative : f.multiply(negative, 1 / scale);
  const Term below = f.multiply(f.unary(ElementFn::Expm1, scaled), alpha);
  return f.select(f.binary(ElementFn::Greater, x, zero), x, below);
}

Terms relu_op(OnnxCall& c) { return {relu(c.fold, c.in(0))}; }
Terms swish_op(OnnxCall& c) { return {swish(c.fold, c.in(0), c.real("alpha", 1))}; }
Terms swiglu(OnnxCall& c) {
  return {c.fold.multiply(swish(c.fold, c.in(0), c.real("alpha", 1)), c.in(1))};
}
Terms softplus(OnnxCall& c) { return {softplus_of(c.fold, c.in(0))}; }

Terms gelu_op(OnnxCall& c) {
  const std::string approximate = c.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") c.refuse("approximate = " + approximate);
  return {gelu(c.fold, c.in(0), approximate == "tanh")};
}

Terms leaky(OnnxCall& c, const Term& slope) {
  const Term& x = c.in(0);
  const Term positive = c.fold.binary(ElementFn::GreaterEqual, x, c.fold.scalar(0, x.dtype()));
  return {c.fold.select(positive, x, c.fold.multiply(x, slope))};
}
Terms leaky_relu(OnnxCall& c) {
  return leaky(c, c.fold.scalar(c.real("alpha", 0.01), c.in(0).dtype()));
}
Terms prelu(OnnxCall& c) { return leaky(c, c.weight(1)); }

Terms elu(OnnxCall& c) { return {exponential_below(c.fold, c.in(0), c.real("alpha", 1), 1)}; }
Terms celu(OnnxCall& c) {
  const double alpha = c.real("alpha", 1);
  return {exponential_below(c.fold, c.in(0), alpha, alpha)};
}
Terms selu(OnnxCall& c) {
  const double alpha = c.real("alpha", 1.67326319217681884765625);
  const double gamma = c.real("gamma", 1.05070102214813232421875);
  return {c.fold.multiply(exponential_below(c.fold, c.in(0), alpha, 1), gamma)};
}

/// max(0, min(1, alpha x + beta))
Term hard_sigmoid_of(Folder& f, const Term& x, double alpha, double beta) {
  const Term line = f.add(f.multiply(x, alpha), beta);
  return relu(f, f.minimum(line, f.scalar(1, x.dtype())));
}
Terms hard_sigmoid(OnnxCall& c) {
  return {hard_sigmoid_of(c.fold, c.in(0), c.real("alpha", 0.2), c.real("beta", 0.5))};
}
Terms hard_swish(OnnxCall& c) {
  return {c.fold.multiply(c.in(0), hard_sigmoid_of(c.fold, c.in(0), 1.0 / 6, 0.5))};
}

Terms mish(OnnxCall& c) {
  const Term gate = c.fold.unary(ElementFn::Tanh, softplus_of(c.fold, c.in(0)));
  return {c.fold.multiply(c.in(0), gate)};
}

Terms softsign(OnnxCall& c) {
  const Term& x = c.in(0);
  return {c.fold.divide(x, c.fold.add(c.fold.unary(ElementFn::Abs, x), 1))};
}

Terms thresholded_relu(OnnxCall& c) {
  const Term& x = c.in(0);
  const Term above =
      c.fold.binary(ElementFn::Greater, x, c.fold.scalar(c.real("alpha", 1), x.dtype()));
  return {c.fold.select(above, x, c.fold.scalar(0, x.dtype()))};
}

/// Towards 0 by bias, and 0 within lambd of it.
Terms shrink(OnnxCall& c) {
  const Term& x = c.in(0);
  const double lambd = c.real("lambd", 0.5);
  const double bias = c.real("bias", 0);
  const Term zero = c.fold.scalar(0, x.dtype());
  const Term below = c.fold.binary(ElementFn::Less, x, c.fold.scalar(-lambd, x.dtype()));
  const Term above = c.fold.binary(ElementFn::Greater, x, c.fold.scalar(lambd, x.dtype()));
  const Term upper = c.fold.select(above, c.fold.add(x, -bias), zero);
  return {c.fold.select(below, c.fold.add(x, bias), upper)};
}

/// Bounds are attributes before opset 11, inputs that may be absent from it on.
Terms clip(OnnxCall& c) {
  Term x = c.in(0);
  if (c.opset < 11) {
    constexpr double Largest = std::numeric_limits<float>::max();
    const double low = c.real("min", -Largest);
    const double high = c.real("max", Largest);
    if (low > -Largest) x = c.fold.maximum(x, c.fold.scalar(low, x.dtype()));
    return {high < Largest ? c.fold.minimum(x, c.fold.scalar(high, x.dtype())) : x};
  }
  if (c.has(1)) x = c.fold.maximum(x, c.in(1));
  return {c.has(2) ? c.fold.minimum(x, c.in(2)) : x};
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"Celu", celu},
    {"Clip", clip},
    {"Elu", elu},
    {"Gelu", gelu_op},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", hard_swish},
    {"LeakyRelu", leaky_relu},
    {"Mish", mish},
    {"PRelu", prelu},
    {"Relu", relu_op},
    {"Selu", selu},
    {"Shrink", shrink},
    {"Softplus", softplus},
    {"Softsign", softsign},
    {"SwiGLU", swiglu},
    {"Swish", swish_op},
    {"ThresholdedRelu", thresholded_relu},
});

}  // namespace

std::span<const OnnxOp> onnx_activation_ops() { return Ops; }

}  // namespace wafer::importers
