#pragma once

#include <string>

#include "wafer/ir/graph.h"

namespace wafer::importers {

/// Writes a forward graph as an ONNX model (opset 18) as PyTorch's exporter would: calls inlined,
/// attention, GELU and RMS norm spelled out, symbolic dimensions as dim_param. Parameters are
/// stored as external data in `<file name>.weights`, which is not written: shapes and types suffice
/// to plan and to estimate. Read again, the graph has the same arithmetic. Throws InputError naming
/// every op that has no ONNX form (gradients, collectives, control flow).
void export_onnx(const ir::Graph& graph, const std::string& path);

/// The same as bytes; `file` is the name that the external data is named after.
std::string onnx_bytes(const ir::Graph& graph, const std::string& file);

}  // namespace wafer::importers
