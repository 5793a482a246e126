#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wafer/compile/profile.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/resident.h"

namespace wafer::compile {

/// What a network is spread over a mesh for.
struct ResidentRequest {
  plan::ResidentLayer::Part part = plan::ResidentLayer::Part::Prefill;
  int64_t mesh = 1;         ///< PEs of an edge of the square that one layer lies on
  int64_t tokens = 1;       ///< of the prompt, or in the cache
  bool expand_keys = true;  ///< keys and values are computed for every head, shared or not
};

/// The tiles of one layer of `profile` on its mesh (docs/spec/resident-cost.md, R8). `layer` is one
/// of those of a forward pass of one sample. Throws InputError for what does not lie on a mesh:
/// products of activations other than attention, batched weights.
plan::ResidentLayer resident_layer(const LayerProfile& layer, const ResidentRequest& request);

/// How the repeated layers of a network lie on wafers.
struct ResidentPlacement {
  double bytes_of_pe = 0;  ///< weights and cached keys and values of the largest layer
  int64_t layers = 0;
  int64_t regions_of_wafer = 0;
  int64_t layers_of_region = 0;
  int64_t wafers = 0;  ///< needed
};

/// R9. Throws InputError where the mesh is larger than the wafer, CapacityError where a mesh does
/// not hold one layer, or where the network needs more wafers than `systems`; it says how many.
ResidentPlacement place_resident(const Profile& profile, const machine::Wafer& machine,
                                 const ResidentRequest& request, int64_t systems);

}  // namespace wafer::compile
