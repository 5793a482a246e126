#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/importers/onnx_wire.h"

namespace wafer::importers {

// The parts of an ONNX file that an importer needs, as they stand there; texts are views into the
// file. **Source:** onnx/onnx, onnx/onnx.proto3 (field numbers and meaning).

/// Element types of TensorProto.
enum class OnnxType : int32_t {
  Undefined = 0,
  Float = 1,
  Uint8 = 2,
  Int8 = 3,
  Uint16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  Uint32 = 12,
  Uint64 = 13,
  Bfloat16 = 16,
  Float8e4m3fn = 17,
  Float8e5m2 = 19,
};

struct OnnxKeyValue {
  std::string_view key, value;
};

struct OnnxTensor {
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t data_type = 0;
  std::string_view message;  ///< the whole TensorProto: its elements are read when they are needed
  bool has_raw = false;
  std::string_view raw;
  bool external = false;
  std::vector<OnnxKeyValue> external_data;
  std::vector<OnnxKeyValue> metadata;
};

/// By this entry of its metadata, our own files say that a stored tensor is no parameter.
inline constexpr std::string_view RoleKey = "openwafer.role";
inline constexpr std::string_view ConstantRole = "constant";

struct OnnxGraph;

/// The kind of an attribute's value. **Source:** AttributeProto.AttributeType.
enum class OnnxAttributeType : int32_t {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
};

struct OnnxAttribute {
  std::string_view name;
  std::string_view reference;  ///< the attribute of the enclosing function that it stands for
  int32_t type = 0;            ///< OnnxAttributeType, or one that no supported op has
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<OnnxTensor> tensors;  ///< at most one: field t
  std::vector<OnnxGraph> graphs;    ///< at most one: field g
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
};

struct OnnxNode {
  std::string_view name, op_type, domain;
  std::vector<std::string_view> inputs, outputs;
  std::vector<OnnxAttribute> attributes;
  std::vector<OnnxKeyValue> metadata;
};

/// One dimension: a number, a name, or (neither) unknown.
struct OnnxDim {
  bool has_value = false;
  int64_t value = 0;
  std::string_view param;
};

struct OnnxValueInfo {
  std::string_view name;
  bool is_tensor = false;  ///< sequences, maps and optionals are not
  int32_t element_type = 0;
  bool has_shape = false;
  std::vector<OnnxDim> shape;
};

struct OnnxGraph {
  std::string_view name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValueInfo> inputs, outputs;
  bool has_sparse_initializers = false;
};

struct OnnxOpset {
  std::string_view domain;
  int64_t version = 0;
};

struct OnnxFunction {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<OnnxAttribute> defaults;  ///< attributes that have a default value
  std::vector<OnnxNode> nodes;
  std::vector<OnnxOpset> opsets;
};

struct OnnxModel {
  int64_t ir_version = 0;
  std::string_view producer;
  std::vector<OnnxOpset> opsets;
  bool has_graph = false;
  OnnxGraph graph;
  std::vector<OnnxFunction> functions;
};

/// Reads a ModelProto. Throws InputError with the byte where the file is not one: truncated,
/// lengths that pass their message, sub-graphs nested deeper than 16, more than four million parts.
OnnxModel parse_onnx_model(WireSource& source);

}  // namespace wafer::importers
