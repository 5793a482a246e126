#include "wafer/importers/onnx_writer.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "wafer/base/error.h"
#include "wafer/importers/onnx_tensor.h"

namespace wafer::importers {
namespace {

// Field numbers: **Source:** onnx/onnx, onnx/onnx.proto3.
constexpr int64_t IrVersion = 8;  // the one that came with opset 18

int32_t type_number(DType dtype) {
  const std::optional<OnnxType> type = onnx_type_of(dtype);
  if (!type) throw InputError(fmt::format("ONNX has no element type {}", wafer::name_of(dtype)));
  return static_cast<int32_t>(*type);
}

template <typename T>
void append_bits(std::string& bytes, T value) {
  char buffer[sizeof(T)];
  std::memcpy(buffer, &value, sizeof(T));
  bytes.append(buffer, sizeof(T));
}

void append_float(std::string& bytes, DType dtype, double value) {
  if (dtype == DType::F64) return append_bits(bytes, value);
  if (dtype == DType::F32) return append_bits(bytes, static_cast<float>(value));
  const uint16_t bits = encode_small_float(dtype, value);
  if (size_in_bytes(dtype) == 2) return append_bits(bytes, bits);
  append_bits(bytes, static_cast<uint8_t>(bits));
}

void append_integer(std::string& bytes, DType dtype, int64_t value) {
  // The low bytes of two's complement, whatever the sign.
  char buffer[sizeof(value)];
  std::memcpy(buffer, &value, sizeof(value));
  bytes.append(buffer, static_cast<size_t>(size_in_bytes(dtype)));
}

std::string raw_data(const ir::Literal& literal) {
  const DType dtype = literal.type.dtype;
  const int64_t repeats = literal.splat ? literal.type.elements() : 1;
  std::string bytes;
  for (int64_t i = 0; i < repeats; ++i) {
    for (double x : literal.floats) append_float(bytes, dtype, x);
    for (int64_t x : literal.integers) append_integer(bytes, dtype, x);
  }
  return bytes;
}

WireWriter tensor_header(const std::string& name, const TensorType& type) {
  WireWriter tensor;
  for (const Dim& d : type.shape) tensor.put(1, d.value());
  tensor.put(2, int64_t{type_number(type.dtype)});
  tensor.put(8, name);
  return tensor;
}

std::string value_info(const std::string& name, const TensorType& type) {
  WireWriter shape;
  for (const Dim& d : type.shape) {
    WireWriter dim;
    if (d.is_static()) {
      dim.put(1, d.value());
    } else {
      dim.put(2, d.text());
    }
    shape.put(1, dim.bytes());
  }
  WireWriter tensor_type;
  tensor_type.put(1, int64_t{type_number(type.dtype)});
  tensor_type.put(2, shape.bytes());
  WireWriter type_proto;
  type_proto.put(1, tensor_type.bytes());
  WireWriter info;
  info.put(1, name);
  info.put(2, type_proto.bytes());
  return info.bytes();
}

struct AttributeWriter {
  WireWriter& out;
  void operator()(int64_t value) const {
    out.put(3, value);
    out.put(20, static_cast<int64_t>(OnnxAttributeType::Int));
  }
  void operator()(float value) const {
    out.put(2, value);
    out.put(20, static_cast<int64_t>(OnnxAttributeType::Float));
  }
  void operator()(const std::string& value) const {
    out.put(4, value);
    out.put(20, static_cast<int64_t>(OnnxAttributeType::String));
  }
  void operator()(const ir::LiteralRef& literal) const {
    out.put(5, onnx_tensor_bytes("", *literal));
    out.put(20, static_cast<int64_t>(OnnxAttributeType::Tensor));
  }
  void operator()(const ir::Ints& values) const {
    for (int64_t value : values) out.put(8, value);
    out.put(20, static_cast<int64_t>(OnnxAttributeType::Ints));
  }
};

std::string key_value(std::string_view key, const std::string& value) {
  WireWriter pair;
  pair.put(1, key);
  pair.put(2, value);
  return pair.bytes();
}

}  // namespace

std::string onnx_attribute_bytes(const OnnxAttr& attr) {
  WireWriter attribute;
  attribute.put(1, attr.name);
  std::visit(AttributeWriter{attribute}, attr.value);
  return attribute.bytes();
}

std::string onnx_tensor_bytes(const std::string& name, const ir::Literal& literal) {
  WireWriter tensor = tensor_header(name, literal.type);
  tensor.put(9, raw_data(literal));
  return tensor.bytes();
}

bool has_onnx_type(DType dtype) { return onnx_type_of(dtype).has_value(); }

void WireWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
  bytes_ += static_cast<char>(value);
}

