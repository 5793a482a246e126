#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wafer::plan {

/// A product spread over a square mesh, by the tile of one PE: [rows, inner] x [inner, columns].
struct MeshProduct {
  std::string name;
  int64_t rows = 1;  ///< 1 when one token is decoded
  int64_t inner = 1;
  int64_t columns = 1;
  bool aligned = false;  ///< its left operand is shifted into place before it starts
};

/// One layer of resident inference on a mesh of mesh x mesh PEs, whose weights lie there.
struct ResidentLayer {
  enum class Part : uint8_t { Prefill, Decode };
  Part part = Part::Prefill;
  int64_t mesh = 1;  ///< PEs of an edge
  std::vector<MeshProduct> products;
  std::vector<int64_t> reductions;  ///< 16-bit words of each PE, summed over a row or column
  double passed_words = 0;          ///< 16-bit words of each PE that a ring of PEs sums
  double scalar_functions = 0;      ///< exponentials and divisions of each PE
};

/// How the repeated layers of a network lie on wafers (docs/spec/resident-cost.md, R9). Bytes are
/// of one PE.
struct ResidentPlacement {
  int64_t mesh = 1;         ///< PEs of an edge of the square region that a layer lies on
  double weight_bytes = 0;  ///< of the largest layer
  double cache_bytes = 0;   ///< its keys and values, of all requests in flight
  double head_bytes = 0;    ///< of what comes after the layers; in the last region
  double room_bytes = 0;    ///< that a PE has for all this
  int64_t layers = 0;
  int64_t regions_of_wafer = 0;
  int64_t layers_of_region = 0;  ///< that fit
  int64_t wafers = 0;            ///< that one replica needs
  double layer_bytes() const { return weight_bytes + cache_bytes; }
  /// Regions that layers are dealt to: all of its wafers, if there are layers enough.
  int64_t regions() const;
  int64_t layers_of_fullest() const { return (layers + regions() - 1) / regions(); }
};

/// Layers of one kind: what a prompt and what one more token costs them.
struct ResidentKind {
  std::string name;
  double times = 1;
  ResidentLayer prefill;
  std::optional<ResidentLayer> decode;  ///< where the network generates
};

/// A network whose weights lie on wafers, as a plan of Target::WaferResident has it.
struct Resident {
  ResidentPlacement placed;
  int64_t requests = 1;  ///< in flight in a replica
  int64_t replicas = 1;
  std::vector<ResidentKind> kinds;
  std::optional<ResidentLayer> head;  ///< what comes after the layers, for one token
  int64_t hidden_words = 1;  ///< 16-bit words of a PE that a layer hands on, a row of tokens
  int64_t token_rows = 1;    ///< rows of tokens of a PE, in a prompt
};

}  // namespace wafer::plan
