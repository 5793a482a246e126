// Composites as PyTorch's exporter writes them.
#include <cmath>
#include <numbers>
#include <numeric>

#include "wafer/importers/onnx_exporter.h"
#include "wafer/importers/onnx_model.h"

namespace wafer::importers {
namespace {

using ir::AttrKey;
using ir::Ints;
using ir::OpKind;
using Ports = std::vector<Port>;

float epsilon(const ExportCall& c) {
  return static_cast<float>(c.op.attrs.get<double>(AttrKey::Epsilon));
}

Ports layer_norm(const ExportCall& c) {
  return c.one(c.out.node("LayerNormalization", {c.in(0), c.in(1), c.in(2)},
                          {{"axis", int64_t{-1}}, {"epsilon", epsilon(c)}}));
}

Ports rms_norm(const ExportCall& c) {
  OnnxWriter& out = c.out;
  const std::string square = out.node("Pow", {c.in(0), c.scalar(2)});
  const std::string mean = out.node("ReduceMean", {square, out.ints({-1})});
  const std::string root = out.node(
      "Sqrt", {out.node("Add", {mean, c.scalar(c.op.attrs.get<double>(AttrKey::Epsilon))})});
  const std::string y = out.node("Mul", {c.in(0), out.node("Div", {c.scalar(1), root})});
  return c.one(out.node("Mul", {y, c.in(1)}));
}

/// In training mode; with momentum 0 the running statistics that it gives are those of the batch.
Ports batch_norm(const ExportCall& c) {
  if (c.op.attrs.get<int64_t>(AttrKey::Dim) != 1) {
    OnnxExporter::refuse("normalises another dimension than channels");
  }
  const std::string zeros = c.out.node("Expand", {c.scalar(0), c.to.dims(c.type(1).shape)});
  const std::vector<std::string> results =
      c.out.nodes("BatchNormalization", {c.in(0), c.in(1), c.in(2), zeros, zeros},
                  {{"epsilon", epsilon(c)}, {"momentum", 0.0F}, {"training_mode", int64_t{1}}}, 3);
  Ports ports;
  for (size_t i = 0; i < results.size(); ++i) ports.push_back(port(c.types[i], results[i]));
  return ports;
}

Ports softmax(const ExportCall& c) {
  return c.one(c.out.node("Softmax", {c.in(0)}, {{"axis", int64_t{-1}}}));
}

Ports gelu(const ExportCall& c) {
  OnnxWriter& out = c.out;
  const std::string& x = c.in(0);
  std::string bell;
  if (c.op.attrs.get_or<std::string>(AttrKey::Approximate, "none") == "tanh") {
    const std::string cubic =
        out.node("Mul", {out.node("Pow", {x, c.scalar(3)}), c.scalar(0.044715)});
    constexpr double Slope = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    bell = out.node("Tanh", {out.node("Mul", {out.node("Add", {x, cubic}), c.scalar(Slope)})});
  } else {
    bell = out.node("Erf", {out.node("Div", {x, c.scalar(std::numbers::sqrt2)})});
  }
  const std::string gated = out.node("Mul", {x, out.node("Add", {bell, c.scalar(1)})});
  return c.one(out.node("Mul", {gated, c.scalar(0.5)}));
}

/// x [B, Hk, T, D] with each head repeated for the queries that share it.
std::string repeated_heads(const ExportCall& c, size_t i) {
  const Shape& x = c.type(i).shape;
  const Dim& heads = c.type(0).shape[1];
  if (x[1] == heads) return c.in(i);
  const Dim groups = divide_exact(heads, x[1]).value();
  const std::string column = c.out.node("Unsqueeze", {c.in(i), c.out.ints({2})});
  const Shape apart = {x[0], x[1], groups, x[2], x[3]};
  const std::string wide = c.out.node("Expand", {column, c.to.dims(apart)});
  return c.to.reshape(wide, apart, {x[0], heads, x[2], x[3]});
}

/// bool [S, T]: key j is seen by query i, j <= i + (T - S).
std::string causal_mask(const ExportCall& c) {
  const int64_t s = c.type(0).shape[2].value();
  const int64_t t = c.type(1).shape[2].value();
  OnnxWriter& out = c.out;
  const auto range = [&](int64_t from, int64_t to) {
    return out.node("Range",
                    {out.scalar(static_cast<double>(from), DType::I64),
                     out.scalar(static_cast<double>(to), DType::I64), out.scalar(1, DType::I64)});
  };
  const std::string rows = out.node("Unsqueeze", {range(t - s, t), out.ints({1})});
  return out.node("LessOrEqual", {range(0, t), rows});
}

/// softmax(q k^T scale + bias + causal mask) v
Ports attention(const ExportCall& c) {
  OnnxWriter& out = c.out;
  const std::string keys =
      out.node("Transpose", {repeated_heads(c, 1)}, {{"perm", Ints{0, 1, 3, 2}}});
  std::string scores = out.node("MatMul", {c.in(0), keys});
  scores = out.node("Mul", {scores, c.scalar(c.op.attrs.get<double>(AttrKey::Scale))});
  if (c.operands.size() == 4) {
    scores = out.node("Add", {scores, c.to.stretching(*c.operands[3])});
  }
  if (c.op.attrs.get_or<bool>(AttrKey::Causal, false)) {
    scores = out.node("Where", {causal_mask(c), scores, c.scalar(-HUGE_VAL)});
  }
  const std::string p = out.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  return c.one(out.node("MatMul", {p, repeated_heads(c, 2)}));
}

/// Scores [.., V] and labels [..] in rows, since ONNX wants the classes in dimension 1.
Ports cross_entropy(const ExportCall& c) {
  Shape rows = c.type(1).shape;
  const Dim classes = c.type(0).shape.back();
  const Dim count = element_count(rows);
  std::string scores = c.to.reshape(c.in(0), c.type(0).shape, {count, classes});
  if (c.types[0].dtype != c.type(0).dtype) {
    const auto wide =
        static_cast<int64_t>(c.types[0].dtype == DType::F64 ? OnnxType::Double : OnnxType::Float);
    scores = c.out.node("Cast", {scores}, {{"to", wide}});
  }
  const std::string labels = c.to.reshape(c.in(1), rows, {count});
  const std::string loss =
      c.out.node("SoftmaxCrossEntropyLoss", {scores, labels},
                 {{"ignore_index", c.op.attrs.get_or<int64_t>(AttrKey::IgnoreIndex, -100)},
                  {"reduction", std::string("none")}});
  return c.one(c.to.reshape(loss, {count}, rows));
}

}  // namespace

ExportHandler find_composite_handler(OpKind kind) {
  switch (kind) {
    case OpKind::LayerNorm:
      return layer_norm;
    case OpKind::RmsNorm:
      return rms_norm;
    case OpKind::BatchNorm:
      return batch_norm;
    case OpKind::Softmax:
      return softmax;
    case OpKind::Gelu:
      return gelu;
    case OpKind::Attention:
      return attention;
    case OpKind::CrossEntropy:
      return cross_entropy;
    default:
      return nullptr;
  }
}

}  // namespace wafer::importers
