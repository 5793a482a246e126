#pragma once

#include <map>
#include <string>
#include <vector>

#include "wafer/ir/graph.h"
#include "wafer/plan/plan.h"

namespace wafer::compile {

/// Whether a type has the symbolic batch among its dimensions: an activation.
bool holds_batch(const TensorType& type);

/// The arithmetic class of a product: true when a weight takes part (as an operand or because the
/// result is a weight's gradient), false when both operands are activations. Where the graph's
/// batch is symbolic, a product is local when both operands and the result hold the batch; else
/// a dot_general is local when it has batch dimensions and reads no parameter.
bool is_weight_product(const ir::Graph& graph, const ir::Function& function, const ir::Op& op);

/// The name of a kernel that begins with `op`: its scope, or its kind.
std::string kernel_name(const ir::Op& op);

/// Cuts ops of a function into kernels: each heavy op (a product, a composite, a reduction, an
/// indexed access) begins one, the light ops behind it (element-wise, shapes) run with it.
class KernelCutter {
 public:
  /// `symbolic` tells the classes, `bound` (the same ops with numbers for dimensions) the work.
  KernelCutter(const ir::Graph& symbolic, const ir::Graph& bound)
      : symbolic_(symbolic), bound_(bound) {}

  /// Kernels of ops [first, first + count) of a function, those of called functions in their place.
  std::vector<plan::Kernel> cut(ir::FunctionId function, uint32_t first, uint32_t count);

 private:
  const std::vector<plan::Kernel>& cut_whole(ir::FunctionId function);
  plan::Work work_of(ir::FunctionId function, const ir::Op& symbolic_op, const ir::Op& op) const;

  const ir::Graph& symbolic_;
  const ir::Graph& bound_;
  std::map<ir::FunctionId, std::vector<plan::Kernel>> whole_;
};

}  // namespace wafer::compile
