#pragma once

#include "wafer/importers/onnx_call.h"

namespace wafer::importers {

/// A window that slides over the spatial dimensions of [batch, channels, d..]; one entry each.
struct SpatialWindow {
  ir::Ints kernel, strides, dilations;
  ir::Ints low, high;  ///< padding before and behind
};

/// From the attributes strides, dilations, pads and auto_pad, for an input of shape x.
SpatialWindow spatial_window(const OnnxCall& c, const Shape& x, const ir::Ints& kernel);

}  // namespace wafer::importers
