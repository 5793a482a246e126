#include "wafer/compile/cluster_kernels.h"

#include <algorithm>

#include "wafer/base/error.h"

namespace wafer::compile {
namespace {

using plan::Kernel;
using plan::Product;

/// Passes over the scores of an attention that keeps them, in tensors of their size: scale and
/// mask, softmax, dropout and its mask. **Source:** counted from Megatron-LM's fused kernels.
constexpr double ScorePasses = 4.5, ScoreGradientPasses = 5.5;
/// Kept of the scores: softmax, dropout's result, its mask of a byte (of 16 bit: half).
constexpr double KeptScores = 2.5;
/// A mask of dropout, of a byte an element.
constexpr double DropoutMask = 0.5;
/// FLOPs of the gradient of a fused attention to its own: five products instead of two.
/// **Source:** Dao, FlashAttention-2 (arXiv:2307.08691), section 4.
constexpr double FusedGradient = 2.5;
/// The loss reads and writes logits in f32 beside their own type: 12 bytes more an element.
constexpr double LossBytes = 12;

Kernel kernel(const std::string& name, const char* implementation, ir::Phase phase) {
  return {.name = name,
          .implementation = implementation,
          .phase = phase,
          .function = {},
          .work = {},
          .products = {},
          .launches = 0};
}

Kernel pass(const std::string& name, ir::Phase phase, double bytes, double launches) {
  Kernel k = kernel(name, "pass", phase);
  k.work.read = Bytes(bytes);
  k.launches = launches;
  return k;
}

}  // namespace

GpuKernels::GpuKernels(const ClusterCase& c, int64_t tokens)
    : c_(c),
      tensor_(static_cast<double>(c.choice.parallel.tensor)),
      samples_(static_cast<double>(c.choice.micro_batch * tokens) /
               static_cast<double>(c.profile.unit * c.profile.tokens)),
      requests_(static_cast<double>(c.choice.micro_batch) / static_cast<double>(c.profile.unit)),
      element_(size_in_bytes(c.precision)),
      decode_(tokens != c.profile.tokens) {}

plan::Kernel GpuKernels::forward(const Step& step, const LayerProfile& layer) const {
  if (const auto* p = std::get_if<ProductStep>(&step)) return forward(*p);
  if (const auto* a = std::get_if<AttentionStep>(&step)) return forward(*a);
  return forward(std::get<PassStep>(step), layer.repeated);
}

std::vector<Kernel> GpuKernels::backward(const Step& step, const LayerProfile& layer) const {
  if (const auto* p = std::get_if<ProductStep>(&step)) return backward(*p);
  if (const auto* a = std::get_if<AttentionStep>(&step)) return {backward(*a)};
  return {backward(std::get<PassStep>(step), layer.repeated)};
}

/// K1. A rank's share of a product; columns are dealt in whole heads.
Product GpuKernels::shape(const ProductStep& p) const {
  Product s = p.shape;
  if (!p.weight) {
    (s.batch > 1 ? s.batch : s.m) *= samples_ / (p.shared ? tensor_ : 1);
    return s;
  }
  s.m *= samples_;
  if (p.split == Split::Rows) s.k /= tensor_;
  if (p.split != Split::Columns) return s;
  s.n = 0;
  for (size_t i = 0; i < p.columns.size(); ++i) {
    s.n += std::max(p.columns[i] / tensor_, std::min(p.columns[i], p.grains[i]));
  }
  return s;
}

Kernel GpuKernels::forward(const ProductStep& p) const {
  Kernel k = kernel(p.name, "gemm", ir::Phase::Forward);
  k.products = {shape(p)};
  return k;
}

/// K2. Two gradients; where a bias was added, its gradient is a pass over the result's.
std::vector<Kernel> GpuKernels::backward(const ProductStep& p) const {
  const Product s = shape(p);
  Kernel operand = kernel(p.name + "/operand_gradient", "gemm", ir::Phase::Backward);
  operand.products = {{.m = s.m, .n = s.k, .k = s.n, .batch = s.batch}};
  Kernel matrix = kernel(p.name + "/weight_gradient", "gemm", ir::Phase::Backward);
  matrix.products = {{.m = s.n, .n = s.k, .k = s.m, .batch = s.batch}};
  std::vector<Kernel> kernels = {std::move(operand), std::move(matrix)};
  if (p.bias && !c_.choice.parallel.fused) {
    const double elements = s.batch * s.m * s.n;
    const double share = p.split == Split::Columns ? 1 : ranks(false);
    kernels.push_back(
        pass(p.name + "/bias_gradient", ir::Phase::Backward, elements / share * element_, 1));
  }
  return kernels;
}

Product GpuKernels::scores(const AttentionStep& a) const {
  const double heads = a.batch_heads * requests_ / (a.shared ? tensor_ : 1);
  return {.m = a.queries, .n = a.keys, .k = a.depth, .batch = heads};
}

/// K3. Attention: fused, with the half of causal scores that counts; or products and passes over
/// all scores; or, for one token, a pass over the keys and values of the context.
Kernel GpuKernels::forward(const AttentionStep& a) const {
  const Product s = scores(a);
  if (decode_) {
    const double kv = std::max(a.batch_kv_heads / (a.shared ? tensor_ : 1), 1.0) * requests_;
    return pass(a.name, ir::Phase::Forward, kv * a.keys * (a.depth + a.value_depth) * element_, 1);
  }
  Kernel k = kernel(a.name, "attention", ir::Phase::Forward);
  const double share = (a.shared ? 1 / tensor_ : 1) * requests_ * (a.causal ? 0.5 : 1);
  if (c_.choice.parallel.fused) {
    k.implementation = "fused_attention";
    k.work.local_product = a.flops() * share;
    k.launches = 1;
    return k;
  }
  k.work.local_product = a.flops() * (share * (a.causal ? 2 : 1));
  k.products = {s, {.m = s.m, .n = a.value_depth, .k = s.n, .batch = s.batch}};
  k.work.read = Bytes(ScorePasses * s.batch * s.m * s.n * element_);
  k.launches = 2;
  return k;
}

/// K4. Its gradient: 2.5 times the FLOPs, or four products and passes over all scores.
Kernel GpuKernels::backward(const AttentionStep& a) const {
  Kernel k = forward(a);
  k.name += "/gradient";
  k.phase = ir::Phase::Backward;
  k.work.local_product = k.work.local_product * (c_.choice.parallel.fused ? FusedGradient : 2);
  k.launches = 2;
  if (c_.choice.parallel.fused) return k;
  const Product s = scores(a);
  k.products.insert(k.products.end(), k.products.begin(), k.products.end());
  k.work.read = Bytes(ScoreGradientPasses * s.batch * s.m * s.n * element_);
  return k;
}

/// A residual in training by software that has dropout.
bool GpuKernels::drops_out(const PassStep& p, bool repeated) const {
  return repeated && !c_.choice.parallel.fused && p.kind == PassStep::Kind::Linear &&
         p.operands > 1;
}

/// K5. A pass reads its operands and writes its result.
Kernel GpuKernels::forward(const PassStep& p, bool repeated) const {
  const double scale = samples_ / ranks(p.shared);
  if (p.kind == PassStep::Kind::Loss) {
    return pass(p.name, ir::Phase::Forward, p.elements * scale * (element_ + LossBytes), 3);
  }
  double tensors = p.read + p.elements;
  if (drops_out(p, repeated)) tensors += DropoutMask * p.elements;
  return pass(p.name, ir::Phase::Forward, tensors * scale * element_, 1);
}

/// K6. Its gradient, in tensors of its result: a sum 2, with dropout 2.5; other functions read the
/// operands again; a norm 4, and 6 where its parameters' gradients are a pass of their own.
Kernel GpuKernels::backward(const PassStep& p, bool repeated) const {
  const bool fused = c_.choice.parallel.fused;
  const double scale = samples_ / ranks(p.shared);
  double tensors = 2 * p.elements;
  double launches = 1;
  switch (p.kind) {
    case PassStep::Kind::Loss:
      return pass(p.name + "/gradient", ir::Phase::Backward,
                  p.elements * scale * (element_ + LossBytes), 3);
    case PassStep::Kind::Nonlinear:
      tensors = p.elements + 2 * p.read;
      break;
    case PassStep::Kind::Norm:
      tensors = (fused ? 4 : 6) * p.elements;
      launches = fused ? 1 : 2;
      break;
    case PassStep::Kind::Softmax:
      tensors = 3 * p.elements;
      break;
    case PassStep::Kind::Linear:
      if (drops_out(p, repeated)) tensors += DropoutMask * p.elements;
      break;
    case PassStep::Kind::Lookup:
      break;
  }
  return pass(p.name + "/gradient", ir::Phase::Backward, tensors * scale * element_, launches);
}

Bytes GpuKernels::operand(const ProductStep& p) const {
  return Bytes(p.shape.batch * p.shape.m * p.shape.k * samples_ * element_);
}

Bytes GpuKernels::result(const ProductStep& p) const {
  return Bytes(p.shape.batch * p.shape.m * p.shape.n * samples_ * element_);
}

Bytes GpuKernels::passed_on(const LayerProfile& layer) const {
  return Bytes(layer.passed_on * samples_ * element_);
}

/// K7. All operands that gradients read; without the scores; or only the layer's input.
Bytes GpuKernels::kept(const LayerProfile& layer, plan::Recompute recompute) const {
  if (recompute == plan::Recompute::Full) return passed_on(layer) / ranks(false);
  double elements = layer.kept.whole / ranks(false) + layer.kept.shared / tensor_;
  for (const Step& step : layer.steps) {
    if (const auto* p = std::get_if<PassStep>(&step)) {
      if (drops_out(*p, layer.repeated)) elements += DropoutMask * p->elements / ranks(p->shared);
    }
    const auto* a = std::get_if<AttentionStep>(&step);
    const bool scored = a != nullptr && !c_.choice.parallel.fused;
    if (scored && recompute == plan::Recompute::None) {
      elements += KeptScores * a->scores() / (a->shared ? tensor_ : 1);
    }
  }
  return Bytes(elements * samples_ * element_);
}

Bytes GpuKernels::workspace(const LayerProfile& layer) const {
  Bytes bytes;
  for (const Step& step : layer.steps) {
    const auto* p = std::get_if<PassStep>(&step);
    if (p == nullptr || p->kind != PassStep::Kind::Loss) continue;
    bytes += Bytes(p->elements * samples_ / ranks(p->shared) * (element_ + 8));
  }
  return bytes;
}

}  // namespace wafer::compile
