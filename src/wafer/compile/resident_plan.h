#pragma once

#include <optional>
#include <string>

#include "wafer/compile/profile.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"

namespace wafer::compile {

/// What a plan with resident weights is asked for. What is absent is chosen.
struct ResidentQuestion {
  int64_t systems = 1;            ///< wafers
  int64_t batch = 1;              ///< requests in flight over all of them
  std::optional<int64_t> mesh{};  ///< PEs of an edge of the region of a layer
};

/// Compiles one network for inference with weights that stay on wafers
/// (docs/spec/resident-cost.md). The graph is looked at once.
class ResidentCompiler {
 public:
  /// `forward` is a forward graph; all symbols but `batch` are bound. Throws InputError for others,
  /// for a graph without parameters and for one that takes several samples at once only.
  ResidentCompiler(const ir::Graph& forward, int64_t tokens_per_sample);

  /// The plan on the mesh asked for, with as many wafers as it needs (Plan::systems), be they more
  /// than asked; or on the mesh that reads a prompt and makes as many tokens soonest and fits.
  /// Throws InputError where the request or the network does not suit, CapacityError where nothing
  /// fits; it says what would.
  plan::Plan plan(const machine::Wafer& machine, const ResidentQuestion& question) const;

  const Profile& profile() const { return profile_; }

 private:
  plan::Plan on_mesh(const machine::Wafer& machine, const ResidentQuestion& question,
                     int64_t mesh) const;
  plan::Plan on_best_mesh(const machine::Wafer& machine, const ResidentQuestion& question) const;

  std::string model_;
  Profile profile_;
};

}  // namespace wafer::compile
