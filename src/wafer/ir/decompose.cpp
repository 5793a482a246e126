#include "wafer/ir/decompose.h"

#include "wafer/base/error.h"
#include "wafer/ir/composites.h"
#include "wafer/ir/rewrite.h"

namespace wafer::ir {

bool is_composite(OpKind kind) {
  return kind >= OpKind::LayerNorm && kind <= OpKind::CrossEntropyGrad;
}

std::vector<ValueId> decompose(Builder& b, OpKind kind, const std::vector<ValueId>& operands,
                               const Attributes& attrs) {
  switch (kind) {
    case OpKind::LayerNorm:
      return {layer_norm_of(b, operands, attrs)};
    case OpKind::LayerNormGrad:
      return layer_norm_grad_of(b, operands, attrs);
    case OpKind::RmsNorm:
      return {rms_norm_of(b, operands, attrs)};
    case OpKind::RmsNormGrad:
      return rms_norm_grad_of(b, operands, attrs);
    case OpKind::BatchNorm:
      return batch_norm_of(b, operands, attrs);
    case OpKind::BatchNormGrad:
      return batch_norm_grad_of(b, operands, attrs);
    case OpKind::Softmax:
      return {softmax_of(b, operands)};
    case OpKind::SoftmaxGrad:
      return {softmax_grad_of(b, operands)};
    case OpKind::Gelu:
      return {gelu_of(b, operands, attrs)};
    case OpKind::GeluGrad:
      return {gelu_grad_of(b, operands, attrs)};
    case OpKind::Attention:
      return {attention_of(b, operands, attrs)};
    case OpKind::AttentionGrad:
      return attention_grad_of(b, operands, attrs);
    case OpKind::CrossEntropy:
      return {cross_entropy_of(b, operands, attrs)};
    case OpKind::CrossEntropyGrad:
      return {cross_entropy_grad_of(b, operands, attrs)};
    default:
      throw InternalError("no composite: " + std::string(name_of(kind)));
  }
}

Graph decompose_all(const Graph& graph) {
  return rewrite(graph,
                 [](Builder& b, const Op& op, const std::vector<ValueId>& operands,
                    const std::vector<TensorType>&) -> std::optional<std::vector<ValueId>> {
                   if (!is_composite(op.kind)) return std::nullopt;
                   return decompose(b, op.kind, operands, op.attrs);
                 });
}

}  // namespace wafer::ir
