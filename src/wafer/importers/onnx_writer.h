#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "wafer/ir/op.h"

namespace wafer::importers {

/// Fields of a protobuf message, in the order in which they are put.
class WireWriter {
 public:
  void put(uint32_t field, int64_t value);
  void put(uint32_t field, float value);
  void put(uint32_t field, std::string_view bytes);
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value);
  std::string bytes_;
};

/// An attribute of a node.
struct OnnxAttr {
  std::string_view name;
  std::variant<int64_t, float, std::string, ir::Ints, ir::LiteralRef> value;
};
using OnnxAttrs = std::vector<OnnxAttr>;

/// Puts an ONNX model together. Values go by names, which the writer makes.
class OnnxWriter {
 public:
  static constexpr int64_t Opset = 18;

  /// Path that the names of the next nodes begin with, "/layer.0/attention" or empty.
  std::string scope;

  /// The names of the results of a new node.
  std::vector<std::string> nodes(std::string_view op, const std::vector<std::string>& inputs,
                                 const OnnxAttrs& attrs, size_t results);
  std::string node(std::string_view op, const std::vector<std::string>& inputs,
                   const OnnxAttrs& attrs = {}) {
    return nodes(op, inputs, attrs, 1).front();
  }

  /// Gives a value another name.
  void alias(const std::string& value, const std::string& name);

  /// A constant; equal ones are written once. Several floats go into a node, so that they are not
  /// taken for a parameter; the rest is stored. Splats are written out.
  std::string constant(const ir::Literal& literal);
  std::string ints(const ir::Ints& values);  ///< i64 [n]
  std::string scalar(double value, DType dtype);
  /// A tensor whose data is in another file, from `offset` on. One that is no parameter is marked
  /// so in its metadata.
  struct External {
    std::string name;
    TensorType type;
    std::string file;
    int64_t offset = 0;
    bool parameter = true;
  };
  void external(const External& tensor);

  void input(const std::string& name, const TensorType& type);
  void output(const std::string& name, const TensorType& type);

  /// The bytes of the model.
  std::string finish(const std::string& graph_name) const;

 private:
  void write_node(std::string_view op, const std::string& name,
                  const std::vector<std::string>& inputs, const OnnxAttrs& attrs,
                  const std::vector<std::string>& outputs);

  WireWriter nodes_, initializers_, inputs_, outputs_;
  std::map<std::string, std::string> constants_;  ///< names by content
  std::map<std::string, int> counts_;             ///< of node names
};

/// AttributeProto and TensorProto (with raw data) of these.
std::string onnx_attribute_bytes(const OnnxAttr& attr);
std::string onnx_tensor_bytes(const std::string& name, const ir::Literal& literal);
/// Whether ONNX has the element type.
bool has_onnx_type(DType dtype);

}  // namespace wafer::importers