void WireWriter::put(uint32_t field, int64_t value) {
  varint(field << 3 | static_cast<uint32_t>(WireType::Varint));
  varint(static_cast<uint64_t>(value));
}

void WireWriter::put(uint32_t field, float value) {
  varint(field << 3 | static_cast<uint32_t>(WireType::Fixed32));
  append_bits(bytes_, value);
}

void WireWriter::put(uint32_t field, std::string_view bytes) {
  varint(field << 3 | static_cast<uint32_t>(WireType::Bytes));
  varint(bytes.size());
  bytes_ += bytes;
}

std::vector<std::string> OnnxWriter::nodes(std::string_view op,
                                           const std::vector<std::string>& inputs,
                                           const OnnxAttrs& attrs, size_t results) {
  const std::string path = fmt::format("{}/{}", scope, op);
  const int count = counts_[path]++;
  const std::string name = count == 0 ? path : fmt::format("{}_{}", path, count);
  std::vector<std::string> outputs;
  for (size_t i = 0; i < results; ++i) outputs.push_back(fmt::format("{}_output_{}", name, i));
  write_node(op, name, inputs, attrs, outputs);
  return outputs;
}

void OnnxWriter::alias(const std::string& value, const std::string& name) {
  write_node("Identity", "/" + name, {value}, {}, {name});
}

void OnnxWriter::write_node(std::string_view op, const std::string& name,
                            const std::vector<std::string>& inputs, const OnnxAttrs& attrs,
                            const std::vector<std::string>& outputs) {
  WireWriter node;
  for (const std::string& input : inputs) node.put(1, input);
  for (const std::string& output : outputs) node.put(2, output);
  node.put(3, name);
  node.put(4, op);
  for (const OnnxAttr& attr : attrs) node.put(5, onnx_attribute_bytes(attr));
  nodes_.put(1, node.bytes());
}

std::string OnnxWriter::constant(const ir::Literal& literal) {
  const std::string content = onnx_tensor_bytes("", literal);
  std::string& name = constants_[content];
  if (!name.empty()) return name;
  if (literal.floats.size() > 1) {
    name = node("Constant", {}, {{"value", std::make_shared<const ir::Literal>(literal)}});
  } else {
    name = fmt::format("constant_{}", constants_.size());
    initializers_.put(5, onnx_tensor_bytes(name, literal));
  }
  return name;
}

std::string OnnxWriter::ints(const ir::Ints& values) {
  ir::Literal literal;
  literal.type = {DType::I64, {static_cast<int64_t>(values.size())}};
  literal.integers = values;
  return constant(literal);
}

std::string OnnxWriter::scalar(double value, DType dtype) {
  ir::Literal literal;
  literal.type = {dtype, {}};
  if (is_float(dtype)) {
    literal.floats = {value};
  } else {
    literal.integers = {static_cast<int64_t>(value)};
  }
  return constant(literal);
}

void OnnxWriter::external(const External& tensor) {
  WireWriter out = tensor_header(tensor.name, tensor.type);
  const auto length = static_cast<int64_t>(tensor.type.bytes().value);
  out.put(13, key_value("location", tensor.file));
  out.put(13, key_value("offset", std::to_string(tensor.offset)));
  out.put(13, key_value("length", std::to_string(length)));
  out.put(14, int64_t{1});
  if (!tensor.parameter) out.put(16, key_value(RoleKey, std::string(ConstantRole)));
  initializers_.put(5, out.bytes());
}

void OnnxWriter::input(const std::string& name, const TensorType& type) {
  inputs_.put(11, value_info(name, type));
}

void OnnxWriter::output(const std::string& name, const TensorType& type) {
  outputs_.put(12, value_info(name, type));
}

std::string OnnxWriter::finish(const std::string& graph_name) const {
  std::string graph = nodes_.bytes();
  WireWriter name;
  name.put(2, graph_name);
  graph += name.bytes() + initializers_.bytes() + inputs_.bytes() + outputs_.bytes();
  WireWriter opset;
  opset.put(1, std::string_view());
  opset.put(2, Opset);
  WireWriter model;
  model.put(1, IrVersion);
  model.put(2, std::string_view("OpenWafer"));
  model.put(7, graph);
  model.put(8, opset.bytes());
  return model.bytes();
}

}  // namespace wafer::importers
