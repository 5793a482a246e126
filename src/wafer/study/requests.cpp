#include <fmt/format.h>

#include "wafer/base/error.h"
#include "wafer/study/workbench.h"

namespace wafer::study {

NetworkRequest network_request(const Question& q) {
  // The batch decides only where a file fixes what depends on it; a built-in network is the same
  // for all.
  return {.model = q.model,
          .seq = q.seq,
          .dtype = dtype_of(q.precision),
          .train = q.phase == Phase::Train,
          .batch = q.model.ends_with(".onnx") ? q.batch : 1,
          .dims = q.dims};
}

compile::StreamedRequest streamed_request(const Question& q) {
  return {.systems = q.systems,
          .batch = q.batch,
          .micro_batch = q.micro_batch,
          .recompute = q.recompute,
          .sparsity = q.sparsity,
          .sparsity_of = q.sparsity_of};
}

compile::ResidentQuestion resident_question(const Question& q) {
  return {.systems = q.systems, .batch = q.batch, .mesh = q.cores};
}

compile::ClusterRequest cluster_request(const Question& q) {
  return {.systems = q.systems,
          .batch = q.batch,
          .tensor = q.cluster.tensor,
          .pipeline = q.cluster.pipeline,
          .data = q.cluster.data,
          .interleaving = q.cluster.interleaving,
          .micro_batch = q.micro_batch,
          .sequence = q.cluster.sequence,
          .recompute = q.recompute,
          .sharding = q.cluster.sharding,
          .fused = q.cluster.fused,
          .tf32 = q.precision == Precision::Tf32,
          .length_variation = q.cluster.length_variation};
}

void check_wafer_question(const Question& q) {
  const ClusterPins& c = q.cluster;
  Problems problems;
  if (q.precision == Precision::Tf32) {
    problems.add("--precision tf32: a wafer has no such products; use f32 or a 16-bit float");
  }
  if (q.region && q.mode != Mode::Pipelined) {
    problems.add("--region: room for the kernels of a pipeline; give --mode pipelined");
  }
  if (c.tensor || c.pipeline || c.data || c.interleaving || c.sequence || c.sharding ||
      c.length_variation > 0) {
    problems.add(
        "--tp, --pp, --dp, --interleaving, --sequence-parallel, --sharding, --length-variation: "
        "they spread a network over GPUs; give a cluster as --machine");
  }
  if (q.cores && q.mode != Mode::Resident && q.mode != Mode::Auto) {
    problems.add("--cores: the mesh of a layer whose weights stay; it goes with --mode resident");
  }
  problems.throw_if_any("the question does not suit a wafer:");
}

std::vector<std::string> against_resident(const Question& q) {
  std::vector<std::string> reasons;
  if (q.phase == Phase::Train) {
    reasons.emplace_back("it is for --phase infer; train with --mode streamed or pipelined");
  }
  if (q.precision == Precision::F32) {
    reasons.emplace_back("it is priced for 16-bit floats; leave out --precision f32");
  }
  if (is_sparse(q)) {
    reasons.emplace_back(
        "weights that stay save nothing where they are zero; leave out --sparsity and "
        "--sparsity-of");
  }
  if (q.micro_batch || q.recompute) {
    reasons.emplace_back("it has no micro-batches; leave out --micro-batch and --recompute");
  }
  return reasons;
}

void check_cluster_question(const Question& q) {
  Problems problems;
  if (q.precision == Precision::Cb16) {
    problems.add("--precision cb16: GPUs have no such float; use f16 or bf16");
  }
  if (!q.sparsity_of.empty()) {
    problems.add("--sparsity-of: weights that stream to a wafer; leave it out for GPUs");
  }
  if (q.sparsity.structured()) {
    problems.add(fmt::format(
        "--sparsity {}: sparse tensor cores (A100 and later, 2:4) are not modelled; leave it out",
        q.sparsity.text()));
  } else if (!q.sparsity.dense()) {
    problems.add("--sparsity: zeros that lie anywhere save a GPU nothing; leave it out");
  }
  if (q.mode == Mode::Streamed || q.mode == Mode::Pipelined || q.mode == Mode::Resident ||
      q.cores) {
    problems.add("--mode and --cores: ways to run a wafer; leave them out for GPUs");
  }
  if (q.region) problems.add("--region: PEs of a wafer; leave it out for GPUs");
  problems.throw_if_any("the question does not suit a cluster of GPUs:");
}

}  // namespace wafer::study
