#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "wafer/autodiff/activity.h"
#include "wafer/base/error.h"
#include "wafer/ir/graph.h"

namespace wafer::autodiff {

/// A called function, differentiated by some of its inputs given cotangents of some outputs.
struct Variant {
  /// What an operand of the call of `backward` is, at the call site.
  struct Residual {
    enum class From : uint8_t { Operand, Result };
    From from;
    size_t index;  ///< of the call of `forward`
  };
  ir::FunctionId forward;   ///< the function; its results followed by residuals
  ir::FunctionId backward;  ///< cotangents and residuals in, gradients out
  std::vector<Residual> residuals;
  std::vector<size_t> gradients;  ///< inputs that `backward` returns the gradients of, ascending
};

/// What the backward passes over the functions of one graph share. The graph grows; functions that
/// it had are not changed, main excepted.
class Differentiator {
 public:
  explicit Differentiator(ir::Graph& graph) : graph_(graph), activity_(graph) {}

  /// Appends to main the gradient of its value `loss`, a float scalar, by its inputs of these
  /// indices; invalid for those it does not depend on. Throws InputError for ops without a rule.
  std::vector<ir::ValueId> run(ir::ValueId loss, const std::vector<size_t>& inputs);

  ir::Graph& graph() { return graph_; }
  /// Made once for each function and pair of masks.
  const Variant& variant(ir::FunctionId function, const Mask& inputs, const Mask& outputs);
  /// A function that computes a composite by its decomposition; made once for each sort.
  ir::FunctionId decomposition(const ir::Op& op, const std::vector<TensorType>& operands);
  void refuse(const ir::Op& op, const std::string& function, const std::string& why);

 private:
  using Key = std::tuple<ir::FunctionId, Mask, Mask>;
  struct Decomposed {
    ir::OpKind kind;
    std::vector<TensorType> operands;
    ir::Attributes attrs;
    ir::FunctionId function;
  };

  Variant make_variant(ir::FunctionId function, const Mask& inputs, const Mask& outputs);
  std::string free_name(const std::string& wanted) const;

  ir::Graph& graph_;
  Activity activity_;
  std::map<Key, Variant> variants_;
  std::vector<Decomposed> decomposed_;
  Problems problems_;
};

/// Whether training changes the input: a float parameter that is not frozen.
inline bool is_trained(const ir::Function& f, const ir::Input& input) {
  return input.role == ir::Role::Parameter && !input.frozen &&
         is_float(f.type_of(input.value).dtype);
}

/// Takes out functions that main does not reach.
void prune_functions(ir::Graph& graph);

}  // namespace wafer::autodiff
