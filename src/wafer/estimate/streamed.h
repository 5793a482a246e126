#pragma once

#include "wafer/estimate/answer.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"

namespace wafer::estimate {

/// Time, traffic, memory and energy of a step of a weight-streamed plan (one evaluation pass for an
/// inference plan) on the wafer that it was made for. Reads the plan and nothing else about the
/// network; docs/spec/streamed-cost.md has the numbered rules.
Answer streamed(const plan::Plan& plan, const machine::Wafer& machine);

}  // namespace wafer::estimate
