#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wafer/compile/cluster.h"
#include "wafer/compile/pipelined.h"
#include "wafer/compile/resident_plan.h"
#include "wafer/compile/streamed.h"
#include "wafer/study/coverage.h"
#include "wafer/study/network.h"
#include "wafer/study/workbench.h"

namespace wafer::study {

/// The longest run of equal layers of a network, and the width of what they pass on.
struct Stack {
  double layers = 1;
  double hidden = 0;
};

/// A network ready to be planned for a wafer with streamed weights.
struct StreamedBench {
  Network network;  ///< its graph is in the compiler by now
  Stack stack;
  compile::StreamedCompiler compiler;
};

/// The same for training as a pipeline on one wafer.
struct PipelinedBench {
  Network network;
  Stack stack;
  compile::PipelinedCompiler compiler;
};

/// The same for clusters of GPUs.
struct ClusterBench {
  Network network;
  Stack stack;
  compile::ClusterCompiler compiler;
};

/// The same for wafers that hold all weights.
struct ResidentBench {
  Network network;
  Stack stack;
  compile::ResidentCompiler compiler;
};

/// Benches of one kind, the last used first.
template <typename T>
class Benches {
 public:
  /// The bench of a question, made where it is not kept.
  const T& of(const Question& question);
  uint64_t made() const { return made_; }

 private:
  uint64_t made_ = 0;
  std::list<std::pair<NetworkRequest, std::unique_ptr<T>>> kept_;
};

struct Workbench::Kept {
  std::map<std::string, machine::Machine> machines;
  Benches<StreamedBench> streamed;
  Benches<ResidentBench> resident;
  Benches<PipelinedBench> pipelined;
  Benches<ClusterBench> clusters;
  std::vector<Coverage> coverage = load_coverage();
};

/// What a result has of its question, network and plan, in every mode; the answer is not in it yet.
Result result_of(const Question& question, const Network& network, const Stack& stack,
                 const plan::Plan& plan);
/// Epoch, training time, time to a target and cost, from the rates of the answer.
void set_durations(Result& result);

/// Answers on a wafer with streamed or resident weights, as a pipeline, and on a cluster of GPUs.
/// The question is checked.
Result answer_streamed(const Question& question, const StreamedBench& bench,
                       const machine::Wafer& machine);
Result answer_resident(const Question& question, const ResidentBench& bench,
                       const machine::Wafer& machine);
Result answer_pipelined(const Question& question, const PipelinedBench& bench,
                        const machine::Wafer& machine);
Result answer_cluster(const Question& question, const ClusterBench& bench,
                      const machine::GpuCluster& cluster);

/// The same as plans to be priced (Workbench::planned).
Planned planned_streamed(const Question& question, const StreamedBench& bench,
                         const machine::Wafer& machine);
Planned planned_resident(const Question& question, const ResidentBench& bench,
                         const machine::Wafer& machine);
Planned planned_pipelined(const Question& question, const PipelinedBench& bench,
                          const machine::Wafer& machine);
Planned planned_cluster(const Question& question, const ClusterBench& bench,
                        const machine::GpuCluster& cluster);

}  // namespace wafer::study
