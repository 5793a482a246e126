#pragma once

#include <string>

#include "wafer/compile/analysis.h"
#include "wafer/compile/streamed.h"

namespace wafer::compile {

/// The last of the request's sparsities that names a parameter of `group`, of main.inputs[input];
/// null where none does. Only what a product multiplies by can be named.
const plan::WeightSparsity* asked_of(const StreamedRequest& request, const ir::Function& main,
                                     const ParameterGroup& group, size_t input);

/// Throws InputError for a pattern of the request that names no weight, with those that there are.
void check_patterns(const StreamedRequest& request, const ir::Function& main,
                    const StepAnalysis& analysis);

}  // namespace wafer::compile
