#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wafer/base/units.h"
#include "wafer/machine/gpu_cluster.h"
#include "wafer/machine/sourced.h"

namespace wafer::machine {

/// A rectangle of PEs.
struct Extent {
  Sourced<int64_t> width, height;
};

/// The memory of one PE. Consecutive 16-bit words lie in consecutive banks.
struct Sram {
  Sourced<Bytes> bytes;     ///< code, data and stack of a PE share them
  Sourced<Bytes> reserved;  ///< of these, for code, stack and weights on their way
  Sourced<int64_t> banks;
  Sourced<int64_t> bank_bits;            ///< what a bank serves in a cycle
  Sourced<double> read_bytes_per_cycle;  ///< of a PE, all its read ports together
  Sourced<double> write_bytes_per_cycle;
};

/// Elements that a PE's vector unit finishes in a cycle. f16 stands for each of the 16-bit floats.
struct Lanes {
  Sourced<double> f16;  ///< add, multiply, move
  Sourced<double> f16_multiply_add;
  Sourced<double> mixed_multiply_add;  ///< 16-bit factors, f32 sum
  Sourced<double> f32;                 ///< add, move
  Sourced<double> f32_multiply_add;
};

/// What a PE runs by: tasks, and vector operations on microthreads.
struct Core {
  Sourced<int64_t> microthreads;
  Sourced<Cycles> task_switch;                      ///< end of one task's body to begin of the next
  Sourced<Cycles> vector_issue;                     ///< of a vector operation, before its elements
  Sourced<std::vector<int64_t>> input_queue_words;  ///< of 32 bit, that each queue holds
  Sourced<std::vector<int64_t>> output_queue_words;
};

/// Five ports (north, east, south, west, ramp), each a link in both directions.
struct Router {
  Sourced<int64_t> colors;        ///< that can be routed
  Sourced<int64_t> link_bits;     ///< of a link, direction and cycle
  Sourced<Cycles> hop;            ///< router to router
  Sourced<Cycles> ramp;           ///< router to core, or back
  Sourced<int64_t> buffer_words;  ///< of a port and color
};

/// Between the wafer and all that is outside it; the two directions do not share.
struct Io {
  Sourced<BytesPerSecond> in, out;  ///< of the whole wafer
  Sourced<int64_t> channels;        ///< into the fabric, all edges together
};

struct Power {
  Sourced<Watts> peak;         ///< of the system: wafer, pumps, supplies
  Sourced<double> idle_share;  ///< of peak, with no work to do
};

/// Where weights and optimizer state live outside the wafer; it serves all systems of a cluster.
struct Store {
  Sourced<int64_t> nodes;
  Sourced<Bytes> node_bytes;
  Sourced<BytesPerSecond> node_bandwidth;         ///< network, each direction
  Sourced<BytesPerSecond> node_memory_bandwidth;  ///< what the optimizer works at
};

/// Servers that feed samples to one system and can hold its activations.
struct ActivationStore {
  Sourced<int64_t> nodes;  ///< of each system
  Sourced<Bytes> node_bytes;
  Sourced<BytesPerSecond> node_bandwidth;  ///< network, each direction
};

/// The tree between store and systems: weights are broadcast down, gradients are added on their way
/// up.
struct ReduceTree {
  Sourced<int64_t> fan_out;                 ///< children of a node
  Sourced<BytesPerSecond> child_bandwidth;  ///< to each child, each direction
  Sourced<Seconds> level_latency;
};

/// The computers between a user and the wafer, as they serve inference.
struct Host {
  Sourced<Seconds> latency;  ///< least time of a small batch, input given to output produced
};

/// What the cost model of weight streaming needs beyond hardware numbers
/// (docs/spec/streamed-cost.md).
struct Streaming {
  Sourced<double>
      local_product_ratio;  ///< rate of products of two activations / of weight products
};

/// Constants of the cost model, set by scripts/fit-constants on validation/.
struct Fitted {
  Sourced<double> product_efficiency;  ///< rate of weight products / peak
  Sourced<Seconds> pass_time;          ///< to set the wafer up for one pass of a layer
  Sourced<Cycles> score_cycles;        ///< of a PE, for one attention score, forward or backward
  Sourced<Seconds> step_time;          ///< of a training step, however many layers
};

/// Constants of resident inference: every layer spread over a square mesh of PEs
/// (docs/spec/resident-cost.md).
struct Resident {
  Sourced<Hertz> clock;             ///< that this software runs at
  Sourced<Bytes> reserved;          ///< of a PE, for code, stack and tiles that pass
  Sourced<Cycles> vector_start;     ///< of a multiply-add over a vector, before its elements
  Sourced<Cycles> odd_vector;       ///< more for a vector of an odd length
  Sourced<Cycles> shift_step;       ///< to pass a tile on to a neighbour
  Sourced<Cycles> reduction;        ///< fixed cost of a sum over a row or column of PEs
  Sourced<Cycles> reduction_hop;    ///< of such a sum, for each PE of an edge
  Sourced<Cycles> scalar_function;  ///< exponential or division of one element
};

/// Constants of layer-pipelined training (docs/spec/pipelined-cost.md). Cycles an element are of
/// one PE, forward and backward together.
struct Pipelined {
  Sourced<double> usable_share;     ///< of the PEs, that kernels and FIFOs may fill
  Sourced<Cycles> edge;             ///< of a product and row, for each weight of its tile's edge
  Sourced<Cycles> prediction;       ///< more for a row that the loss reads, of a product
  Sourced<double> attention_flops;  ///< of a PE in a cycle
  Sourced<Cycles> adapter;          ///< of an element that comes into a kernel or goes out
  Sourced<Cycles> nonlinear;        ///< of an element: GELU and its like
  Sourced<Cycles> norm;             ///< of an element
  Sourced<Cycles> sum;              ///< of an element: residuals, look-ups
  Sourced<Cycles> loss;             ///< of a logit
  Sourced<Bytes> fifo_bytes;        ///< that a PE of a FIFO holds
  Sourced<Cycles> update;           ///< of the optimizer, for a weight
};

/// A wafer-scale system and what stands around it.
struct Wafer {
  std::string name;         ///< of its file, without ".toml"
  std::string description;  ///< one line
  std::string generation;   ///< "WSE-2"
  std::string process;      ///< "TSMC 7 nm"
  bool calibrated = false;  ///< its training rates are validated on measurements of this machine

  Sourced<Hertz> clock;
  Sourced<int64_t> advertised_pes;
  Extent fabric;  ///< all PEs that programs can name
  Extent usable;  ///< of these, what is left to a program's own code
  Sram sram;
  Lanes lanes;
  Core core;
  Router router;
  Io io;
  Power power;
  Store store;
  ActivationStore activation_store;
  ReduceTree reduce_tree;
  Host host;
  Streaming streaming;
  Resident resident;
  Pipelined pipelined;
  Fitted fitted;
};

/// Any kind of machine that a file can describe (its key `kind`).
using Machine = std::variant<Wafer, GpuCluster>;

const std::string& name_of(const Machine& machine);
/// The machine as a wafer, or as a cluster of GPUs. `purpose` says what asks ("weight streaming").
/// Throws InputError that names the machine, what it is and what was needed.
const Wafer& wafer_of(const Machine& machine, std::string_view purpose);
const GpuCluster& cluster_of(const Machine& machine, std::string_view purpose);

}  // namespace wafer::machine
