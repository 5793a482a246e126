#include "wafer/estimate/resident.h"

#include <cmath>

#include "wafer/base/error.h"

namespace wafer::estimate {
namespace {

using plan::MeshProduct;
using plan::ResidentLayer;

constexpr double HopsOfChains = 2.5;  // router and ramp, there and back, of half a chain
constexpr double CyclesOfWord = 3;    // a word is received, added and sent on
constexpr double WordsOfWavelet = 2;  // 16-bit words that a link takes in a cycle

// R1.
Cycles vector_cycles(int64_t elements, const machine::Wafer& m) {
  const double lanes = m.lanes.f16_multiply_add.value;
  const Cycles even =
      m.resident.vector_start.value + Cycles(std::ceil(static_cast<double>(elements) / lanes));
  return elements > 1 && elements % 2 == 1 ? even + m.resident.odd_vector.value : even;
}

// R2 and R3: every PE meets the tiles of all PEs of its row; of one token, it has its own alone.
ResidentCost product_cost(const ResidentLayer& layer, const MeshProduct& p,
                          const machine::Wafer& m) {
  const auto inner = static_cast<double>(p.inner);
  if (layer.part == ResidentLayer::Part::Decode) {
    return {.products = inner * vector_cycles(p.columns, m)};
  }
  const auto mesh = static_cast<double>(layer.mesh);
  const double vectors = mesh * inner * static_cast<double>(p.columns);
  const double steps = mesh * (p.aligned ? 1.5 : 1);
  return {.products = vectors * vector_cycles(p.rows, m),
          .exchange = steps * m.resident.shift_step.value};
}

// R5.
Cycles reduction_cycles(int64_t words, int64_t mesh, const machine::Wafer& m) {
  const Chains chains = chains_of(mesh);
  const auto ends = static_cast<double>(chains.groups + chains.length);
  return m.resident.reduction_hop.value * static_cast<double>(mesh) +
         Cycles(HopsOfChains * ends + CyclesOfWord * static_cast<double>(words)) +
         m.resident.reduction.value;
}

}  // namespace

Chains chains_of(int64_t mesh) {
  WAFER_CHECK(mesh > 0, "a mesh has PEs");
  auto groups = static_cast<int64_t>(std::sqrt(static_cast<double>(mesh)));
  while (mesh % groups != 0) --groups;
  return {groups, mesh / groups};
}

ResidentCost resident_layer(const ResidentLayer& layer, const machine::Wafer& machine) {
  ResidentCost cost;
  for (const MeshProduct& product : layer.products) {
    const ResidentCost one = product_cost(layer, product, machine);
    cost.products += one.products;
    cost.exchange += one.exchange;
  }
  for (const int64_t words : layer.reductions) {
    cost.exchange += reduction_cycles(words, layer.mesh, machine);
  }
  // R4.
  cost.exchange += Cycles(static_cast<double>(layer.mesh) * layer.passed_words / WordsOfWavelet);
  // R6.
  cost.scalars = layer.scalar_functions * machine.resident.scalar_function.value;
  return cost;
}

}  // namespace wafer::estimate
