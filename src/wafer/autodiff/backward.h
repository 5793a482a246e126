#pragma once

#include <map>
#include <optional>
#include <vector>

#include "wafer/autodiff/activity.h"
#include "wafer/autodiff/op_gradient.h"

namespace wafer::autodiff {

class Differentiator;

/// The backward pass over the ops of one function. Gradient ops are appended to `target`: the same
/// function, or another that takes the values it needs as inputs.
class Backward {
 public:
  /// `varied`: which values of `primal` get gradients.
  Backward(Differentiator& graph, ir::FunctionId primal, ir::FunctionId target, Mask varied);

  /// Adds to the cotangent of a value of primal.
  void seed(ir::ValueId value, ir::ValueId cotangent);
  void run();
  /// The cotangent of a value of primal, its contributions summed; invalid where it has none.
  ir::ValueId cotangent(ir::ValueId value);

  /// The values of primal that target takes, in the order of its last inputs.
  const std::vector<ir::ValueId>& residuals() const { return residuals_; }

 private:
  friend class OpGradient;

  /// A gradient of a whole value, or of the part of it that begins at `starts`.
  struct Contribution {
    ir::ValueId value;
    ir::Ints starts;
  };

  ir::Builder& builder() { return builder_; }
  ir::Function& primal();
  bool is_reached(const ir::Op& op) const;
  bool varies(ir::ValueId v) const { return varied_[v.index]; }
  void visit(ir::OpId id);
  void visit_call(ir::OpId id, const ir::Op& op);
  /// Makes a call of a function that is the decomposition of the composite, in its place.
  void outline_composite(ir::OpId id);

  /// A value of primal for ops of target: as it is, an input, or computed again where that costs
  /// next to nothing.
  ir::ValueId available(ir::ValueId v);
  ir::ValueId make_available(ir::ValueId v);
  bool is_cheap(const ir::Op& op) const;

  void add(ir::ValueId value, Contribution contribution);
  ir::ValueId whole(const Contribution& c, const TensorType& type);
  /// One concatenation where the parts tile the value along one dimension; else invalid.
  ir::ValueId joined(std::vector<Contribution> parts, const TensorType& type);

  Differentiator& graph_;
  ir::FunctionId primal_;
  bool own_target_;  ///< target is another function
  ir::Builder builder_;
  Mask varied_;
  std::vector<std::vector<Contribution>> contributions_;  ///< by value of primal
  std::map<ir::ValueId, ir::ValueId> available_;
  std::vector<ir::ValueId> residuals_;
};

}  // namespace wafer::autodiff
