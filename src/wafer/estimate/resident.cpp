#include "wafer/estimate/resident.h"

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/machine/figures.h"

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

namespace {

class Clock {
 public:
  explicit Clock(const machine::Wafer& m) : hertz_(m.resident.clock.value) {}
  Seconds operator()(Cycles cycles) const { return time_of(cycles, hertz_); }

 private:
  Hertz hertz_;
};

// R10. From region to region of a wafer: what a row of PEs sends passes over one link of the
// border, two 16-bit words a cycle.
Cycles region_cycles(double words_of_link, const plan::ResidentPlacement& at,
                     const machine::Wafer& m) {
  const Cycles hops = static_cast<double>(at.mesh) * m.router.hop.value + 2 * m.router.ramp.value;
  return hops + Cycles(words_of_link / WordsOfWavelet);
}

// R11. From wafer to wafer: through both edges, and a switch between them.
Seconds wafer_time(Bytes bytes, const machine::Wafer& m) {
  const BytesPerSecond rate = std::min(m.io.in.value, m.io.out.value);
  return time_of(bytes, rate) + m.reduce_tree.level_latency.value;
}

ResidentPart part_of(const plan::Resident& r, ResidentLayer::Part part, const machine::Wafer& m) {
  const Clock time(m);
  const bool prefill = part == ResidentLayer::Part::Prefill;
  ResidentPart all;
  Seconds longest;  // of one layer
  for (const plan::ResidentKind& kind : r.kinds) {
    const ResidentCost cost = resident_layer(prefill ? kind.prefill : *kind.decode, m);
    all.products += time(cost.products) * kind.times;
    all.exchange += time(cost.exchange) * kind.times;
    all.scalars += time(cost.scalars) * kind.times;
    longest = std::max(longest, time(cost.total()));
  }
  const plan::ResidentPlacement& at = r.placed;
  const auto words = static_cast<double>(prefill ? r.token_rows * r.hidden_words : r.hidden_words);
  const auto edges = static_cast<double>(at.wafers - 1);
  const auto borders = std::max(0.0, static_cast<double>(at.regions() - 1) - edges);
  // One token's words lie on the PEs of one edge, a prompt's on all: rows of them share a link.
  const auto edge = static_cast<double>(at.mesh);
  const double of_link = prefill ? words * edge : words;
  all.hand_over = time(region_cycles(of_link, at, m)) * borders +
                  wafer_time(Bytes(2 * of_link * edge), m) * edges;
  // R12.
  if (r.head) all.head = time(resident_layer(*r.head, m).total());
  // A request follows when the fullest region is through with the one before it.
  const Seconds stage = longest * static_cast<double>(at.layers_of_fullest()) + all.head;
  all.step = all.latency() + stage * static_cast<double>(r.requests - 1);
  if (!prefill) all.step = std::max(all.latency(), stage * static_cast<double>(r.requests));
  return all;
}

// As W11 of docs/spec/streamed-cost.md: idle power all the time, the rest as the lanes work.
Joules energy(Flops flops, Seconds time, double systems, const machine::Wafer& m) {
  const double peak = machine::peak_flops(m, machine::Arithmetic::F16).value * systems;
  const double busy = std::min(1.0, flops.value / (peak * time.value));
  const double idle = m.power.idle_share.value;
  return energy_of(m.power.peak.value * (idle + (1 - idle) * busy) * systems, time);
}

// What the launches of the layers of one token do, head included.
Flops flops_of_token(const plan::Plan& plan) {
  Flops sum;
  for (const plan::ResidentKind& kind : plan.resident->kinds) {
    for (const MeshProduct& p : kind.decode->products) {
      const auto pes = static_cast<double>(kind.decode->mesh * kind.decode->mesh);
      sum += Flops(2 * pes * static_cast<double>(p.inner * p.columns)) * kind.times;
    }
  }
  return sum;
}

LayerCost layer_cost(const ResidentPart& part, const plan::Plan& plan, Flops flops) {
  const plan::Resident& r = *plan.resident;
  LayerCost cost{.name = "layer", .times = static_cast<double>(r.placed.layers * plan.batch)};
  cost.seconds = part.step;
  cost.flops = flops;
  cost.compute = part.products + part.scalars;
  cost.exchange = part.exchange + part.hand_over;
  cost.bound = cost.compute >= cost.exchange ? Bound::Compute : Bound::Network;
  return cost;
}

}  // namespace

ResidentTimes resident_times(const plan::Plan& plan, const machine::Wafer& machine) {
  using Part = ResidentLayer::Part;
  const plan::Resident& r = *plan.resident;
  ResidentTimes times{.prefill = part_of(r, Part::Prefill, machine), .decode = {}};
  const bool generates = std::all_of(r.kinds.begin(), r.kinds.end(),
                                     [](const auto& kind) { return kind.decode.has_value(); });
  if (generates) times.decode = part_of(r, Part::Decode, machine);
  return times;
}

Answer resident(const plan::Plan& plan, const machine::Wafer& machine) {
  const plan::Resident& r = *plan.resident;
  const auto batch = static_cast<double>(plan.batch), systems = static_cast<double>(plan.systems);
  Answer a;
  ResidentParts parts{.placed = r.placed,
                      .requests = r.requests,
                      .replicas = r.replicas,
                      .times = resident_times(plan, machine)};
  a.step = parts.times.prefill.step;
  a.samples_per_second = batch / a.step.value;
  a.tokens_per_second = a.samples_per_second * static_cast<double>(plan.tokens_per_sample);
  a.prefill_tokens_per_second = a.tokens_per_second;
  a.model_flops_per_step = plan.model_flops_per_sample * batch;
  a.model_flops_per_second = rate_of(a.model_flops_per_step, a.step);
  a.roofline.peak = machine::peak_flops(machine, machine::Arithmetic::F16) * systems;
  a.roofline.attained = a.model_flops_per_second;
  a.utilization = a.model_flops_per_second / a.roofline.peak;
  a.energy_per_step = energy(a.model_flops_per_step, a.step, systems, machine);
  if (parts.times.decode) {
    const Seconds step = parts.times.decode->step;
    a.decode_tokens_per_second = batch / step.value;
    parts.energy_per_token = energy(flops_of_token(plan) * batch, step, systems, machine) / batch;
  }
  a.layers.push_back(layer_cost(parts.times.prefill, plan, a.model_flops_per_step));
  a.bound = a.layers.front().bound;
  for (const plan::Buffer& b : plan.buffers) {
    (b.kind == plan::BufferKind::Cache ? a.memory.activations : a.memory.weights) += b.bytes();
  }
  a.memory.activations_on_wafer = a.memory.activations;
  parts.pe_capacity = machine.sram.bytes.value;
  parts.pe_used = machine.resident.reserved.value +
                  Bytes(r.placed.layer_bytes() * static_cast<double>(r.placed.layers_of_fullest()));
  a.resident = parts;
  return a;
}

}  // namespace wafer::estimate
