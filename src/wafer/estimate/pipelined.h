#pragma once

#include "wafer/base/dtype.h"
#include "wafer/estimate/answer.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"

namespace wafer::estimate {

/// Weights of a product or table that a PE holds at most: P1 of docs/spec/pipelined-cost.md.
double most_weights_of_pe(const machine::Wafer& machine, DType precision);

/// P2. Weights of a PE of a product that takes a sample each period; 0 where no number of PEs is
/// enough.
double weights_of_pe(const plan::PipelineKernel& product, Cycles period,
                     const machine::Wafer& machine, DType precision);

/// P2-P6. PEs of a kernel or FIFO that takes a sample each period; infinite where no number is
/// enough.
double pipelined_pes(const plan::PipelineKernel& kernel, Cycles period,
                     const machine::Wafer& machine, DType precision);

/// P8-P11. What a training step of a pipelined plan takes, on the wafer that it was made for.
Answer pipelined(const plan::Plan& plan, const machine::Wafer& machine);

}  // namespace wafer::estimate
