#include "wafer/importers/onnx_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "wafer/base/error.h"

namespace wafer::importers {
namespace {

namespace fs = std::filesystem;

struct TypeRow {
  OnnxType onnx;
  DType dtype;
};
constexpr std::array<TypeRow, 15> Types = {{{OnnxType::Float, DType::F32},
                                            {OnnxType::Uint8, DType::U8},
                                            {OnnxType::Int8, DType::I8},
                                            {OnnxType::Uint16, DType::U16},
                                            {OnnxType::Int16, DType::I16},
                                            {OnnxType::Int32, DType::I32},
                                            {OnnxType::Int64, DType::I64},
                                            {OnnxType::Bool, DType::Bool},
                                            {OnnxType::Float16, DType::F16},
                                            {OnnxType::Double, DType::F64},
                                            {OnnxType::Uint32, DType::U32},
                                            {OnnxType::Uint64, DType::U64},
                                            {OnnxType::Bfloat16, DType::Bf16},
                                            {OnnxType::Float8e4m3fn, DType::F8e4m3fn},
                                            {OnnxType::Float8e5m2, DType::F8e5m2}}};

std::string label(const OnnxTensor& tensor) { return fmt::format("tensor \"{}\"", tensor.name); }

template <typename T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// One element from its little-endian bytes.
void append_element(Known& known, const char* at) {
  switch (known.dtype) {
    case DType::F64:
      return known.floats.push_back(load<double>(at));
    case DType::F32:
      return known.floats.push_back(load<float>(at));
    case DType::F16:
    case DType::Bf16:
    case DType::Cb16:
      return known.floats.push_back(decode_small_float(known.dtype, load<uint16_t>(at)));
    case DType::F8e4m3fn:
    case DType::F8e5m2:
      return known.floats.push_back(decode_small_float(known.dtype, load<uint8_t>(at)));
    case DType::I64:
    case DType::U64:
      return known.ints.push_back(Dim(load<int64_t>(at)));
    case DType::I32:
      return known.ints.push_back(Dim(load<int32_t>(at)));
    case DType::U32:
      return known.ints.push_back(Dim(load<uint32_t>(at)));
    case DType::I16:
      return known.ints.push_back(Dim(load<int16_t>(at)));
    case DType::U16:
      return known.ints.push_back(Dim(load<uint16_t>(at)));
    case DType::I8:
      return known.ints.push_back(Dim(load<int8_t>(at)));
    case DType::U8:
      return known.ints.push_back(Dim(load<uint8_t>(at)));
    case DType::Bool:
      return known.ints.push_back(Dim(load<uint8_t>(at) != 0));
  }
}

Known empty_known(const OnnxTensor& tensor) {
  const TensorType type = type_of(tensor);
  return {.dtype = type.dtype, .shape = shape_of(tensor), .ints = {}, .floats = {}};
}

Known from_bytes(const OnnxTensor& tensor, std::string_view bytes) {
  Known known = empty_known(tensor);
  const auto width = static_cast<size_t>(size_in_bytes(known.dtype));
  for (size_t at = 0; at + width <= bytes.size(); at += width) {
    append_element(known, bytes.data() + at);
  }
  return known;
}

/// Elements listed in the typed fields of the tensor's message (float_data, int32_data, ..).
Known from_fields(const OnnxTensor& tensor, WireSource& source) {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;
  WireReader reader(source, tensor.message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 4) append_floats(source, field, floats);
    if (field.number == 10) append_doubles(source, field, doubles);
    if (field.number == 5 || field.number == 7 || field.number == 11) {
      append_varints(source, field, integers);
    }
  }
  Known known = empty_known(tensor);
  if (known.dtype == DType::F32) {
    known.floats.assign(floats.begin(), floats.end());
  } else if (known.dtype == DType::F64) {
    known.floats = std::move(doubles);
  } else if (known.is_float_type()) {  // the bits, in int32_data
    for (int64_t bits : integers) {
      known.floats.push_back(decode_small_float(known.dtype, static_cast<uint16_t>(bits)));
    }
  } else {
    for (int64_t value : integers) {
      known.ints.emplace_back(known.dtype == DType::Bool ? static_cast<int64_t>(value != 0)
                                                         : value);
    }
  }
  return known;
}

uint64_t number_of(const OnnxTensor& tensor, std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InputError(
        fmt::format("{}: \"{}\" is not an offset or length of external data", label(tensor), text));
  }
  return value;
}

std::string_view value_of(const OnnxTensor& tensor, std::string_view key) {
  for (const OnnxKeyValue& pair : tensor.external_data) {
    if (pair.key == key) return pair.value;
  }
  return {};
}

/// The path of the tensor's file, which lies within `folder` also after following links.
std::string contained_path(const OnnxTensor& tensor, const std::string& folder) {
  const std::string_view location = value_of(tensor, "location");
  const fs::path relative(location);
  const bool climbs = std::find(relative.begin(), relative.end(), "..") != relative.end();
  const bool has_zero = location.find('\0') != std::string_view::npos;
  if (location.empty() || relative.is_absolute() || climbs || has_zero) {
    throw InputError(
        fmt::format("{}: external data in \"{}\": expected a file in the folder of the model",
                    label(tensor), location));
  }
  std::error_code ignored;  // a path that cannot be resolved does not lie within
  const fs::path root = fs::canonical(folder, ignored);
  const fs::path full = fs::weakly_canonical(root / relative, ignored);
  const auto [end_of_root, rest] =
      std::mismatch(root.begin(), root.end(), full.begin(), full.end());
  if (end_of_root != root.end() || rest == full.end()) {
    throw InputError(fmt::format("{}: external data in \"{}\" leads out of the model's folder",
                                 label(tensor), location));
  }
  return full.string();
}

}  // namespace

