// Reductions and softmax.
#include <algorithm>
#include <array>
#include <numeric>

#include "wafer/importers/onnx_formulas.h"
#include "wafer/importers/onnx_ops.h"

namespace wafer::importers {

using ir::ElementFn;
using ir::Ints;

Term softmax(Folder& f, const Term& x) { return f.emit(ir::OpKind::Softmax, {x}); }

namespace {

Ints all_dims(int rank) {
  Ints dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

/// What a reduction reduces over; nothing when it is the identity.
std::optional<Ints> reduced_dims(OnnxCall& c, int64_t axes_are_input_since) {
  const int rank = c.in(0).rank();
  const std::optional<Ints> given = c.list(1, "axes", axes_are_input_since);
  const bool none_is_none = c.integer("noop_with_empty_axes", 0) != 0;
  if (given && !given->empty()) return c.axes(*given, rank);
  return none_is_none ? std::nullopt : std::optional<Ints>(all_dims(rank));
}

/// `reduced` with the dimensions kept as 1.
Term kept(OnnxCall& c, const Term& reduced, const Ints& dims) {
  Shape shape = c.in(0).shape();
  for (int64_t d : dims) shape[static_cast<size_t>(d)] = Dim(1);
  return c.fold.reshape(reduced, shape);
}

using Reduction = Term (*)(Folder& f, const Term& x, const Ints& dims);

template <ElementFn Fn>
Term reduce_by(Folder& f, const Term& x, const Ints& dims) {
  return f.reduce(Fn, x, dims);
}
Term mean(Folder& f, const Term& x, const Ints& dims) { return f.reduce_mean(x, dims); }
Term sum_of_squares(Folder& f, const Term& x, const Ints& dims) {
  return f.reduce(ElementFn::Add, f.multiply(x, x), dims);
}
Term norm_1(Folder& f, const Term& x, const Ints& dims) {
  return f.reduce(ElementFn::Add, f.unary(ElementFn::Abs, x), dims);
}
Term norm_2(Folder& f, const Term& x, const Ints& dims) {
  return f.unary(ElementFn::Sqrt, sum_of_squares(f, x, dims));
}
Term log_sum(Folder& f, const Term& x, const Ints& dims) {
  return f.unary(ElementFn::Log, f.reduce(ElementFn::Add, x, dims));
}

/// x over `dims` reduced, in the places of x.
Term spread(Folder& f, const Term& reduced, const Shape& shape, const Ints& dims) {
  Shape kept_shape = shape;
  for (int64_t d : dims) kept_shape[static_cast<size_t>(d)] = Dim(1);
  return f.broadcast_to(f.reshape(reduced, kept_shape), shape);
}

/// log(sum(exp(x - m))) + m with m the largest element, which does not overflow.
Term log_sum_exp(Folder& f, const Term& x, const Ints& dims) {
  const Term largest = f.reduce(ElementFn::Maximum, x, dims);
  const Term shifted = f.subtract(x, spread(f, largest, x.shape(), dims));
  const Term sum = f.reduce(ElementFn::Add, f.unary(ElementFn::Exp, shifted), dims);
  return f.add(f.unary(ElementFn::Log, sum), largest);
}

/// Axes are an input since opset 18, of ReduceSum since 13.
template <Reduction Reduce, int64_t Since = 18>
Terms reduce(OnnxCall& c) {
  const bool keep = c.integer("keepdims", 1) != 0;
  const std::optional<Ints> dims = reduced_dims(c, Since);
  if (!dims) return {c.in(0)};
  const Term reduced = Reduce(c.fold, c.in(0), *dims);
  return {keep ? kept(c, reduced, *dims) : reduced};
}

/// Applies `fn` over the dimension `axis` (since opset 13), or over all from it on (before).
template <typename Fn>
Terms over_axis(OnnxCall& c, Fn fn) {
  const Term& x = c.in(0);
  const int64_t axis = c.axis(c.integer("axis", c.opset >= 13 ? -1 : 1), x.rank());
  if (axis == x.rank() - 1) return {fn(x)};
  if (c.opset >= 13) {
    Ints order = all_dims(x.rank());
    std::swap(order[static_cast<size_t>(axis)], order.back());  // its own inverse
    return {c.fold.transpose(fn(c.fold.transpose(x, order)), order)};
  }
  const auto middle = x.shape().begin() + axis;
  const Shape flat = {element_count({x.shape().begin(), middle}),
                      element_count({middle, x.shape().end()})};
  return {c.fold.reshape(fn(c.fold.reshape(x, flat)), x.shape())};
}

Terms softmax_op(OnnxCall& c) {
  return over_axis(c, [&](const Term& x) { return softmax(c.fold, x); });
}

Term log_softmax(Folder& f, const Term& x) {
  const Ints last = {x.rank() - 1};
  return f.subtract(x, spread(f, log_sum_exp(f, x, last), x.shape(), last));
}

Terms log_softmax_op(OnnxCall& c) {
  return over_axis(c, [&](const Term& x) { return log_softmax(c.fold, x); });
}

/// One loss a label [N, d..] as they are, their sum, or the mean over those that count.
Term reduced_loss(OnnxCall& c, const Term& loss) {
  const std::string reduction = c.text("reduction", "mean");
  const bool ignores = c.has_attribute("ignore_index");
  const Ints dims = all_dims(loss.rank());
  if (reduction == "none") return loss;
  if (reduction != "sum" && reduction != "mean") c.refuse("reduction " + reduction);
  if (reduction == "mean" && !ignores) return c.fold.reduce_mean(loss, dims);
  Term sum = c.fold.reduce(ElementFn::Add, loss, dims);
  if (reduction == "sum") return sum;
  const auto ignored = static_cast<double>(c.integer("ignore_index"));
  const Term counts =
      c.fold.binary(ElementFn::NotEqual, c.in(1), c.fold.scalar(ignored, c.in(1).dtype()));
  return c.fold.divide(sum,
                       c.fold.reduce(ElementFn::Add, c.fold.convert(counts, loss.dtype()), dims));
}

/// Dimensions of [N, C, d..] with the classes last.
Ints classes_last(int rank) {
  Ints order = all_dims(rank);
  order.erase(order.begin() + 1);
  order.push_back(1);
  return order;
}

/// scores [N, C, d..], labels [N, d..]
Terms cross_entropy(OnnxCall& c) {
  c.refuse_input(2, "weights of classes");
  const Term& scores = c.in(0);
  const Term logits = c.fold.transpose(scores, classes_last(scores.rank()));
  const int64_t ignored = c.integer("ignore_index", -100);
  const Term loss = c.fold.emit(ir::OpKind::CrossEntropy, {logits, c.in(1)},
                                {{ir::AttrKey::IgnoreIndex, ignored}});
  Terms results = {reduced_loss(c, c.fold.convert(loss, scores.dtype()))};
  if (c.wants(1)) {
    Ints back = all_dims(scores.rank());
    back.pop_back();
    back.insert(back.begin() + 1, scores.rank() - 1);
    results.push_back(c.fold.transpose(log_softmax(c.fold, logits), back));
  }
  return results;
}

/// log-probabilities [N, C, d..], labels [N, d..]: minus that of the label, 0 where it is ignored.
Terms negative_log_likelihood(OnnxCall& c) {
  c.refuse_input(2, "weights of classes");
  Folder& f = c.fold;
  const Term x = f.transpose(c.in(0), classes_last(c.in(0).rank()));
  const Term& labels = c.in(1);
  const Term classes = f.iota({labels.dtype(), x.shape()}, x.rank() - 1);
  const Term column = unsqueeze(f, labels, static_cast<size_t>(labels.rank()));
  Term chosen = f.binary(ElementFn::Equal, classes, column);
  if (c.has_attribute("ignore_index")) {
    const auto ignored = static_cast<double>(c.integer("ignore_index"));
    const Term counts = f.binary(ElementFn::NotEqual, column, f.scalar(ignored, labels.dtype()));
    chosen = f.binary(ElementFn::And, chosen, counts);
  }
  const Term picked = f.select(chosen, f.unary(ElementFn::Negate, x), f.scalar(0, x.dtype()));
  return {reduced_loss(c, f.reduce(ElementFn::Add, picked, {x.rank() - 1}))};
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"LogSoftmax", log_softmax_op},
    {"NegativeLogLikelihoodLoss", negative_log_likelihood},
    {"ReduceL1", reduce<norm_1>},
    {"ReduceL2", reduce<norm_2>},
    {"ReduceLogSum", reduce<log_sum>},
    {"ReduceLogSumExp", reduce<log_sum_exp>},
    {"ReduceMax", reduce<reduce_by<ElementFn::Maximum>>},
    {"ReduceMean", reduce<mean>},
    {"ReduceMin", reduce<reduce_by<ElementFn::Minimum>>},
    {"ReduceProd", reduce<reduce_by<ElementFn::Multiply>>},
    {"ReduceSum", reduce<reduce_by<ElementFn::Add>, 13>},
    {"ReduceSumSquare", reduce<sum_of_squares>},
    {"Softmax", softmax_op},
    {"SoftmaxCrossEntropyLoss", cross_entropy},
});

}  // namespace

std::span<const OnnxOp> onnx_reduce_ops() { return Ops; }

}  // namespace wafer::importers
