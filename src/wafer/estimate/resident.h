#pragma once

#include "wafer/estimate/answer.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"
#include "wafer/plan/resident.h"

namespace wafer::estimate {

/// Where the cycles of one layer go, by the rules of docs/spec/resident-cost.md.
struct ResidentCost {
  Cycles products;
  Cycles exchange;  ///< tiles passed on and sums over PEs
  Cycles scalars;
  Cycles total() const { return products + exchange + scalars; }
};

/// R1-R6. One layer of resident inference: all tokens of the prompt, or one more token.
ResidentCost resident_layer(const plan::ResidentLayer& layer, const machine::Wafer& machine);

/// R7, R10-R12. Times of a plan of Target::WaferResident.
ResidentTimes resident_times(const plan::Plan& plan, const machine::Wafer& machine);

/// The answer on such a plan: its step reads a prompt for every request of the batch.
Answer resident(const plan::Plan& plan, const machine::Wafer& machine);

/// R5. Length of the chains that a sum over an edge of `mesh` PEs is first made in: the largest
/// divisor of it that is at most its square root, and what that leaves. Throws InternalError where
/// `mesh` is not positive.
struct Chains {
  int64_t groups = 1;
  int64_t length = 1;
};
Chains chains_of(int64_t mesh);

}  // namespace wafer::estimate
