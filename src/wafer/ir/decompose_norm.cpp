// Decompositions of the normalisations.
#include <numeric>

#include "wafer/ir/composites.h"

namespace wafer::ir {
namespace {

/// A normalisation works on groups of elements: the dimensions `within` a group, and `along` the
/// others, which number the groups. layer_norm: within = the last, batch_norm: along = the channel.
struct Groups {
  Shape shape;
  Ints within;
  Ints along;
};

Groups last_dim_groups(const Shape& shape) {
  Groups groups{shape, {static_cast<int64_t>(shape.size()) - 1}, Ints(shape.size() - 1)};
  std::iota(groups.along.begin(), groups.along.end(), 0);
  return groups;
}

Groups channel_groups(const Shape& shape, int64_t channel) {
  Groups groups{shape, {}, {channel}};
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    if (d != channel) groups.within.push_back(d);
  }
  return groups;
}

/// One value a group, to all elements of the group.
ValueId spread(Builder& b, ValueId per_group, const Groups& groups) {
  return b.broadcast_in_dim(per_group, groups.shape, groups.along);
}

struct Statistics {
  ValueId centered;  ///< x - mean
  ValueId mean;      ///< one a group
  ValueId variance;  ///< one a group, biased (divided by the count)
  ValueId inverse;   ///< 1 / sqrt(variance + epsilon), spread
};

ValueId inverse_root(Builder& b, ValueId square, double epsilon, const Groups& groups) {
  return spread(b, b.unary(ElementFn::Rsqrt, b.add(square, epsilon)), groups);
}

Statistics statistics(Builder& b, ValueId x, double epsilon, const Groups& groups) {
  const ValueId mean = b.reduce_mean(x, groups.within);
  const ValueId centered = b.subtract(x, spread(b, mean, groups));
  const ValueId variance = b.reduce_mean(b.multiply(centered, centered), groups.within);
  return {centered, mean, variance, inverse_root(b, variance, epsilon, groups)};
}

/// inverse * (g - mean(g) - xhat * mean(g * xhat)) with g the cotangent of xhat; without the middle
/// term where no mean was taken off (rms_norm).
ValueId input_gradient(Builder& b, ValueId g, ValueId xhat, ValueId inverse, bool centered,
                       const Groups& groups) {
  const ValueId along = spread(b, b.reduce_mean(b.multiply(g, xhat), groups.within), groups);
  ValueId rest = b.subtract(g, b.multiply(xhat, along));
  if (centered) rest = b.subtract(rest, spread(b, b.reduce_mean(g, groups.within), groups));
  return b.multiply(inverse, rest);
}

double epsilon_of(const Attributes& attrs) { return attrs.get<double>(AttrKey::Epsilon); }

}  // namespace

// x [.., D], scale [D], bias [D] -> y [.., D]
ValueId layer_norm_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const DType dtype = b.type_of(operands[0]).dtype;
  const ValueId x = widened(b, operands[0]);
  const Statistics s = statistics(b, x, epsilon_of(attrs), last_dim_groups(b.shape_of(x)));
  const ValueId xhat = b.multiply(s.centered, s.inverse);
  const ValueId scaled = b.multiply(xhat, widened(b, operands[1]));
  return b.convert(b.add(scaled, widened(b, operands[2])), dtype);
}

// x [.., D], scale [D], dy [.., D] -> dx [.., D], dscale [D], dbias [D]
Values layer_norm_grad_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const DType dtype = b.type_of(operands[0]).dtype;
  const ValueId x = widened(b, operands[0]);
  const ValueId dy = widened(b, operands[2]);
  const Groups groups = last_dim_groups(b.shape_of(x));
  const Statistics s = statistics(b, x, epsilon_of(attrs), groups);
  const ValueId xhat = b.multiply(s.centered, s.inverse);
  const ValueId g = b.multiply(dy, widened(b, operands[1]));
  const ValueId dx = input_gradient(b, g, xhat, s.inverse, true, groups);
  const ValueId dscale = b.reduce_sum(b.multiply(dy, xhat), groups.along);
  const ValueId dbias = b.reduce_sum(dy, groups.along);
  return {b.convert(dx, dtype), b.convert(dscale, dtype), b.convert(dbias, dtype)};
}

// x [.., D], scale [D] -> y [.., D]
ValueId rms_norm_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const DType dtype = b.type_of(operands[0]).dtype;
  const ValueId x = widened(b, operands[0]);
  const Groups groups = last_dim_groups(b.shape_of(x));
  const ValueId square = b.reduce_mean(b.multiply(x, x), groups.within);
  const ValueId xhat = b.multiply(x, inverse_root(b, square, epsilon_of(attrs), groups));
  return b.convert(b.multiply(xhat, widened(b, operands[1])), dtype);
}

// x [.., D], scale [D], dy [.., D] -> dx [.., D], dscale [D]
Values rms_norm_grad_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const DType dtype = b.type_of(operands[0]).dtype;
  const ValueId x = widened(b, operands[0]);
  const ValueId dy = widened(b, operands[2]);
  const Groups groups = last_dim_groups(b.shape_of(x));
  const ValueId square = b.reduce_mean(b.multiply(x, x), groups.within);
  const ValueId inverse = inverse_root(b, square, epsilon_of(attrs), groups);
  const ValueId xhat = b.multiply(x, inverse);
  const ValueId g = b.multiply(dy, widened(b, operands[1]));
  const ValueId dx = input_gradient(b, g, xhat, inverse, false, groups);
  const ValueId dscale = b.reduce_sum(b.multiply(dy, xhat), groups.along);
  return {b.convert(dx, dtype), b.convert(dscale, dtype)};
}

// x [.., C, ..], scale [C], bias [C] -> y like x, mean [C], variance [C] (biased)
Values batch_norm_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const DType dtype = b.type_of(operands[0]).dtype;
  const ValueId x = widened(b, operands[0]);
  const Groups groups = channel_groups(b.shape_of(x), attrs.get<int64_t>(AttrKey::Dim));
  const Statistics s = statistics(b, x, epsilon_of(attrs), groups);
  const ValueId xhat = b.multiply(s.centered, s.inverse);
  const ValueId scaled = b.multiply(xhat, spread(b, widened(b, operands[1]), groups));
  const ValueId y = b.add(scaled, spread(b, widened(b, operands[2]), groups));
  return {b.convert(y, dtype), b.convert(s.mean, dtype), b.convert(s.variance, dtype)};
}

// x [.., C, ..], scale [C], dy like x -> dx like x, dscale [C], dbias [C]
Values batch_norm_grad_of(Builder& b, const Values& operands, const Attributes& attrs) {
  const DType dtype = b.type_of(operands[0]).dtype;
  const ValueId x = widened(b, operands[0]);
  const ValueId dy = widened(b, operands[2]);
  const Groups groups = channel_groups(b.shape_of(x), attrs.get<int64_t>(AttrKey::Dim));
  const Statistics s = statistics(b, x, epsilon_of(attrs), groups);
  const ValueId xhat = b.multiply(s.centered, s.inverse);
  const ValueId g = b.multiply(dy, spread(b, widened(b, operands[1]), groups));
  const ValueId dx = input_gradient(b, g, xhat, s.inverse, true, groups);
  const ValueId dscale = b.reduce_sum(b.multiply(dy, xhat), groups.within);
  const ValueId dbias = b.reduce_sum(dy, groups.within);
  return {b.convert(dx, dtype), b.convert(dscale, dtype), b.convert(dbias, dtype)};
}

}  // namespace wafer::ir
