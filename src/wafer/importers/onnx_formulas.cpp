#include "wafer/importers/onnx_formulas.h"

#include "wafer/base/error.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::Ints;

Term split_heads(Folder& f, const Term& x, int64_t heads) {
  if (x.rank() != 3 || heads < 1) throw InputError("expected [batch, positions, width] and heads");
  const auto width = divide_exact(x.dim(2), Dim(heads));
  if (!width) throw InputError("heads do not divide the width of " + x.type.text());
  return f.transpose(f.reshape(x, {x.dim(0), x.dim(1), heads, *width}), {0, 2, 1, 3});
}

Term merge_heads(Folder& f, const Term& x) {
  const Term moved = f.transpose(x, {0, 2, 1, 3});
  return f.reshape(moved, {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

Term attention(Folder& f, const Term& q, const Term& k, const Term& v,
               const AttentionOptions& options) {
  Terms operands = {q, k, v};
  if (options.bias) {
    Term bias = *options.bias;
    if (bias.rank() > 4) throw InputError("a mask of more than 4 dimensions " + bias.type.text());
    Shape shape(4 - bias.shape().size(), Dim(1));
    shape.insert(shape.end(), bias.shape().begin(), bias.shape().end());
    bias = f.reshape(bias, shape);
    shape[3] = k.dim(2);  // the one dimension that the composite does not stretch
    operands.push_back(f.convert(f.broadcast_to(bias, shape), q.dtype()));
  }
  return f.emit(ir::OpKind::Attention, operands,
                {{AttrKey::Scale, options.scale}, {AttrKey::Causal, options.causal}});
}

Term mask_bias(Folder& f, const Term& mask, double hidden, DType dtype) {
  if (mask.dtype() == DType::Bool) {
    return f.select(mask, f.scalar(0, dtype), f.scalar(hidden, dtype));
  }
  return f.multiply(f.add(f.convert(mask, dtype), -1), -hidden);
}

namespace {

/// The elements from, from + step, .. below to of the last dimension.
Term slice_last(Folder& f, const Term& x, int64_t from, int64_t to, int64_t step = 1) {
  const auto rank = static_cast<size_t>(x.rank());
  Ints starts(rank, 0), limits(rank, -1), strides(rank, 1);
  starts.back() = from;
  limits.back() = to;
  strides.back() = step;
  return f.slice(x, starts, limits, strides);
}

/// a0 b0 a1 b1 .. in the last dimension.
Term interleave(Folder& f, const Term& a, const Term& b) {
  const auto last = static_cast<size_t>(a.rank());
  const Term pairs = f.concatenate({unsqueeze(f, a, last), unsqueeze(f, b, last)}, a.rank());
  Shape shape = a.shape();
  shape.back() = shape.back() * Dim(2);
  return f.reshape(pairs, shape);
}

}  // namespace

Term rotate(Folder& f, const Term& x, const Term& cos, const Term& sin, bool interleaved) {
  const int64_t width = x.shape().back().value();
  const int64_t half = cos.shape().back().value();
  const int64_t turned = 2 * half;
  if (turned > width) throw InputError("rotates more than the width of a head");
  const Term first = interleaved ? slice_last(f, x, 0, turned, 2) : slice_last(f, x, 0, half);
  const Term second = interleaved ? slice_last(f, x, 1, turned, 2) : slice_last(f, x, half, turned);
  const Term a = f.subtract(f.multiply(first, cos), f.multiply(second, sin));
  const Term b = f.add(f.multiply(second, cos), f.multiply(first, sin));
  Term result = interleaved ? interleave(f, a, b) : f.concatenate({a, b}, x.rank() - 1);
  if (turned == width) return result;
  return f.concatenate({result, slice_last(f, x, turned, width)}, x.rank() - 1);
}

}  // namespace wafer::importers
