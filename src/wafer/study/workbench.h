#pragma once

#include <functional>
#include <memory>
#include <string>

#include "wafer/compile/cluster.h"
#include "wafer/compile/pipelined.h"
#include "wafer/compile/resident_plan.h"
#include "wafer/compile/streamed.h"
#include "wafer/machine/machine.h"
#include "wafer/plan/plan.h"
#include "wafer/study/network.h"
#include "wafer/study/question.h"

namespace wafer::study {

/// A question whose plan is made. With other constants of the cost model its answer costs no more
/// than adding up; where they would change what the plan decides, it is to be planned anew.
struct Planned {
  std::string choices{};  ///< what the plan decided, as a text
  double tokens_per_micro_batch = 0;
  std::function<estimate::Answer(const machine::Machine&)> price{};
};

/// Answers questions one after another and keeps what several of them need: machines, and networks
/// analysed for planning. Not for use by several threads at once.
class Workbench {
 public:
  Workbench();
  ~Workbench();

  /// Throws InputError where the question, model or machine is wrong, CapacityError where it does
  /// not fit the machine.
  Result answer(const Question& question);
  /// The same on a machine at hand, which need not be in any file; `question.machine` is not read.
  Result answer(const Question& question, const machine::Wafer& machine);

  /// The same on a cluster of GPUs at hand.
  Result answer(const Question& question, const machine::GpuCluster& cluster);

  /// The plan that such an answer rests on, with its graph.
  plan::Plan plan(const Question& question);
  /// The same without the graph: what the cost model reads. `question` is not checked.
  plan::Plan skeleton(const Question& question, const machine::Wafer& machine);
  /// A question as it is planned on a machine at hand; its `price` takes that machine with other
  /// constants. `question` is not checked.
  Planned planned(const Question& question, const machine::Machine& machine);

  /// A machine by name or path.
  const machine::Machine& machine(const std::string& name_or_path);
  /// The same; throws InputError where it is no wafer.
  const machine::Wafer& wafer(const std::string& name_or_path);

  /// Networks opened and analysed so far, for any mode.
  uint64_t networks_made() const;

 private:
  /// Expected error, and reasons why the answer is beyond what was measured.
  void set_trust(Result& result, const machine::Machine& machine) const;

  /// How a wafer is to be run: as asked, or resident where a network generates and fits, or
  /// streamed. Says why in `reason` where it was chosen.
  Mode mode_on(const Question& question, const machine::Wafer& machine, std::string& reason);

  struct Kept;
  std::unique_ptr<Kept> kept_;
};

/// What the parts of a question are to those who answer them.
NetworkRequest network_request(const Question& question);
compile::StreamedRequest streamed_request(const Question& question);
compile::ResidentQuestion resident_question(const Question& question);
compile::PipelinedRequest pipelined_request(const Question& question);
compile::ClusterRequest cluster_request(const Question& question);
/// Throws InputError for what can be asked of the other kind of machine only.
void check_wafer_question(const Question& question);
void check_cluster_question(const Question& question);
/// Why a question cannot be put to a wafer that holds all weights; empty where it can.
std::vector<std::string> against_resident(const Question& question);
/// The same for what training as a pipeline on one wafer cannot do.
void check_pipelined_question(const Question& question);

/// One question on a workbench of its own. Throws InputError for prices of other machines, too.
Result answer(const Question& question);

}  // namespace wafer::study
