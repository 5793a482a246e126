#pragma once

#include <cstdint>
#include <string>

#include "wafer/base/units.h"
#include "wafer/machine/sourced.h"

namespace wafer::machine {

/// One GPU. Peaks are dense, at the clock that the vendor quotes them at.
struct Gpu {
  Sourced<FlopsPerSecond> f16;  ///< tensor cores
  Sourced<FlopsPerSecond> bf16;
  Sourced<FlopsPerSecond> tf32;
  Sourced<FlopsPerSecond> f32;
  Sourced<double> sustained_clock;  ///< that long runs hold / that of the peaks
  Sourced<int64_t> multiprocessors;
  Sourced<Bytes> memory;
  Sourced<BytesPerSecond> memory_bandwidth;
};

/// GPUs that share a fast fabric.
struct GpuNode {
  Sourced<int64_t> gpus;
  Sourced<BytesPerSecond> link;  ///< of a GPU into the fabric of its node, each direction
  Sourced<BytesPerSecond> nic;   ///< of a GPU's share of the node's network ports, each direction
  Sourced<Watts> peak_power;     ///< of the whole node: GPUs, processors, fans, supplies
  Sourced<double> idle_share;    ///< of the peak, with no work to do
};

/// What public micro-benchmarks of single kernels and collectives show.
struct GpuMicro {
  Sourced<double> memory_share;  ///< of the memory's bandwidth that long element-wise kernels see
  Sourced<double> link_share;    ///< of the link's rate that collectives inside a node see
  Sourced<Seconds> link_step;    ///< of a ring collective inside a node
  Sourced<Seconds> launch;       ///< of a kernel
};

/// Constants of the cost model (docs/spec/cluster-cost.md), set by scripts/fit-constants.
struct GpuFitted {
  Sourced<double> product_efficiency;    ///< tensor rate / peak at the sustained clock
  Sourced<Seconds> wave_time;            ///< of a wave of 128 x 256 tiles over all multiprocessors
  Sourced<double> attention_efficiency;  ///< rate of a fused attention / that of products
  Sourced<double> nic_share;             ///< of the NIC's rate that training collectives see
  Sourced<Seconds> nic_step;             ///< of a ring collective between nodes
  Sourced<double> serving_nic_share;     ///< of the NIC's rate that a serving all-reduce sees
};

/// Nodes of GPUs on a network that serves all of them alike.
struct GpuCluster {
  std::string name;         ///< of its file, without ".toml"
  std::string description;  ///< one line
  std::string generation;   ///< "A100"
  std::string process;      ///< "TSMC 7 nm"
  bool calibrated = false;  ///< its rates are validated on measurements of this machine

  Gpu gpu;
  GpuNode node;
  GpuMicro micro;
  GpuFitted fitted;
};

}  // namespace wafer::machine
