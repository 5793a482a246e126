#pragma once

#include <string>
#include <vector>

#include "wafer/ir/graph.h"

namespace wafer::ir {

/// Appends ops to one function; result types are inferred, problems throw InputError at once.
/// Holds phase, layer, scope and location for the ops to come. Do not keep references into the
/// graph's functions across add_function.
class Builder {
 public:
  Builder(Graph& graph, FunctionId function) : graph_(graph), function_(function) {}

  Phase phase = Phase::Forward;
  std::string layer;
  std::string scope;
  std::string location;

  Graph& graph() { return graph_; }
  Function& function() { return graph_.function(function_); }
  // By value: references into a function do not outlive the next op.
  TensorType type_of(ValueId v) { return function().type_of(v); }
  Shape shape_of(ValueId v) { return function().type_of(v).shape; }

  ValueId input(const std::string& name, TensorType type, Role role = Role::Data);
  ValueId parameter(const std::string& name, TensorType type) {
    return input(name, std::move(type), Role::Parameter);
  }
  void output(const std::string& name, ValueId value);

  /// Any op, with all its results.
  std::vector<ValueId> emit(OpKind kind, std::vector<ValueId> operands, Attributes attrs = {},
                            const std::vector<TensorType>& declared = {});
  /// Any op with one result.
  ValueId emit1(OpKind kind, std::vector<ValueId> operands, Attributes attrs = {},
                const std::vector<TensorType>& declared = {});

  /// Splat constant of any type; the value is rounded to it, as the elements of a literal are.
  ValueId constant(double value, TensorType type);
  ValueId scalar(double value, DType dtype) { return constant(value, {dtype, {}}); }
  ValueId literal(Literal literal);
  ValueId iota(TensorType type, int64_t dim);

  ValueId unary(ElementFn fn, ValueId x);
  /// Operands of equal shape, or a scalar or trailing-dimension operand (numpy rule), which is
  /// broadcast explicitly.
  ValueId binary(ElementFn fn, ValueId a, ValueId b);
  ValueId add(ValueId a, ValueId b) { return binary(ElementFn::Add, a, b); }
  ValueId subtract(ValueId a, ValueId b) { return binary(ElementFn::Subtract, a, b); }
  ValueId multiply(ValueId a, ValueId b) { return binary(ElementFn::Multiply, a, b); }
  ValueId divide(ValueId a, ValueId b) { return binary(ElementFn::Divide, a, b); }
  ValueId multiply(ValueId a, double k);
  ValueId add(ValueId a, double k);
  ValueId select(ValueId predicate, ValueId on_true, ValueId on_false);
  ValueId convert(ValueId x, DType dtype);

  /// numpy broadcasting of x to `shape` (trailing dimensions aligned, 1 stretches).
  ValueId broadcast_to(ValueId x, const Shape& shape);
  ValueId broadcast_in_dim(ValueId x, const Shape& shape, Ints dims);
  ValueId reshape(ValueId x, Shape shape);
  ValueId transpose(ValueId x, Ints permutation);
  ValueId slice(ValueId x, Ints starts, Ints limits, Ints strides = {});
  ValueId concatenate(std::vector<ValueId> xs, int64_t dim);
  /// Reduces over `dims` (removed from the shape) from fn's neutral element.
  ValueId reduce(ElementFn fn, ValueId x, Ints dims);
  ValueId reduce_sum(ValueId x, Ints dims) { return reduce(ElementFn::Add, x, std::move(dims)); }
  ValueId reduce_mean(ValueId x, Ints dims);

  ValueId dot_general(ValueId a, ValueId b, DimPairs contract, DimPairs batch = {});
  /// x [.., K] times w [K, N] -> [.., N].
  ValueId matmul(ValueId x, ValueId w);
  /// Rows of `table` [V, D] by integer indices [..] -> [.., D].
  ValueId take_rows(ValueId table, ValueId indices);

  ValueId layer_norm(ValueId x, ValueId scale, ValueId bias, double epsilon);
  ValueId rms_norm(ValueId x, ValueId scale, double epsilon);
  ValueId softmax(ValueId x);
  ValueId gelu(ValueId x, bool tanh_approximation);
  /// bias may be an invalid id: none.
  ValueId attention(ValueId q, ValueId k, ValueId v, ValueId bias, double scale, bool causal);
  ValueId cross_entropy(ValueId logits, ValueId labels, int64_t ignore_index = -100);
  std::vector<ValueId> call(FunctionId callee, std::vector<ValueId> operands);

 private:
  Graph& graph_;
  FunctionId function_;
};

}  // namespace wafer::ir
