#pragma once

#include <map>
#include <memory>
#include <vector>

#include "wafer/importers/known.h"
#include "wafer/ir/builder.h"

namespace wafer::importers {

/// A value during import: its type, and its elements where they are known, and the value of the
/// graph that holds it where there is one already.
struct Term {
  TensorType type;
  std::shared_ptr<const Known> known;
  ir::ValueId id;

  const Shape& shape() const { return type.shape; }
  const Dim& dim(size_t d) const { return type.shape[d]; }
  DType dtype() const { return type.dtype; }
  int rank() const { return type.rank(); }
};
using Terms = std::vector<Term>;

/// The Builder's ops over terms: known operands give known results and no op; otherwise the op is
/// emitted. Nothing is followed whose result is much larger than its operands (a mask from two
/// ranges stays two iotas and a comparison). Throws InputError as the Builder does.
class Folder {
 public:
  explicit Folder(ir::Builder& builder) : builder_(builder) {}

  ir::Builder& builder() { return builder_; }
  /// The graph's value of a term; a known one becomes a constant (an iota where it is one).
  ir::ValueId id(const Term& term);
  std::vector<ir::ValueId> ids(const Terms& terms);
  Term term(ir::ValueId id);
  Terms terms(const std::vector<ir::ValueId>& ids);

  Term known(Known elements);
  /// A splat of any type.
  Term constant(double value, const TensorType& type);
  Term scalar(double value, DType dtype) { return constant(value, {dtype, {}}); }
  Term dims(const Shape& elements) { return known(known_dims(elements)); }
  Term iota(const TensorType& type, int64_t dim);

  Term unary(ir::ElementFn fn, const Term& x);
  /// With numpy broadcasting. x*1, x/1 are x.
  Term binary(ir::ElementFn fn, const Term& a, const Term& b);
  Term add(const Term& a, const Term& b) { return binary(ir::ElementFn::Add, a, b); }
  Term subtract(const Term& a, const Term& b) { return binary(ir::ElementFn::Subtract, a, b); }
  Term multiply(const Term& a, const Term& b) { return binary(ir::ElementFn::Multiply, a, b); }
  Term divide(const Term& a, const Term& b) { return binary(ir::ElementFn::Divide, a, b); }
  Term maximum(const Term& a, const Term& b) { return binary(ir::ElementFn::Maximum, a, b); }
  Term minimum(const Term& a, const Term& b) { return binary(ir::ElementFn::Minimum, a, b); }
  Term add(const Term& a, double k) { return add(a, scalar(k, a.dtype())); }
  Term multiply(const Term& a, double k) { return multiply(a, scalar(k, a.dtype())); }
  Term select(const Term& predicate, const Term& on_true, const Term& on_false);
  Term convert(const Term& x, DType dtype);

  Term reshape(const Term& x, const Shape& shape);
  Term transpose(const Term& x, const ir::Ints& permutation);
  /// x with its last two dimensions exchanged.
  Term transpose_last(const Term& x);
  /// limits of -1: to the end. strides at least 1.
  Term slice(const Term& x, const ir::Ints& starts, const ir::Ints& limits,
             const ir::Ints& strides = {});
  /// x[.., start:limit, ..] in one dimension.
  Term slice_dim(const Term& x, int64_t dim, int64_t start, int64_t limit);
  Term reverse(const Term& x, const ir::Ints& dims);
  Term concatenate(const Terms& xs, int64_t dim);
  Term broadcast_to(const Term& x, const Shape& shape);
  Term broadcast_in_dim(const Term& x, const Shape& shape, const ir::Ints& dims);
  Term reduce(ir::ElementFn fn, const Term& x, const ir::Ints& dims);
  Term reduce_mean(const Term& x, const ir::Ints& dims);

  /// Any op with one result; operands are made values of the graph.
  Term emit(ir::OpKind kind, const Terms& operands, ir::Attributes attrs = {},
            const std::vector<TensorType>& declared = {});
  Term dot_general(const Term& a, const Term& b, const ir::DimPairs& contract,
                   const ir::DimPairs& batch = {});

 private:
  ir::ValueId materialize(const Known& known);
  ir::ValueId symbolic_value(const Known& known);

  ir::Builder& builder_;
  /// The constant made of known elements, so that it is made once. The key is only looked up.
  std::map<std::shared_ptr<const Known>, ir::ValueId> constants_;
};

/// The shape that numpy broadcasting gives; a dimension that fits neither way is left to the op's
/// own check.
Shape broadcast_shape(const Shape& a, const Shape& b);

}  // namespace wafer::importers
