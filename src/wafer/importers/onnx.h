#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wafer/ir/graph.h"

namespace wafer::importers {

/// What the user says about an ONNX file.
struct OnnxOptions {
  /// Values of symbolic dimensions by the file's own names (dim_param). An unnamed dimension d of
  /// input x goes by the name "x.d".
  DimBindings dims;
  /// Values of the usual names of the batch ("batch", "batch_size", "N", ..) and of the sequence
  /// ("seq", "seq_len", "sequence_length", ..), where `dims` does not give them. The batch stays
  /// the symbol ir::BatchSymbol where the graph permits; its value is used only where it does not.
  std::optional<int64_t> batch;
  std::optional<int64_t> seq;
  /// Read inference-mode BatchNormalization as normalising with the statistics of the batch, which
  /// is what training does.
  bool batch_statistics = false;
  /// Turn spelled-out layer norms, GELUs, attention, .. into composites.
  bool recognize = true;
};

/// The graph of an ONNX model (opset 7 to 28; docs/onnx.md lists the ops). Float initializers are
/// parameters, named as in the file; weights are not read and may be absent. Functions are inlined,
/// shape arithmetic is folded, each op's location is "FILE:NODE". The result is verified.
/// Throws InputError: a file that is not ONNX, and, all at once, every op that is not supported
/// (node, op, domain, opset, input types) and every dimension that has no value.
ir::Graph import_onnx(const std::string& path, const OnnxOptions& options = {});

/// The same from bytes in memory; external data is taken as absent. `name` stands for the file in
/// messages and locations.
ir::Graph import_onnx_bytes(std::string_view bytes, const std::string& name,
                            const OnnxOptions& options = {});

}  // namespace wafer::importers
