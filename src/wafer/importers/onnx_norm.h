#pragma once

#include "wafer/importers/onnx_call.h"

namespace wafer::importers {

/// Input i as scale or bias of rows of `size` elements.
Term norm_row(OnnxCall& c, size_t i, const Dim& size);

}  // namespace wafer::importers
