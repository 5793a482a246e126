#pragma once

#include <map>
#include <utility>
#include <vector>

#include "wafer/ir/graph.h"

namespace wafer::autodiff {

/// A set of inputs, outputs or values of a function, by index.
using Mask = std::vector<bool>;

/// Which values change when given inputs do: floats on a way along which no derivative is zero by
/// rule. Functions must not change while the answers about them are kept.
class Activity {
 public:
  explicit Activity(const ir::Graph& graph) : graph_(graph) {}

  /// Of the values of a function, when the inputs in `inputs` vary.
  Mask varied_values(ir::FunctionId function, const Mask& inputs);

 private:
  bool varies(const ir::Op& op, const Mask& varied) const;
  const Mask& varied_outputs(ir::FunctionId function, const Mask& inputs);

  const ir::Graph& graph_;
  std::map<std::pair<ir::FunctionId, Mask>, Mask> outputs_;
};

}  // namespace wafer::autodiff
