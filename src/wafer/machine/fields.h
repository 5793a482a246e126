#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "wafer/machine/machine.h"

namespace wafer::machine {

/// What the format says of a number: its key in TOML, its unit, the least and the most that are
/// believed (outside, a unit was mistaken), and its meaning in a few words.
struct Field {
  const char* key;
  const char* unit;
  double least, most;
  const char* meaning;
};

/// Why `value` cannot stand for the field ("expected a whole number from 1 to 1024 cycles"); empty
/// when it can.
std::string refuse(const Field& field, double value, bool whole);

/// What is wrong with numbers that are right one by one; empty when nothing is.
std::vector<std::string> contradictions(const Wafer& wafer);
std::vector<std::string> contradictions(const GpuCluster& cluster);

/// How a plain double becomes the value of a field, and back.
inline void set(double& to, double value) { to = value; }
inline void set(int64_t& to, double value) { to = static_cast<int64_t>(value); }
template <typename Tag>
void set(Quantity<Tag>& to, double value) {
  to.value = value;
}
inline double plain(double value) { return value; }
inline double plain(int64_t value) { return static_cast<double>(value); }
template <typename Tag>
double plain(Quantity<Tag> value) {
  return value.value;
}

template <typename T>
concept List = std::same_as<T, std::vector<int64_t>>;
/// Counts are whole; so are the entries of lists.
template <typename T>
concept Whole = std::same_as<T, int64_t> || List<T>;

// The list below is the format: loader, printer, overrides and documentation read nothing else. `W`
// is Wafer (`C`: GpuCluster), const or not, throughout; each function calls `visit(Field,
// Sourced<T>&)`.

template <typename W, typename Visit>
void visit_wafer(W& w, Visit&& visit) {
  visit(Field{"clock_hz", "Hz", 1e6, 1e11, "cycles a second"}, w.clock);
  visit(Field{"advertised_pes", "", 1, 1e8, "cores as the vendor counts them"}, w.advertised_pes);
  visit(Field{"fabric.width", "PE", 1, 1e5, "columns that programs can name"}, w.fabric.width);
  visit(Field{"fabric.height", "PE", 1, 1e5, "rows that programs can name"}, w.fabric.height);
  visit(Field{"usable.width", "PE", 1, 1e5, "columns left to a program's own code"},
        w.usable.width);
  visit(Field{"usable.height", "PE", 1, 1e5, "rows left to a program's own code"}, w.usable.height);
  visit(Field{"router.colors", "", 1, 1024, "colors that can be routed"}, w.router.colors);
  visit(Field{"router.link_bits", "bit/cycle", 1, 4096, "of a link, each direction"},
        w.router.link_bits);
  visit(Field{"router.hop_cycles", "cycle", 1, 1000, "router to router"}, w.router.hop);
  visit(Field{"router.ramp_cycles", "cycle", 0, 1000, "router to core, or back"}, w.router.ramp);
  visit(Field{"router.buffer_words", "word", 1, 1e4, "held for each port and color"},
        w.router.buffer_words);
  visit(Field{"io.in_bytes_per_second", "B/s", 1e6, 1e16, "into the wafer"}, w.io.in);
  visit(Field{"io.out_bytes_per_second", "B/s", 1e6, 1e16, "out of the wafer"}, w.io.out);
  visit(Field{"io.channels", "", 1, 1e5, "between edges and fabric"}, w.io.channels);
  visit(Field{"power.peak_watts", "W", 1, 1e7, "of the whole system"}, w.power.peak);
  visit(Field{"power.idle_share", "", 0, 1, "of the peak, without work"}, w.power.idle_share);
}

template <typename W, typename Visit>
void visit_pe(W& w, Visit&& visit) {
  visit(Field{"sram.bytes", "B", 1024, 1e9, "memory of a PE"}, w.sram.bytes);
  visit(Field{"sram.reserved_bytes", "B", 0, 1e9, "of these, for code, stack and passing weights"},
        w.sram.reserved);
  visit(Field{"sram.banks", "", 1, 1024, "banks of a PE's memory"}, w.sram.banks);
  visit(Field{"sram.bank_bits", "bit/cycle", 8, 4096, "served by a bank"}, w.sram.bank_bits);
  visit(Field{"sram.read_bytes_per_cycle", "B/cycle", 1, 4096, "all read ports of a PE"},
        w.sram.read_bytes_per_cycle);
  visit(Field{"sram.write_bytes_per_cycle", "B/cycle", 1, 4096, "all write ports of a PE"},
        w.sram.write_bytes_per_cycle);
  visit(Field{"lanes.f16", "1/cycle", 0.01, 4096, "16-bit add, multiply, move"}, w.lanes.f16);
  visit(Field{"lanes.f16_multiply_add", "1/cycle", 0.01, 4096, "16-bit multiply-add"},
        w.lanes.f16_multiply_add);
  visit(Field{"lanes.mixed_multiply_add", "1/cycle", 0.01, 4096, "16-bit factors, f32 sum"},
        w.lanes.mixed_multiply_add);
  visit(Field{"lanes.f32", "1/cycle", 0.01, 4096, "f32 add, move"}, w.lanes.f32);
  visit(Field{"lanes.f32_multiply_add", "1/cycle", 0.01, 4096, "f32 multiply-add"},
        w.lanes.f32_multiply_add);
  visit(Field{"core.microthreads", "", 1, 1024, "vector operations in flight"},
        w.core.microthreads);
  visit(Field{"core.task_switch_cycles", "cycle", 1, 1e5, "one task's body to the next"},
        w.core.task_switch);
  visit(Field{"core.vector_issue_cycles", "cycle", 0, 1e4, "at the start of a vector operation"},
        w.core.vector_issue);
  visit(Field{"core.input_queue_words", "word", 1, 1e4, "of each input queue"},
        w.core.input_queue_words);
  visit(Field{"core.output_queue_words", "word", 1, 1e4, "of each output queue"},
        w.core.output_queue_words);
}

template <typename W, typename Visit>
void visit_outside(W& w, Visit&& visit) {
  auto& store = w.store;
  visit(Field{"store.nodes", "", 1, 1e6, "of the weight store"}, store.nodes);
  visit(Field{"store.node_bytes", "B", 1e6, 1e18, "memory of a node"}, store.node_bytes);
  visit(Field{"store.node_bytes_per_second", "B/s", 1e6, 1e15, "network of a node, each way"},
        store.node_bandwidth);
  visit(Field{"store.node_memory_bytes_per_second", "B/s", 1e6, 1e16, "the optimizer works at"},
        store.node_memory_bandwidth);
  auto& servers = w.activation_store;
  visit(Field{"activation_store.nodes", "", 1, 1e6, "servers of each system"}, servers.nodes);
  visit(Field{"activation_store.node_bytes", "B", 1e6, 1e18, "memory of a node"},
        servers.node_bytes);
  visit(Field{"activation_store.node_bytes_per_second", "B/s", 1e6, 1e15, "of a node, each way"},
        servers.node_bandwidth);
  visit(Field{"reduce_tree.fan_out", "", 2, 1024, "children of a node"}, w.reduce_tree.fan_out);
  visit(Field{"reduce_tree.child_bytes_per_second", "B/s", 1e6, 1e16, "to a child, each way"},
        w.reduce_tree.child_bandwidth);
  visit(Field{"reduce_tree.level_seconds", "s", 0, 1, "latency of a level"},
        w.reduce_tree.level_latency);
  visit(Field{"host.latency_seconds", "s", 0, 100, "of a small batch of inference, with the host"},
        w.host.latency);
  visit(Field{"streaming.local_product_ratio", "", 0.01, 10, "activation to weight product rate"},
        w.streaming.local_product_ratio);
  visit(Field{"fitted.product_efficiency", "", 0.01, 1.5, "weight product rate to peak"},
        w.fitted.product_efficiency);
  visit(Field{"fitted.pass_seconds", "s", 0, 1, "set-up of one pass of a layer"},
        w.fitted.pass_time);
  visit(Field{"fitted.score_cycles", "cycle", 0, 1e5, "of a PE, for one attention score"},
        w.fitted.score_cycles);
  visit(Field{"fitted.step_seconds", "s", 0, 10, "fixed cost of a training step"},
        w.fitted.step_time);
}

template <typename W, typename Visit>
void visit_resident(W& w, Visit&& visit) {
  auto& r = w.resident;
  visit(Field{"resident.clock_hz", "Hz", 1e8, 1e11, "of resident inference"}, r.clock);
  visit(Field{"resident.reserved_bytes", "B", 0, 1e9, "of a PE, not for weights and cache"},
        r.reserved);
  visit(Field{"resident.vector_start_cycles", "cycle", 0, 1e4, "of a multiply-add over a vector"},
        r.vector_start);
  visit(Field{"resident.odd_vector_cycles", "cycle", 0, 1e3, "more for a vector of an odd length"},
        r.odd_vector);
  visit(Field{"resident.shift_step_cycles", "cycle", 0, 1e6, "to pass a tile to a neighbour"},
        r.shift_step);
  visit(Field{"resident.reduction_cycles", "cycle", 0, 1e6, "fixed, of a sum over a row of PEs"},
        r.reduction);
  visit(Field{"resident.reduction_hop_cycles", "cycle", 0, 1e4, "of it, for each PE of an edge"},
        r.reduction_hop);
  visit(Field{"resident.scalar_function_cycles", "cycle", 0, 1e5, "exponential or division"},
        r.scalar_function);
}

template <typename W, typename Visit>
void visit_pipelined(W& w, Visit&& visit) {
  auto& p = w.pipelined;
  visit(Field{"pipelined.usable_share", "", 0.05, 1, "of the PEs, for kernels and FIFOs"},
        p.usable_share);
  visit(Field{"pipelined.edge_cycles", "cycle", 0, 1e4, "of a product's row, by a tile's edge"},
        p.edge);
  visit(Field{"pipelined.prediction_cycles", "cycle", 0, 1e6, "more for a row that the loss reads"},
        p.prediction);
  visit(Field{"pipelined.attention_flops_per_cycle", "FLOP/cycle", 0.01, 1e4, "of a PE"},
        p.attention_flops);
  visit(Field{"pipelined.adapter_cycles", "cycle", 0, 1e5, "of an element into a kernel or out"},
        p.adapter);
  visit(Field{"pipelined.nonlinear_cycles", "cycle", 0, 1e5, "of an element, GELU and its like"},
        p.nonlinear);
  visit(Field{"pipelined.norm_cycles", "cycle", 0, 1e5, "of an element"}, p.norm);
  visit(Field{"pipelined.sum_cycles", "cycle", 0, 1e5, "of an element, residuals"}, p.sum);
  visit(Field{"pipelined.loss_cycles", "cycle", 0, 1e5, "of a logit"}, p.loss);
  visit(Field{"pipelined.fifo_bytes", "B", 1024, 1e9, "that a PE of a FIFO holds"}, p.fifo_bytes);
  visit(Field{"pipelined.update_cycles", "cycle", 0, 1e5, "of the optimizer, for a weight"},
        p.update);
}

template <typename C, typename Visit>
void visit_hardware(C& c, Visit&& visit) {
  visit(Field{"gpu.f16_flops", "FLOP/s", 1e9, 1e18, "dense peak, f16"}, c.gpu.f16);
  visit(Field{"gpu.bf16_flops", "FLOP/s", 1e9, 1e18, "dense peak, bf16"}, c.gpu.bf16);
  visit(Field{"gpu.tf32_flops", "FLOP/s", 1e9, 1e18, "dense peak, tf32"}, c.gpu.tf32);
  visit(Field{"gpu.f32_flops", "FLOP/s", 1e9, 1e18, "dense peak, f32"}, c.gpu.f32);
  visit(Field{"gpu.sustained_clock", "", 0.1, 2, "clock held in long runs to that of the peaks"},
        c.gpu.sustained_clock);
  visit(Field{"gpu.multiprocessors", "", 1, 1e5, "of a GPU"}, c.gpu.multiprocessors);
  visit(Field{"gpu.memory_bytes", "B", 1e6, 1e15, "of a GPU"}, c.gpu.memory);
  visit(Field{"gpu.memory_bytes_per_second", "B/s", 1e6, 1e16, "of a GPU's memory"},
        c.gpu.memory_bandwidth);
  visit(Field{"node.gpus", "", 1, 1e4, "that share a fast fabric"}, c.node.gpus);
  visit(Field{"node.link_bytes_per_second", "B/s", 1e6, 1e15, "of a GPU in its node, each way"},
        c.node.link);
  visit(Field{"node.nic_bytes_per_second", "B/s", 1e6, 1e15, "network of a GPU, each way"},
        c.node.nic);
  visit(Field{"node.peak_watts", "W", 1, 1e7, "of a whole node"}, c.node.peak_power);
  visit(Field{"node.idle_share", "", 0, 1, "of the peak, without work"}, c.node.idle_share);
}

template <typename C, typename Visit>
void visit_constants(C& c, Visit&& visit) {
  visit(Field{"micro.memory_share", "", 0.01, 1, "of memory bandwidth in long kernels"},
        c.micro.memory_share);
  visit(Field{"micro.link_share", "", 0.01, 1, "of the link's rate in collectives"},
        c.micro.link_share);
  visit(Field{"micro.link_step_seconds", "s", 0, 1, "of a ring step inside a node"},
        c.micro.link_step);
  visit(Field{"micro.launch_seconds", "s", 0, 1, "of a kernel"}, c.micro.launch);
  visit(Field{"fitted.product_efficiency", "", 0.01, 1.5, "tensor rate to sustained peak"},
        c.fitted.product_efficiency);
  visit(Field{"fitted.wave_seconds", "s", 0, 1, "of a wave of 128 x 256 tiles"},
        c.fitted.wave_time);
  visit(Field{"fitted.attention_efficiency", "", 0.01, 1.5, "fused attention rate to products"},
        c.fitted.attention_efficiency);
  visit(Field{"fitted.nic_share", "", 0.01, 1.5, "of the NIC's rate in training"},
        c.fitted.nic_share);
  visit(Field{"fitted.nic_step_seconds", "s", 0, 1, "of a ring step between nodes"},
        c.fitted.nic_step);
  visit(Field{"fitted.serving_nic_share", "", 0.01, 20, "of the NIC's rate in serving"},
        c.fitted.serving_nic_share);
}

/// Visits every number of a machine, always in the same order.
template <typename M, typename Visit>
void visit_numbers(M& m, Visit&& visit) {
  if constexpr (std::same_as<std::remove_const_t<M>, Wafer>) {
    visit_wafer(m, visit);
    visit_pe(m, visit);
    visit_outside(m, visit);
    visit_resident(m, visit);
    visit_pipelined(m, visit);
  } else {
    visit_hardware(m, visit);
    visit_constants(m, visit);
  }
}

}  // namespace wafer::machine
