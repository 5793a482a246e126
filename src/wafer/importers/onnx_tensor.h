#pragma once

#include <map>
#include <optional>
#include <string>

#include "wafer/base/mapped_file.h"
#include "wafer/importers/known.h"
#include "wafer/importers/onnx_model.h"

namespace wafer::importers {

/// Our type of an ONNX element type (TensorProto.DataType); nothing for strings, complex numbers
/// and types of less than a byte.
std::optional<DType> dtype_of(int32_t onnx_type);
/// The number that ONNX gives our type; nothing for cb16.
std::optional<OnnxType> onnx_type_of(DType dtype);
/// "FLOAT", "INT4", ..: the name in the ONNX specification, or the number.
std::string onnx_type_name(int32_t onnx_type);

/// The dimensions of a stored tensor. Throws InputError when one is negative or the count passes
/// 2^62.
ir::Ints shape_of(const OnnxTensor& tensor);
/// Its type. Throws InputError, naming the tensor, where we have none.
TensorType type_of(const OnnxTensor& tensor);

/// The files beside a model that hold its large tensors. What a model names is looked for in its
/// own folder only: absolute paths, "..", and links that lead out are refused.
class ExternalData {
 public:
  /// No folder: all external data is absent.
  explicit ExternalData(std::optional<std::string> folder = {}) : folder_(std::move(folder)) {}

  /// The bytes of the tensor's elements, or nothing where the file is absent. Throws InputError
  /// when the place is not within the folder or the file, or holds another number of bytes.
  std::optional<std::string_view> bytes(const OnnxTensor& tensor, int64_t expected_bytes);

 private:
  const MappedFile& file(const std::string& path);

  std::optional<std::string> folder_;
  std::map<std::string, MappedFile> files_;
};

/// The elements of a stored tensor, or nothing where its file is absent. Throws InputError when
/// their number does not agree with the shape.
std::optional<Known> read_elements(const OnnxTensor& tensor, WireSource& source,
                                   ExternalData& external);
/// Throws InputError when the tensor's own bytes, if there are any, disagree with its shape.
void check_size(const OnnxTensor& tensor);

}  // namespace wafer::importers
