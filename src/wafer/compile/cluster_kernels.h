#pragma once

#include <vector>

#include "wafer/compile/cluster_plan.h"

namespace wafer::compile {

/// A GPU's share of the steps of a layer, as kernels. Rules K1-K7 of docs/spec/cluster-cost.md.
class GpuKernels {
 public:
  /// `tokens`: of each sample that the kernels see; the profile's own, or 1 in decode.
  GpuKernels(const ClusterCase& c, int64_t tokens);

  plan::Kernel forward(const Step& step, const LayerProfile& layer) const;
  /// Of a product: the gradient of its operand, then of its matrix; of others one kernel.
  std::vector<plan::Kernel> backward(const Step& step, const LayerProfile& layer) const;

  /// What ranks exchange in a product: the operand, or the result.
  Bytes operand(const ProductStep& p) const;
  Bytes result(const ProductStep& p) const;
  Bytes passed_on(const LayerProfile& layer) const;
  /// Kept from forward to backward by one layer, under a policy of recompute.
  Bytes kept(const LayerProfile& layer, plan::Recompute recompute) const;
  /// Of the logits, and their f32 copy.
  Bytes workspace(const LayerProfile& layer) const;

 private:
  plan::Kernel forward(const ProductStep& p) const;
  plan::Kernel forward(const AttentionStep& a) const;
  plan::Kernel forward(const PassStep& p, bool repeated) const;
  std::vector<plan::Kernel> backward(const ProductStep& p) const;
  plan::Kernel backward(const AttentionStep& a) const;
  plan::Kernel backward(const PassStep& p, bool repeated) const;
  plan::Product shape(const ProductStep& p) const;
  plan::Product scores(const AttentionStep& a) const;
  bool drops_out(const PassStep& p, bool repeated) const;
  /// Of a tensor of which each rank has its part, or (but for sequence parallelism) the whole.
  double ranks(bool shared) const { return shared || c_.choice.parallel.sequence ? tensor_ : 1; }

  const ClusterCase& c_;
  const double tensor_;
  const double samples_;   ///< of the micro-batch in units of the profile, times tokens a sample
  const double requests_;  ///< the same without tokens
  const double element_;   ///< bytes
  const bool decode_;
};

}  // namespace wafer::compile
