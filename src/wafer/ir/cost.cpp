#include "wafer/ir/cost.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "wafer/ir/convolution.h"

// The rules (F1, F2, ...) are numbered in docs/spec/ops.md.

namespace wafer::ir {
namespace {

using CostOfFunction = std::map<FunctionId, Cost>;

double count(const TensorType& type) { return static_cast<double>(type.elements()); }

/// One op with the types of its operands and results at hand.
struct View {
  const Function& function;
  const Op& op;
  const TensorType& in(size_t i) const { return function.type_of(op.operands[i]); }
  const TensorType& out(size_t i = 0) const { return function.type_of(op.results[i]); }
};

/// F2. Each multiply-add is two.
Flops dot_flops(const View& v) {
  double depth = 1;
  for (int64_t d : v.op.attrs.get<DimPairs>(AttrKey::Contract).lhs) {
    depth *= static_cast<double>(v.in(0).shape[static_cast<size_t>(d)].value());
  }
  return Flops(2 * count(v.out()) * depth);
}

/// Pairs of an output place and a kernel tap along one dimension that meet an element of the input
/// or its padding, not a hole of its dilation.
double tap_pairs(const ConvolutionSpec& spec, size_t d, int64_t places, int64_t taps) {
  const int64_t holes = spec.lhs_dilation[d];
  if (holes == 1) return static_cast<double>(places) * static_cast<double>(taps);
  double pairs = 0;
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t place = 0; place < places; ++place) {
      const int64_t at = place * spec.strides[d] + tap * spec.rhs_dilation[d] - spec.padding_low[d];
      pairs += at % holes == 0;
    }
  }
  return pairs;
}

/// F2. Padding counts as the usual figure of a network does (2 x output x taps x input features of
/// a group); holes of a dilated input do not.
Flops convolution_flops(const View& v) {
  const ConvolutionSpec spec = convolution_spec(v.op.attrs, v.in(0).rank());
  const Shape& out = v.out().shape;
  const Shape& kernel = v.in(1).shape;
  double pairs = 1;
  for (size_t d = 0; d < spec.strides.size(); ++d) {
    pairs *= tap_pairs(spec, d, out[spec.output.spatial[d]].value(),
                       kernel[spec.kernel.spatial[d]].value());
  }
  const double features = static_cast<double>(
      (out[spec.output.batch] * out[spec.output.feature] * kernel[spec.kernel.feature]).value());
  return Flops(2 * features * pairs);
}

double window_elements(const View& v) {
  double n = 1;
  for (int64_t d : v.op.attrs.get<Ints>(AttrKey::Window)) n *= static_cast<double>(d);
  return n;
}

/// F6. Arithmetic of composites, of each element of the first operand, as their decompositions
/// spell it out: (maximum, subtract, exp, add, divide) of softmax and so on.
double composite_flops_per_element(const Op& op) {
  switch (op.kind) {
    case OpKind::LayerNorm:
    case OpKind::BatchNorm:
      return 7;
    case OpKind::LayerNormGrad:
    case OpKind::BatchNormGrad:
      return 14;
    case OpKind::RmsNorm:
      return 4;
    case OpKind::RmsNormGrad:
      return 11;
    case OpKind::Softmax:
      return 5;
    case OpKind::SoftmaxGrad:
      return 4;
    case OpKind::Gelu:
      return op.attrs.get<std::string>(AttrKey::Approximate) == "tanh" ? 8 : 5;
    case OpKind::GeluGrad:
      return op.attrs.get<std::string>(AttrKey::Approximate) == "tanh" ? 17 : 11;
    case OpKind::CrossEntropy:
      return 5;
    case OpKind::CrossEntropyGrad:
      return 5;
    default:
      return 0;
  }
}

