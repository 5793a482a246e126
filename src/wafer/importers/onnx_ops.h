#pragma once

#include <span>
#include <string_view>

#include "wafer/importers/onnx_call.h"

namespace wafer::importers {

inline constexpr std::string_view MicrosoftDomain = "com.microsoft";

/// One supported op.
struct OnnxOp {
  std::string_view name;
  OnnxHandler handler;
};

// The ops of the standard domain, by kind, ..
std::span<const OnnxOp> onnx_elementwise_ops();
std::span<const OnnxOp> onnx_activation_ops();
std::span<const OnnxOp> onnx_shape_ops();
std::span<const OnnxOp> onnx_layout_ops();
std::span<const OnnxOp> onnx_index_ops();
std::span<const OnnxOp> onnx_reduce_ops();
std::span<const OnnxOp> onnx_window_ops();
std::span<const OnnxOp> onnx_product_ops();
std::span<const OnnxOp> onnx_norm_ops();
std::span<const OnnxOp> onnx_attention_ops();
// .. and those of com.microsoft.
std::span<const OnnxOp> onnx_contrib_ops();

/// The handler of an op; null when it is not supported. "ai.onnx" is the standard domain.
OnnxHandler find_onnx_handler(std::string_view domain, std::string_view op);
/// The names of a domain's supported ops, sorted.
std::vector<std::string_view> supported_onnx_ops(std::string_view domain);

}  // namespace wafer::importers
