#pragma once

#include <map>
#include <string>
#include <vector>

#include "wafer/autodiff/training_step.h"
#include "wafer/ir/builder.h"

namespace wafer::autodiff {

/// Emits the updates of one optimizer into main. Each parameter type has one update function; what
/// depends on the step alone is computed once in main.
class OptimizerBuilder {
 public:
  /// `b` appends to main. Adds the Data inputs that the optimizer reads.
  OptimizerBuilder(ir::Builder& b, const TrainingOptions& options);

  /// Gradients are scaled by this f32 scalar before they are used.
  void set_clip(ir::ValueId scale) { clip_ = scale; }

  /// Names of the state of a parameter of this type, as suffixes of its name.
  std::vector<std::string> state_of(DType parameter) const;
  /// Calls the update: the new parameter and new state, in the order of state_of.
  std::vector<ir::ValueId> update(ir::ValueId parameter, ir::ValueId gradient,
                                  const std::vector<ir::ValueId>& state);

  /// The type that updates are computed and state is kept in: f32, f64 for f64.
  static DType exact(DType parameter) { return parameter == DType::F64 ? DType::F64 : DType::F32; }

 private:
  struct Scalars {
    ir::ValueId rate;   ///< sgd: learning rate. adamw: learning rate / (1 - beta1^step)
    ir::ValueId keep;   ///< adamw: 1 - learning rate x weight decay
    ir::ValueId scale;  ///< adamw: 1 / (1 - beta2^step)
  };

  void prepare_adamw(const AdamW& adamw);
  std::vector<ir::ValueId> scalars(bool decayed) const;
  ir::FunctionId update_function(const TensorType& parameter, bool decayed);
  void write_update(ir::FunctionId function, const TensorType& parameter, bool decayed);

  ir::Builder& b_;
  const TrainingOptions& options_;
  Scalars scalars_;
  ir::ValueId clip_;
  std::map<std::string, ir::FunctionId> functions_;
};

}  // namespace wafer::autodiff
