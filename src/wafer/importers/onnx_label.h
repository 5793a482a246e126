#pragma once

#include <string>

#include "wafer/importers/onnx_model.h"

namespace wafer::importers {

/// What reports call the place of a node in its model. It labels, and means nothing.
struct OnnxLabel {
  std::string layer;  ///< "layer.3": the first part of the path that ends in a number; or empty
  std::string scope;  ///< the rest of the path, "attention/self/query"
};

/// From the module path that PyTorch's exporter writes in the node's metadata, else from the node's
/// name when it is a path ("/bert/encoder/layer.3/attention/self/query/MatMul").
OnnxLabel label_of(const OnnxNode& node, std::string_view prefix);

}  // namespace wafer::importers
