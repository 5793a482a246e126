#include "wafer/ir/cost.h"

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/ir/convolution.h"

namespace wafer::ir {
namespace {

double count(const TensorType& type) { return static_cast<double>(type.elements()); }

/// An op with its types at hand.
struct View {
  const Function& function;
  const Op& op;
  const TensorType& operand(size_t i) const { return function.type_of(op.operands[i]); }
  const TensorType& result(size_t i) const { return function.type_of(op.results[i]); }
  double dim(size_t operand_index, size_t d) const {
    return static_cast<double>(operand(operand_index).shape[d].value());
  }
};

double float_count(const TensorType& type) { return is_float(type.dtype) ? count(type) : 0; }

// --- products -----------------------------------------------------------------------------------

/// FLOP2: 2 * batch * m * n * k.
double dot_general_flops(const View& v) {
  double contracted = 1;
  for (int64_t d : v.op.attrs.get<DimPairs>(AttrKey::Contract).lhs) {
    contracted *= v.dim(0, static_cast<size_t>(d));
  }
  return 2 * count(v.result(0)) * contracted;
}

/// FLOP3: 2 * result elements * kernel elements of one output feature; holes of a dilated input
/// are no work. Padding counts, as published figures do.
double convolution_flops(const View& v) {
  const ConvolutionSpec spec = convolution_spec(v.op.attrs, v.operand(0).rank());
  const double taken = count(v.operand(1)) / std::max(1.0, v.dim(1, spec.kernel.batch));
  double holes = 1;
  for (int64_t d : spec.lhs_dilation) holes *= static_cast<double>(d);
  return 2 * count(v.result(0)) * taken / holes;
}

/// B * Hq * S * T.
double score_count(const View& v) { return v.dim(0, 0) * v.dim(0, 1) * v.dim(0, 2) * v.dim(1, 2); }

/// FLOP4: q k^T and p v: 2 * scores * (D + E); twice that for the gradient's four products.
double attention_flops(const View& v) {
  const double forward = 2 * score_count(v) * (v.dim(0, 3) + v.dim(2, 3));
  return v.op.kind == OpKind::Attention ? forward : 2 * forward;
}

double product_flops(const View& v) {
  switch (v.op.kind) {
    case OpKind::DotGeneral:
      return dot_general_flops(v);
    case OpKind::Convolution:
      return convolution_flops(v);
    case OpKind::Attention:
    case OpKind::AttentionGrad:
      return attention_flops(v);
    default:
      return 0;
  }
}

// --- element-wise -------------------------------------------------------------------------------

/// FLOP5: functions applied to each score.
double score_flops(const View& v) {
  const bool gradient = v.op.kind == OpKind::AttentionGrad;
  const bool bias = v.op.operands.size() == (gradient ? 5U : 4U);
  const bool causal = v.op.attrs.get_or<bool>(AttrKey::Causal, false);
  return (gradient ? 11 : 6) + (bias ? 1 : 0) + (causal ? 1 : 0);
}

/// FLOP5: functions applied to each element of the first operand by the decomposition of a
/// composite; work on one value a row is left out.
double composite_flops(const View& v) {
  const bool tanh = v.op.attrs.get_or<std::string>(AttrKey::Approximate, "none") == "tanh";
  switch (v.op.kind) {
    case OpKind::LayerNorm:
    case OpKind::BatchNorm:
      return 7;
    case OpKind::LayerNormGrad:
    case OpKind::BatchNormGrad:
      return 16;
    case OpKind::RmsNorm:
      return 4;
    case OpKind::RmsNormGrad:
      return 11;
    case OpKind::Softmax:
      return 5;
    case OpKind::SoftmaxGrad:
      return 4;
    case OpKind::Gelu:
      return tanh ? 9 : 5;
    case OpKind::GeluGrad:
      return tanh ? 18 : 11;
    case OpKind::CrossEntropy:
      return 6;
    case OpKind::CrossEntropyGrad:
      return 7;
    default:
      return 0;
  }
}

double window_size(const Op& op) {
  double size = 1;
  for (int64_t n : op.attrs.get<Ints>(AttrKey::Window)) size *= static_cast<double>(n);
  return size;
}

/// FLOP6: what combines elements with each other.
double reduction_flops(const View& v) {
  if (v.op.kind < OpKind::Reduce || v.op.kind > OpKind::Sort) return 0;
  const double all = float_count(v.operand(0));
  switch (v.op.kind) {
    case OpKind::Reduce:
      return all - float_count(v.result(0));
    case OpKind::ArgReduce:
      return all == 0 ? 0 : all - count(v.result(0));
    case OpKind::ReduceWindow:
      return float_count(v.result(0)) * (window_size(v.op) - 1);
    case OpKind::SelectAndScatter:
      return float_count(v.operand(1)) * window_size(v.op);
    case OpKind::Cumulative:
      return all;
    case OpKind::Sort: {
      const double length = v.dim(0, static_cast<size_t>(v.op.attrs.get<int64_t>(AttrKey::Dim)));
      return length > 1 ? all * std::ceil(std::log2(length)) : 0;
    }
    default:
      return 0;
  }
}

/// FLOP6: reductions by a function run it once less than there are elements to combine.
Cost reduce_by_body(const View& v, const Cost& body) {
  const double times = count(v.operand(0)) - count(v.result(0));
  Cost cost;
  cost.product = body.product * times;
  cost.elementwise = body.elementwise * times;
  return cost;
}

double elementwise_flops(const View& v) {
  switch (v.op.kind) {
    case OpKind::Elementwise:  // FLOP1
      return float_count(v.operand(v.op.operands.size() - 1));
    case OpKind::Rng:
      return count(v.result(0));
    case OpKind::Attention:
    case OpKind::AttentionGrad:
      return score_count(v) * score_flops(v);
    case OpKind::Scatter:  // FLOP7
      return v.op.attrs.has(AttrKey::Fn) ? float_count(v.operand(2)) : 0;
    case OpKind::AllReduce: {  // FLOP8
      double all = 0;
      for (size_t i = 0; i < v.op.operands.size(); ++i) all += float_count(v.operand(i));
      return all;
    }
    case OpKind::ReduceScatter:
      return float_count(v.operand(0));
    default:
      break;
  }
  if (v.op.kind >= OpKind::LayerNorm && v.op.kind <= OpKind::CrossEntropyGrad) {
    return count(v.operand(0)) * composite_flops(v);
  }
  return reduction_flops(v);
}

// --- bytes --------------------------------------------------------------------------------------

/// BYTE1: each operand once, also where it is used twice.
Bytes operand_bytes(const View& v, size_t first = 0) {
  std::vector<ValueId> operands(v.op.operands.begin() + static_cast<std::ptrdiff_t>(first),
                                v.op.operands.end());
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  Bytes sum;
  for (ValueId value : operands) sum += v.function.type_of(value).bytes();
  return sum;
}

Bytes result_bytes(const View& v) {
  Bytes sum;
  for (ValueId value : v.op.results) sum += v.function.type_of(value).bytes();
  return sum;
}

void add_bytes(const View& v, Cost& cost) {
  switch (v.op.kind) {
    case OpKind::Constant:  // BYTE2
    case OpKind::Reshape:
      return;
    case OpKind::Slice:  // BYTE3
    case OpKind::DynamicSlice:
    case OpKind::Gather:
      cost.read = result_bytes(v) + operand_bytes(v, 1);
      cost.written = result_bytes(v);
      return;
    case OpKind::DynamicUpdateSlice:  // BYTE4
      cost.read = operand_bytes(v, 1);
      cost.written = v.operand(1).bytes();
      return;
    case OpKind::Scatter: {
      const Bytes touched = v.operand(2).bytes();
      cost.read = operand_bytes(v, 1);
      if (v.op.attrs.has(AttrKey::Fn)) cost.read += touched;
      cost.written = touched;
      return;
    }
    default:
      cost.read = operand_bytes(v);
      cost.written = result_bytes(v);
  }
}

// --- sub-graphs ---------------------------------------------------------------------------------

/// Costs of functions, by FunctionId.
using Known = std::vector<Cost>;

/// SUB1, SUB2 and SUB3.
Cost sub_graph_cost(const Op& op, const Known& known) {
  const auto of = [&](AttrKey key) { return known[op.attrs.get<FunctionId>(key).index]; };
  if (op.kind == OpKind::Call) return of(AttrKey::Body);
  if (op.kind == OpKind::While) {
    Cost cost = of(AttrKey::Condition);
    cost += of(AttrKey::Body);
    return cost;
  }
  Cost costliest;
  for (FunctionId id : op.attrs.get<std::vector<FunctionId>>(AttrKey::Branches)) {
    const Cost& branch = known[id.index];
    const bool more = branch.total() > costliest.total() ||
                      (branch.total() == costliest.total() &&
                       branch.read + branch.written > costliest.read + costliest.written);
    if (more) costliest = branch;
  }
  return costliest;
}

Cost op_cost(const Function& function, const Op& op, const Known& known) {
  if (op.kind == OpKind::Call || op.kind == OpKind::While || op.kind == OpKind::Conditional) {
    return sub_graph_cost(op, known);
  }
  const View v{function, op};
  Cost cost;
  if (op.kind == OpKind::Reduce && op.attrs.has(AttrKey::Body)) {
    cost = reduce_by_body(v, known[op.attrs.get<FunctionId>(AttrKey::Body).index]);
  } else {
    cost.product = Flops(product_flops(v));
    cost.elementwise = Flops(elementwise_flops(v));
  }
  add_bytes(v, cost);
  return cost;
}

/// Costs of `root` and of all that it calls, into `known`.
void add_costs(const Graph& graph, FunctionId root, Known& known) {
  for (FunctionId id : callees_first(graph, root)) {
    Cost sum;
    const Function& function = graph.function(id);
    for (const Op& op : function.ops) sum += op_cost(function, op, known);
    known[id.index] = sum;
  }
}

}  // namespace

Cost& Cost::operator+=(const Cost& o) {
  product += o.product;
  elementwise += o.elementwise;
  read += o.read;
  written += o.written;
  return *this;
}

Cost operator*(const Cost& c, double times) {
  return {c.product * times, c.elementwise * times, c.read * times, c.written * times};
}

Cost cost_of(const Graph& graph, const Function& function, const Op& op) {
  Known known;
  for (FunctionId id : functions_of(op)) {
    known.resize(graph.functions.size());
    add_costs(graph, id, known);
  }
  return op_cost(function, op, known);
}

Cost cost_of(const Graph& graph, FunctionId function) {
  Known known(graph.functions.size());
  add_costs(graph, function, known);
  return known[function.index];
}

}  // namespace wafer::ir
