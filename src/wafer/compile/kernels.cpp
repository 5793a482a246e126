#include "wafer/compile/kernels.h"

#include <algorithm>

#include "wafer/ir/cost.h"

namespace wafer::compile {
namespace {

using ir::Op;
using ir::OpKind;

bool is_light(OpKind kind) {
  switch (kind) {
    case OpKind::Constant:
    case OpKind::Iota:
    case OpKind::Rng:
    case OpKind::Elementwise:
    case OpKind::Convert:
    case OpKind::BroadcastInDim:
    case OpKind::Reshape:
    case OpKind::Transpose:
    case OpKind::Slice:
    case OpKind::Concatenate:
    case OpKind::Pad:
    case OpKind::Reverse:
      return true;
    default:
      return false;
  }
}

bool is_product(OpKind kind) { return kind == OpKind::DotGeneral || kind == OpKind::Convolution; }

std::string implementation_of(const Op& op, const plan::Work& work) {
  if (is_product(op.kind))
    return work.weight_product.value > 0 ? "weight_stream_gemm" : "local_gemm";
  if (is_light(op.kind)) return "elementwise";
  return std::string(ir::name_of(op.kind));
}

/// Elements that a softmax over keys goes over: B x H x S x T of an attention.
double scores_of(const ir::Function& f, const Op& op) {
  switch (op.kind) {
    case OpKind::Softmax:
    case OpKind::SoftmaxGrad:
      return static_cast<double>(f.type_of(op.operands[0]).elements());
    case OpKind::Attention:
    case OpKind::AttentionGrad: {
      const Shape& q = f.type_of(op.operands[0]).shape;
      const Shape& k = f.type_of(op.operands[1]).shape;
      return static_cast<double>((q[0] * q[1] * q[2] * k[2]).value());
    }
    default:
      return 0;
  }
}

plan::Kernel begin_kernel(ir::FunctionId function, uint32_t at, const Op& op) {
  return {.name = kernel_name(op),
          .implementation = {},
          .phase = op.phase,
          .function = function,
          .first_op = at,
          .op_count = 0,
          .work = {}};
}

}  // namespace

std::string kernel_name(const Op& op) {
  return op.scope.empty() ? std::string(ir::name_of(op.kind)) : op.scope;
}

bool holds_batch(const TensorType& type) {
  return std::any_of(type.shape.begin(), type.shape.end(), [](const Dim& d) {
    const auto& symbols = d.symbols();
    return std::find(symbols.begin(), symbols.end(), ir::BatchSymbol) != symbols.end();
  });
}

bool is_weight_product(const ir::Graph&, const ir::Function& function, const ir::Op& op) {
  if (op.kind == OpKind::Convolution) return true;
  const auto with_batch = [&](ir::ValueId v) { return holds_batch(function.type_of(v)); };
  const bool any = std::any_of(op.operands.begin(), op.operands.end(), with_batch) ||
                   std::any_of(op.results.begin(), op.results.end(), with_batch);
  if (any) {
    return !(std::all_of(op.operands.begin(), op.operands.end(), with_batch) &&
             std::all_of(op.results.begin(), op.results.end(), with_batch));
  }
  return op.attrs.get_or<ir::DimPairs>(ir::AttrKey::Batch, {}).lhs.empty();
}

plan::Work KernelCutter::work_of(ir::FunctionId id, const Op& symbolic_op, const Op& op) const {
  const ir::Cost cost = ir::cost_of(bound_, bound_.function(id), op);
  plan::Work work{.weight_product = {},
                  .local_product = {},
                  .elementwise = cost.elementwise,
                  .read = cost.read,
                  .written = cost.written};
  const bool weights =
      is_product(op.kind) && is_weight_product(symbolic_, symbolic_.function(id), symbolic_op);
  (weights ? work.weight_product : work.local_product) += cost.product;
  work.scores = scores_of(bound_.function(id), op);
  return work;
}

std::vector<plan::Kernel> KernelCutter::cut(ir::FunctionId id, uint32_t first, uint32_t count) {
  std::vector<plan::Kernel> kernels;
  bool open = false;
  for (uint32_t i = first; i < first + count; ++i) {
    const Op& op = bound_.function(id).ops[i];
    if (op.kind == OpKind::Call) {
      const auto& inner = cut_whole(op.attrs.get<ir::FunctionId>(ir::AttrKey::Body));
      kernels.insert(kernels.end(), inner.begin(), inner.end());
      open = false;
      continue;
    }
    const plan::Work work = work_of(id, symbolic_.function(id).ops[i], op);
    if (!open || !is_light(op.kind)) {
      kernels.push_back(begin_kernel(id, i, op));
      kernels.back().implementation = implementation_of(op, work);
      open = true;
    }
    ++kernels.back().op_count;
    kernels.back().work += work;
  }
  std::erase_if(kernels, [](const plan::Kernel& k) { return k.work.total().value == 0; });
  return kernels;
}

const std::vector<plan::Kernel>& KernelCutter::cut_whole(ir::FunctionId id) {
  const auto found = whole_.find(id);
  if (found != whole_.end()) return found->second;
  const auto count = static_cast<uint32_t>(bound_.function(id).ops.size());
  std::vector<plan::Kernel> kernels = cut(id, 0, count);
  return whole_[id] = std::move(kernels);
}

}  // namespace wafer::compile
