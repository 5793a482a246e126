#pragma once

#include "wafer/ir/builder.h"
#include "wafer/models/models.h"

namespace wafer::models {

/// Emit one kind of network into main, b's function, from inputs to outputs (see build()). The spec
/// has passed check(); these throw InputError for options that do not fit it.
void build_transformer(ir::Builder& b, const TransformerSpec& spec, const BuildOptions& options);
void build_resnet(ir::Builder& b, const ResNetSpec& spec, const BuildOptions& options);

}  // namespace wafer::models
