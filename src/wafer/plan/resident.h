#pragma once

#include <cstdint>
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

}  // namespace wafer::plan
