#pragma once

#include <cstdint>
#include <optional>
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
  int64_t requests = 1;     ///< whose keys and values are held at once
  bool expand_keys = true;  ///< keys and values are computed for every head, shared or not
};

/// The tiles of one layer of `profile` on its mesh (docs/spec/resident-cost.md, R8). `layer` is one
/// of those of a forward pass of one sample. Throws InputError for what does not lie on a mesh:
/// products of activations other than attention, batched weights.
plan::ResidentLayer resident_layer(const LayerProfile& layer, const ResidentRequest& request);

/// R9: the layers, and the head in the last region. No wafers where a region does not hold one
/// layer. Throws InputError where the mesh is larger than the wafer or the network has no layers.
plan::ResidentPlacement lay_out_resident(const Profile& profile, const machine::Wafer& machine,
                                         const ResidentRequest& request);

/// Throws CapacityError where a region does not hold one layer, or where the network needs more
/// wafers than `systems`; it says how many. `requests` are in flight.
void check_fits(const plan::ResidentPlacement& placed, int64_t requests, int64_t systems);

/// What comes after the layers (the last norm, the output matrix), for one token; empty where
/// nothing with weights does.
std::optional<plan::ResidentLayer> resident_head(const Profile& profile,
                                                 const ResidentRequest& request);

}  // namespace wafer::compile