std::optional<DType> dtype_of(int32_t onnx_type) {
  for (const TypeRow& row : Types) {
    if (static_cast<int32_t>(row.onnx) == onnx_type) return row.dtype;
  }
  return std::nullopt;
}

std::optional<OnnxType> onnx_type_of(DType dtype) {
  for (const TypeRow& row : Types) {
    if (row.dtype == dtype) return row.onnx;
  }
  return std::nullopt;
}

std::string onnx_type_name(int32_t onnx_type) {
  constexpr std::array<std::string_view, 24> Names = {
      "UNDEFINED",      "FLOAT",      "UINT8",          "INT8",       "UINT16",   "INT16",
      "INT32",          "INT64",      "STRING",         "BOOL",       "FLOAT16",  "DOUBLE",
      "UINT32",         "UINT64",     "COMPLEX64",      "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN",
      "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",      "INT4",     "FLOAT4E2M1"};
  if (onnx_type < 0 || onnx_type >= static_cast<int32_t>(Names.size())) {
    return std::to_string(onnx_type);
  }
  return std::string(Names[static_cast<size_t>(onnx_type)]);
}

ir::Ints shape_of(const OnnxTensor& tensor) {
  Dim count(1);
  if (tensor.dims.size() > 64) {
    throw InputError(fmt::format("{}: has {} dimensions", label(tensor), tensor.dims.size()));
  }
  for (int64_t d : tensor.dims) {
    if (d < 0) throw InputError(fmt::format("{}: dimension {} is negative", label(tensor), d));
    count = count * Dim(d);
  }
  return tensor.dims;
}

TensorType type_of(const OnnxTensor& tensor) {
  const std::optional<DType> dtype = dtype_of(tensor.data_type);
  if (!dtype) {
    throw InputError(fmt::format("{}: elements of type {} are not supported", label(tensor),
                                 onnx_type_name(tensor.data_type)));
  }
  const ir::Ints shape = shape_of(tensor);
  return {*dtype, Shape(shape.begin(), shape.end())};
}

std::optional<std::string_view> ExternalData::bytes(const OnnxTensor& tensor,
                                                    int64_t expected_bytes) {
  if (!folder_) return std::nullopt;
  const std::string path = contained_path(tensor, *folder_);
  if (!fs::exists(path)) return std::nullopt;
  const std::string_view all = file(path).bytes();
  const std::string_view offset_text = value_of(tensor, "offset");
  const std::string_view length_text = value_of(tensor, "length");
  const uint64_t offset = offset_text.empty() ? 0 : number_of(tensor, offset_text);
  const auto expected = static_cast<uint64_t>(expected_bytes);
  const uint64_t length = length_text.empty() ? expected : number_of(tensor, length_text);
  if (offset > all.size() || length > all.size() - offset) {
    throw InputError(fmt::format("{}: {} bytes from byte {} on of {}, which has {}", label(tensor),
                                 length, offset, path, all.size()));
  }
  if (length != expected) {
    throw InputError(fmt::format("{}: {} bytes of external data where its shape has {}",
                                 label(tensor), length, expected));
  }
  return all.substr(offset, length);
}

const MappedFile& ExternalData::file(const std::string& path) {
  const auto found = files_.find(path);
  if (found != files_.end()) return found->second;
  return files_.emplace(path, MappedFile(path)).first->second;
}

std::optional<Known> read_elements(const OnnxTensor& tensor, WireSource& source,
                                   ExternalData& external) {
  const TensorType type = type_of(tensor);
  const auto expected =
      static_cast<int64_t>((Dim(type.elements()) * Dim(size_in_bytes(type.dtype))).value());
  std::optional<Known> known;
  if (tensor.external) {
    const std::optional<std::string_view> bytes = external.bytes(tensor, expected);
    if (!bytes) return std::nullopt;
    return from_bytes(tensor, *bytes);
  }
  check_size(tensor);
  known = tensor.has_raw ? from_bytes(tensor, tensor.raw) : from_fields(tensor, source);
  const size_t found = known->floats.size() + known->ints.size();
  if (found != static_cast<size_t>(type.elements())) {
    throw InputError(fmt::format("{}: {} elements where {} has {}", label(tensor), found,
                                 type.text(), type.elements()));
  }
  return known;
}

void check_size(const OnnxTensor& tensor) {
  if (!tensor.has_raw || tensor.external) return;
  const TensorType type = type_of(tensor);
  const Dim expected = Dim(type.elements()) * Dim(size_in_bytes(type.dtype));
  if (Dim(static_cast<int64_t>(tensor.raw.size())) != expected) {
    throw InputError(fmt::format("{}: {} bytes where {} takes {}", label(tensor), tensor.raw.size(),
                                 type.text(), expected.text()));
  }
}

}  // namespace wafer::importers