/// F7. Two products over all S x T scores forward (causal or not), four backward: the gradient
/// takes the probabilities from the forward pass or its recomputation.
void add_attention(const View& v, Cost& cost) {
  const Shape& q = v.in(0).shape;
  const double scores = static_cast<double>((q[0] * q[1] * q[2] * v.in(1).shape[2]).value());
  const double depth = static_cast<double>(q[3].value() + v.in(2).shape[3].value());
  const bool grad = v.op.kind == OpKind::AttentionGrad;
  const bool bias = v.op.operands.size() == (grad ? 5u : 4u);
  cost.product = Flops(2 * scores * depth * (grad ? 2 : 1));
  cost.elementwise = Flops(scores * ((grad ? 5 : 6) + (bias && !grad ? 1 : 0)));
}

Flops elementwise_flops(const View& v) {
  switch (v.op.kind) {
    case OpKind::Elementwise:
      return Flops(count(v.out()));  // F3
    case OpKind::Reduce:
    case OpKind::ArgReduce:
    case OpKind::Cumulative:
      return Flops(count(v.in(0)) *  // F4
                   static_cast<double>(v.op.results.size()));
    case OpKind::ReduceWindow:
      return Flops(count(v.out()) * window_elements(v));
    case OpKind::SelectAndScatter:
      return Flops(count(v.in(1)) * (window_elements(v) + 1));
    case OpKind::Sort: {
      const auto dim = static_cast<size_t>(v.op.attrs.get<int64_t>(AttrKey::Dim));
      const auto length = static_cast<uint64_t>(std::max<int64_t>(v.in(0).shape[dim].value(), 1));
      return Flops(count(v.in(0)) * static_cast<double>(std::bit_width(length - 1)));
    }
    case OpKind::Scatter:
      return Flops(count(v.in(2)));  // F5
    case OpKind::AllReduce:
    case OpKind::ReduceScatter:
      return Flops(count(v.in(0)));
    default:
      break;
  }
  const double per_element = composite_flops_per_element(v.op);
  return Flops(per_element == 0 ? 0 : per_element * count(v.in(0)));
}

/// F8. Each operand is read once and each result written once.
void add_bytes(const View& v, Cost& cost) {
  const std::set<ValueId> read(v.op.operands.begin(), v.op.operands.end());
  for (ValueId id : read) cost.read += v.function.type_of(id).bytes();
  for (ValueId id : v.op.results) cost.written += v.function.type_of(id).bytes();
}

Cost cost_of_function(const Graph& graph, FunctionId id, CostOfFunction& known);

Cost cost_of_op(const Graph& graph, const Function& function, const Op& op, CostOfFunction& known) {
  Cost cost;
  if (op.kind == OpKind::Constant) return cost;
  const View v{function, op};
  switch (op.kind) {
    case OpKind::Call:
    case OpKind::While:  // F9: the body once, since its trip count is not in the graph
      for (FunctionId callee : functions_of(op)) cost += cost_of_function(graph, callee, known);
      return cost;
    case OpKind::Conditional:  // F9: the dearest branch
      for (FunctionId callee : functions_of(op)) {
        const Cost branch = cost_of_function(graph, callee, known);
        if (branch.total() > cost.total()) cost = branch;
      }
      return cost;
    case OpKind::DotGeneral:
      cost.product = dot_flops(v);
      break;
    case OpKind::Convolution:
      cost.product = convolution_flops(v);
      break;
    case OpKind::Attention:
    case OpKind::AttentionGrad:
      add_attention(v, cost);
      break;
    default:
      cost.elementwise = elementwise_flops(v);
      break;
  }
  add_bytes(v, cost);
  return cost;
}

Cost cost_of_function(const Graph& graph, FunctionId id, CostOfFunction& known) {
  const auto found = known.find(id);
  if (found != known.end()) return found->second;
  Cost cost;
  for (const Op& op : graph.function(id).ops) {
    cost += cost_of_op(graph, graph.function(id), op, known);
  }
  known[id] = cost;
  return cost;
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
  CostOfFunction known;
  return cost_of_op(graph, function, op, known);
}

Cost cost_of(const Graph& graph, FunctionId function) {
  CostOfFunction known;
  return cost_of_function(graph, function, known);
}

}  // namespace wafer::ir
