#pragma once

#include "wafer/importers/onnx_exporter.h"

namespace wafer::importers {

using Ports = std::vector<Port>;

/// The number of an element type in ONNX. Throws InputError when there is none.
int64_t export_type(DType dtype);
/// x is what fn starts from in that type.
bool is_neutral_element(ir::ElementFn fn, std::optional<double> x, DType dtype);

/// MatMul where the dimensions are as it wants them, perhaps with the right side transposed; else
/// Einsum.
Ports export_dot_general(const ExportCall& c);
Ports export_convolution(const ExportCall& c);
Ports export_reduce_window(const ExportCall& c);
/// Gather of whole rows as Gather, others that address leading dimensions as GatherND.
Ports export_gather(const ExportCall& c);
/// Scatter of whole rows of the leading dimensions as ScatterND.
Ports export_scatter(const ExportCall& c);

}  // namespace wafer::importers
