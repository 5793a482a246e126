#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wafer/base/units.h"
#include "wafer/plan/plan.h"

namespace wafer::estimate {

/// What limits a layer or the whole step.
enum class Bound : uint8_t { Compute, Weights, Gradients, LayerOverhead, Memory, Network };
std::string_view name_of(Bound bound);

/// One layer (or section) of one phase, all its repetitions in one step together.
struct LayerCost {
  std::string name;  ///< "layer"
  ir::Phase phase = ir::Phase::Forward;
  double times = 1;    ///< layers of this kind x micro-batches of one system
  Seconds seconds;     ///< of all times
  Flops flops;         ///< model FLOPs of all times, no recompute
  Flops executed;      ///< on a wafer: what its lanes do, recompute included, zeros not
  Flops weight_flops;  ///< of them products with weights, and
  Flops zero_flops;    ///< those of these with a zero, which a wafer skips
  Joules energy;       ///< on a wafer with streamed weights: of all times and systems
  Bytes bytes;         ///< over the wafer's edge, both directions, of all times
  Bound bound = Bound::Compute;
  Seconds compute;  ///< the parts of `seconds`, before overlap
  Seconds weights_in;
  Seconds gradients_out;
  Seconds activations;
  Seconds overhead;
  Seconds exchange;    ///< with other GPUs
  Bytes memory_bytes;  ///< through the memory of a GPU
};

/// Where bytes live, over all systems' stores and on one wafer; of a cluster, on one GPU.
struct Memory {
  Bytes gradients;        ///< on one GPU of a cluster
  Bytes weights;          ///< parameters in the precision that streams, at the store
  Bytes master_weights;   ///< f32 copy at the store, in training
  Bytes optimizer_state;  ///< at the store
  Bytes activations;      ///< kept from forward to backward, of one micro-batch
  Bytes activations_on_wafer;
  Bytes activations_spilled;  ///< at the activation servers
  Bytes workspace;            ///< largest that one layer needs at once
  Bytes wafer_capacity;       ///< SRAM left for activations
  Bytes store_total;          ///< weights + optimizer state
  Bytes store_capacity;
};

/// The two rooflines of a step: against SRAM and against the wafer's edge. Of a cluster: against
/// the memory of a GPU, in the place of SRAM.
struct Roofline {
  FlopsPerSecond peak;             ///< of the systems, in the precision asked for
  double on_wafer_intensity = 0;   ///< FLOPs a byte of SRAM traffic
  double off_wafer_intensity = 0;  ///< FLOPs a byte over the edge
  FlopsPerSecond on_wafer_roof;    ///< min(peak, intensity x SRAM bandwidth)
  FlopsPerSecond off_wafer_roof;
  FlopsPerSecond attained;
};

/// HPEC 2024's own count: one FLOP a weight and token, f32 weights once as traffic.
/// **Source:** Zhang et al., arXiv:2409.00287v2, Fig. 7 and 8.
struct PaperRoofline {
  FlopsPerSecond attained;
  double intensity = 0;  ///< FLOPs a byte
};

/// What only a cluster of GPUs has an answer to. Times are of one GPU of the busiest stage in a
/// step.
struct ClusterParts {
  plan::Parallelism parallel;
  FlopsPerSecond hardware_flops_per_gpu;  ///< with what is recomputed
  Seconds products;                       ///< all of these but the last three in one micro-batch
  Seconds attention;                      ///< after the other, summed
  Seconds passes;                         ///< over memory: element-wise ops, norms, look-ups, loss
  Seconds tensor_exchange;                ///< between tensor ranks, what is not hidden
  Seconds shard_exchange;                 ///< weights and gradients of sharded replicas
  Seconds stage_exchange;                 ///< between pipeline stages
  Seconds bubble;                         ///< stages that wait for the pipeline to fill and drain
  Seconds replica_exchange;               ///< gradients of whole replicas
  Seconds update;                         ///< the optimizer
  double straggler = 1;  ///< the slowest replica's time / the mean, unpadded samples
  Bytes gpu_capacity;    ///< memory of a GPU
  Bytes gpu_used;
};

/// Where the time of one part of resident inference goes, for one request: a prompt, or one token.
struct ResidentPart {
  Seconds products;
  Seconds exchange;   ///< tiles passed on and sums over PEs
  Seconds scalars;    ///< exponentials and divisions
  Seconds hand_over;  ///< from region to region and wafer to wafer
  Seconds head;       ///< what comes after the layers
  Seconds step;       ///< of all requests in flight in a replica, one behind another
  Seconds latency() const { return products + exchange + scalars + hand_over + head; }
};

struct ResidentTimes {
  ResidentPart prefill;
  std::optional<ResidentPart> decode;  ///< where the network generates
};

/// What only resident inference has an answer to.
struct ResidentParts {
  plan::ResidentPlacement placed;
  int64_t requests = 1;  ///< in flight in a replica
  int64_t replicas = 1;
  ResidentTimes times;
  Bytes pe_used;            ///< of the fullest PE
  Bytes pe_capacity;        ///< its SRAM
  Joules energy_per_token;  ///< made, of all systems
};

/// Kernels of a pipeline that are alike: one in each layer of a name.
struct PipelinedKernels {
  std::string layer;  ///< "layer"
  std::string name;   ///< "attention/query"
  std::string kind;   ///< "product"
  int64_t count = 0;
  int64_t pes = 0;           ///< of all of them
  double weights_of_pe = 0;  ///< of a product or table
};

/// What only layer-pipelined training has an answer to.
struct PipelinedParts {
  Seconds period;          ///< from one sample to the next
  Seconds latency;         ///< of a sample, from its entry to its last gradient
  Seconds fill;            ///< of a step: the pipeline is empty at its begin and its end
  Seconds update;          ///< of a step: the optimizer, where the weights lie
  int64_t depth = 0;       ///< periods of the latency
  int64_t kernel_pes = 0;  ///< that compute
  int64_t fifo_pes = 0;    ///< that hold activations
  int64_t region_pes = 0;  ///< that kernels may take
  int64_t wafer_pes = 0;
  double wire_length = 0;  ///< PEs, sum over what is passed on (solve::wire_length)
  Bytes pe_used;           ///< of the fullest PE: weights with state, or a FIFO's
  Bytes pe_capacity;
  std::vector<PipelinedKernels> kernels;  ///< in the order of the pipeline
  double used_share() const {
    return static_cast<double>(kernel_pes + fifo_pes) / static_cast<double>(wafer_pes);
  }
};

/// What `wafer estimate` says. Rates and FLOPs are of all systems together.
struct Answer {
  Seconds step;
  double samples_per_second = 0;
  double tokens_per_second = 0;
  Flops model_flops_per_step;  ///< 6N + attention of all samples (2N + attention forward only)
  FlopsPerSecond model_flops_per_second;
  double utilization = 0;  ///< of peak
  Bound bound = Bound::Compute;
  Joules energy_per_step;
  Memory memory;
  Roofline roofline;
  PaperRoofline paper_roofline;
  std::vector<LayerCost> layers;
  Seconds hand_over;     ///< fixed cost of a training step
  Seconds store_update;  ///< the optimizer at the store, where it is not hidden
  Seconds reduce_tree;   ///< what several systems add to a step
  /// Of inference: what a small batch takes from input given to output produced, as the computers
  /// around the wafer bound it; no part of `step` or of any rate.
  std::optional<Seconds> host_latency;
  /// Of inference that generates, of all requests on all systems together.
  std::optional<double> prefill_tokens_per_second;
  std::optional<double> decode_tokens_per_second;
  std::optional<ClusterParts> cluster;
  std::optional<ResidentParts> resident;
  std::optional<PipelinedParts> pipelined;
};

}  // namespace wafer::estimate
