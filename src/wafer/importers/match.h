#pragma once

#include <optional>

#include "wafer/ir/builder.h"

namespace wafer::importers {

/// Questions about how values of a function are made, for passes that look for patterns.
class Match {
 public:
  explicit Match(const ir::Function& function) : f_(function) {}

  const TensorType& type(ir::ValueId v) const { return f_.type_of(v); }
  const Shape& shape(ir::ValueId v) const { return f_.type_of(v).shape; }
  int64_t rank(ir::ValueId v) const { return f_.type_of(v).rank(); }

  /// The op that makes v; null for an input of the function.
  const ir::Op* maker(ir::ValueId v) const;
  /// The same if it is of this kind or function, else null.
  const ir::Op* maker(ir::ValueId v, ir::OpKind kind) const;
  const ir::Op* maker(ir::ValueId v, ir::ElementFn fn) const;

  /// The one value of all elements of v, when it is a constant float or integer splat, perhaps
  /// broadcast, reshaped, sliced, transposed or converted.
  std::optional<double> splat(ir::ValueId v) const;
  bool is_splat_near(ir::ValueId v, double value, double tolerance = 1e-5) const;
  /// v is a vector along the last dimension of `like`, broadcast over the others: the vector.
  std::optional<ir::ValueId> last_dim_vector(ir::ValueId v) const;
  /// v has one value for each row (all dimensions but the last) of `like`, spread over the row or
  /// not: the value [..] or [.., 1] that holds no more. v itself when nothing is to be stripped.
  ir::ValueId row_value(ir::ValueId v, const Shape& like) const;
  /// v = mean over the last dimension of some x, one value a row of `like`: x.
  std::optional<ir::ValueId> row_mean(ir::ValueId v, const Shape& like) const;
  /// v without conversions between float types.
  ir::ValueId unconverted(ir::ValueId v) const;

 private:
  const ir::Function& f_;
};

/// a and b are near each other, relative to b.
bool is_near(double a, double b, double tolerance = 1e-5);

/// The factors of a product of element-wise multiplications (and divisions by a splat) of v's
/// shape: one number, and the rest.
struct Factors {
  double number = 1;
  std::vector<ir::ValueId> values;
};
/// Takes apart at most `most` multiplications.
Factors factors_of(const Match& m, ir::ValueId v, int most = 6);

}  // namespace wafer::importers
