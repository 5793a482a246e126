#pragma once

// Puts ONNX files together, part by part, for tests.

#include <string>
#include <string_view>
#include <vector>

#include "wafer/importers/onnx_tensor.h"
#include "wafer/importers/onnx_writer.h"

namespace wafer::importers {

inline ir::Literal floats_of(const Shape& shape, std::vector<double> values,
                             DType dtype = DType::F32) {
  ir::Literal literal;
  literal.type = {dtype, shape};
  literal.floats = std::move(values);
  return literal;
}

inline ir::Literal ints_of(const Shape& shape, std::vector<int64_t> values,
                           DType dtype = DType::I64) {
  ir::Literal literal;
  literal.type = {dtype, shape};
  literal.integers = std::move(values);
  return literal;
}

/// A graph being put together; the whole model with bytes().
class TestModel {
 public:
  explicit TestModel(int64_t opset = 18) { opset_import("", opset); }

  /// Dimensions are numbers or names; an empty text is an unknown one.
  TestModel& input(const std::string& name, const std::vector<std::string>& dims,
                   DType dtype = DType::F32) {
    graph_.put(11, value_info(name, dims, dtype));
    return *this;
  }
  TestModel& output(const std::string& name) {
    graph_.put(12, value_info(name, {}, DType::F32));
    return *this;
  }
  /// A stored tensor.
  TestModel& tensor(const std::string& name, const ir::Literal& literal) {
    graph_.put(5, tensor_bytes(name, literal));
    return *this;
  }
  TestModel& raw(uint32_t field, const std::string& bytes) {
    graph_.put(field, std::string_view(bytes));
    return *this;
  }
  TestModel& node(std::string_view op, const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs, const OnnxAttrs& attrs = {},
                  std::string_view domain = "", const std::vector<std::string>& raw_attrs = {}) {
    graph_.put(1, std::string_view(node_bytes(op, inputs, outputs, attrs, domain, raw_attrs)));
    return *this;
  }
  TestModel& opset_import(std::string_view domain, int64_t version) {
    WireWriter opset;
    opset.put(1, domain);
    opset.put(2, version);
    model_.put(8, std::string_view(opset.bytes()));
    return *this;
  }
  /// A FunctionProto of domain "local", opset 18.
  TestModel& function(std::string_view name, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs,
                      const std::vector<std::string>& nodes) {
    WireWriter f;
    f.put(1, name);
    for (const std::string& input : inputs) f.put(4, std::string_view(input));
    for (const std::string& output : outputs) f.put(5, std::string_view(output));
    for (const std::string& n : nodes) f.put(7, std::string_view(n));
    WireWriter opset;
    opset.put(1, std::string_view());
    opset.put(2, int64_t{18});
    f.put(9, std::string_view(opset.bytes()));
    f.put(10, std::string_view("local"));
    model_.put(25, std::string_view(f.bytes()));
    return *this;
  }

  const std::string& graph_bytes() const { return graph_.bytes(); }
  std::string bytes() const {
    WireWriter all = model_;
    all.put(1, int64_t{8});
    all.put(7, std::string_view(graph_.bytes()));
    return all.bytes();
  }

  static std::string node_bytes(std::string_view op, const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs,
                                const OnnxAttrs& attrs = {}, std::string_view domain = "",
                                const std::vector<std::string>& raw_attrs = {}) {
    WireWriter node;
    for (const std::string& input : inputs) node.put(1, std::string_view(input));
    for (const std::string& output : outputs) node.put(2, std::string_view(output));
    node.put(3, std::string_view("n_" + outputs.at(0)));
    node.put(4, op);
    for (const OnnxAttr& attr : attrs) node.put(5, std::string_view(onnx_attribute_bytes(attr)));
    for (const std::string& attr : raw_attrs) node.put(5, std::string_view(attr));
    if (!domain.empty()) node.put(7, domain);
    return node.bytes();
  }
  static std::string graph_attribute(std::string_view name, const TestModel& branch) {
    WireWriter attribute;
    attribute.put(1, name);
    attribute.put(6, std::string_view(branch.graph_bytes()));
    attribute.put(20, static_cast<int64_t>(OnnxAttributeType::Graph));
    return attribute.bytes();
  }
  /// An attribute of a function's node that stands for one of the function.
  static std::string reference_attribute(std::string_view name, std::string_view of,
                                         OnnxAttributeType type) {
    WireWriter attribute;
    attribute.put(1, name);
    attribute.put(20, static_cast<int64_t>(type));
    attribute.put(21, of);
    return attribute.bytes();
  }
  static std::string tensor_bytes(const std::string& name, const ir::Literal& literal) {
    return onnx_tensor_bytes(name, literal);
  }
  static std::string value_info(const std::string& name, const std::vector<std::string>& dims,
                                DType dtype) {
    WireWriter shape;
    for (const std::string& d : dims) {
      WireWriter dim;
      const bool number = !d.empty() && d.find_first_not_of("0123456789") == std::string::npos;
      if (number) dim.put(1, int64_t{std::stoll(d)});
      if (!number && !d.empty()) dim.put(2, std::string_view(d));
      shape.put(1, std::string_view(dim.bytes()));
    }
    WireWriter tensor, type, info;
    tensor.put(1, static_cast<int64_t>(*onnx_type_of(dtype)));
    tensor.put(2, std::string_view(shape.bytes()));
    type.put(1, std::string_view(tensor.bytes()));
    info.put(1, std::string_view(name));
    info.put(2, std::string_view(type.bytes()));
    return info.bytes();
  }

 private:
  WireWriter graph_, model_;
};

}  // namespace wafer::importers
