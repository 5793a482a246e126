#pragma once

#include "wafer/compile/streamed.h"
#include "wafer/machine/machine.h"
#include "wafer/study/question.h"

namespace wafer::study {

/// What the zeros of a question gain over the same question asked dense, each with the micro-batch
/// that suits it best; priced by estimate::streamed, some forty plans.
SparseGain sparse_gain(const Question& question, const compile::StreamedCompiler& compiler,
                       const machine::Wafer& machine, const estimate::Answer& answer);

}  // namespace wafer::study
