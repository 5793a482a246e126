#include "wafer/study/workbench.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "wafer/autodiff/training_step.h"
#include "wafer/compile/cluster.h"
#include "wafer/compile/streamed.h"
#include "wafer/estimate/cluster.h"
#include "wafer/estimate/streamed.h"
#include "wafer/machine/load.h"
#include "wafer/study/coverage.h"
#include "wafer/study/network.h"

namespace wafer::study {
namespace {

// Networks kept at once: a sweep asks for one after another, and the largest take some megabytes.
constexpr size_t MostNetworks = 16;

// Layers of the longest run of equal ones, and the width of what they pass on.
struct Stack {
  double layers = 1;
  double hidden = 0;
};

Stack stack_of(const ir::Graph& graph) {
  std::map<ir::FunctionId, double> calls;
  for (const ir::Op& op : graph.entry().ops) {
    if (op.kind != ir::OpKind::Call) continue;
    for (const ir::FunctionId callee : ir::functions_of(op)) ++calls[callee];
  }
  const auto most = std::max_element(
      calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == calls.end()) return {};
  const ir::Function& layer = graph.function(most->first);
  const Shape& shape = layer.type_of(layer.outputs[0].value).shape;
  if (shape.empty()) return {most->second, 0};
  const Dim& width = shape.size() == 4 ? shape[1] : shape.back();  // images: [batch, channels, ..]
  return {most->second, width.is_static() ? static_cast<double>(width.value()) : 0};
}

// A network ready to be planned.
struct Bench {
  Network network;  // its graph is in the compiler by now
  Stack stack;
  compile::StreamedCompiler compiler;
};

std::unique_ptr<Bench> make_bench(const Question& q) {
  Network network = open_network(network_request(q));
  ir::Graph forward = prepared(network, dtype_of(q.precision));
  network.graph = {};
  const Stack stack = stack_of(forward);
  ir::Graph step = q.phase == Phase::Train ? autodiff::training_step(forward) : std::move(forward);
  const int64_t tokens = network.tokens_per_sample;
  return std::unique_ptr<Bench>(
      new Bench{std::move(network), stack,
                compile::StreamedCompiler(std::move(step), tokens, dtype_of(q.precision))});
}

// The same for clusters of GPUs.
struct ClusterBench {
  Network network;
  Stack stack;
  compile::ClusterCompiler compiler;
};

std::unique_ptr<ClusterBench> make_cluster_bench(const Question& q) {
  Network network = open_network(network_request(q));
  const ir::Graph forward = prepared(network, dtype_of(q.precision));
  network.graph = {};
  compile::ClusterCompiler compiler(forward, network.tokens_per_sample, dtype_of(q.precision),
                                    q.phase == Phase::Train);
  return std::unique_ptr<ClusterBench>(
      new ClusterBench{std::move(network), stack_of(forward), std::move(compiler)});
}

template <typename T>
using Kept = std::list<std::pair<NetworkRequest, std::unique_ptr<T>>>;  // the last used first

// The bench of a question, made where it is not kept.
template <typename T, typename Make>
const T& bench_of(Kept<T>& benches, const Question& q, Make make) {
  const NetworkRequest wanted = network_request(q);
  const auto found = std::find_if(benches.begin(), benches.end(),
                                  [&](const auto& kept) { return kept.first == wanted; });
  if (found != benches.end()) {
    benches.splice(benches.begin(), benches, found);
  } else {
    benches.emplace_front(wanted, make(q));
    if (benches.size() > MostNetworks) benches.pop_back();
  }
  return *benches.front().second;
}

std::vector<std::string> kernels_of(const plan::Plan& plan) {
  std::set<std::string> names;
  for (const plan::Kernel& kernel : plan.kernels) names.insert(kernel.implementation);
  return {names.begin(), names.end()};
}

template <typename AnyBench>
Situation situation_of(const Question& q, const AnyBench& bench, const plan::Plan& plan) {
  const bool cluster = plan.target == plan::Target::Cluster;
  return {.machine = plan.machine,
          .mode = cluster ? Mode::Cluster : Mode::Streamed,
          .phase = q.phase,
          .precision_bits = 8 * size_in_bytes(dtype_of(q.precision)),
          .layers = bench.stack.layers,
          .hidden = bench.stack.hidden,
          .seq_len = static_cast<double>(bench.network.tokens_per_sample),
          .tokens_per_micro_batch =
              static_cast<double>(plan.micro_batch * bench.network.tokens_per_sample),
          .systems = static_cast<double>(q.systems),
          .density = 1 - q.sparsity,
          .kernels = kernels_of(plan)};
}

template <typename AnyBench>
Result result_of(const Question& q, const AnyBench& bench, const plan::Plan& plan) {
  Result r;
  r.question = q;
  r.model = bench.network.name;
  r.machine = plan.machine;
  r.seq_len = bench.network.tokens_per_sample;
  r.micro_batch = plan.micro_batch;
  r.micro_batches = plan.micro_batches;
  r.recompute = plan.recompute;
  r.micro_batch_reason = plan.micro_batch_reason;
  r.activation_reason = plan.activation_reason;
  r.parameters = plan.parameters;
  r.situation = situation_of(q, bench, plan);
  r.mode = r.situation.mode;
  return r;
}

void set_durations(const Question& question, Result& result) {
  if (question.epoch_samples) {
    result.epoch = Seconds(*question.epoch_samples / result.answer.samples_per_second);
  }
  if (question.tokens) {
    result.train = Seconds(*question.tokens / result.answer.tokens_per_second);
  }
}

// What a request of its own sees: its prompt read, and each further token.
void set_serving(const Question& q, const ClusterBench& bench, const plan::Plan& plan,
                 const machine::GpuCluster& cluster, estimate::ClusterParts& parts) {
  const auto step = [&](compile::Serving part) {
    const plan::Plan serving =
        bench.compiler.serving(cluster, cluster_request(q), plan.parallel, part);
    return estimate::cluster_step(serving, cluster).value;
  };
  const auto tokens = static_cast<double>(bench.network.tokens_per_sample);
  const auto requests = static_cast<double>(q.batch) / static_cast<double>(plan.parallel.data);
  parts.prefill_tokens_per_second = tokens * requests / step(compile::Serving::Prefill);
  parts.decode_tokens_per_second = requests / step(compile::Serving::Decode);
}

}  // namespace

struct Workbench::Kept {
  std::map<std::string, machine::Machine> machines;
  study::Kept<Bench> benches;
  study::Kept<ClusterBench> clusters;
  std::vector<Coverage> coverage = load_coverage();

  const Bench& bench(const Question& q) {
    check_wafer_question(q);
    return bench_of(benches, q, make_bench);
  }
  const ClusterBench& cluster(const Question& q) {
    check_cluster_question(q);
    return bench_of(clusters, q, make_cluster_bench);
  }
};

Workbench::Workbench() : kept_(std::make_unique<Kept>()) {}
Workbench::~Workbench() = default;

const machine::Machine& Workbench::machine(const std::string& name_or_path) {
  const auto found = kept_->machines.find(name_or_path);
  if (found != kept_->machines.end()) return found->second;
  return kept_->machines.emplace(name_or_path, machine::load(name_or_path)).first->second;
}

const machine::Wafer& Workbench::wafer(const std::string& name_or_path) {
  return wafer_of(machine(name_or_path), "weight streaming");
}

Result Workbench::answer(const Question& question) {
  check(question);
  return std::visit([&](const auto& kind) { return answer(question, kind); },
                    machine(question.machine));
}

Result Workbench::answer(const Question& question, const machine::GpuCluster& cluster) {
  check(question);
  const ClusterBench& bench = kept_->cluster(question);
  const plan::Plan plan = bench.compiler.plan(cluster, cluster_request(question));
  Result result = result_of(question, bench, plan);
  result.answer = estimate::cluster(plan, cluster);
  if (question.phase == Phase::Infer && bench.compiler.profile().generates) {
    set_serving(question, bench, plan, cluster, *result.answer.cluster);
  }
  set_durations(question, result);
  if (!cluster.calibrated) {
    result.extrapolated.push_back("no scored measurement of " + cluster.name);
  }
  return result;
}

Result Workbench::answer(const Question& question, const machine::Wafer& machine) {
  check(question);
  const Bench& bench = kept_->bench(question);
  const plan::Plan plan = bench.compiler.skeleton(machine, streamed_request(question));
  Result result = result_of(question, bench, plan);
  result.answer = estimate::streamed(plan, machine);
  set_durations(question, result);
  Trust known = trust(kept_->coverage, result.situation, machine);
  result.expected_error = known.expected_error;
  result.extrapolated = std::move(known.extrapolated);
  return result;
}

plan::Plan Workbench::plan(const Question& question) {
  check(question);
  const machine::Machine& any = machine(question.machine);
  if (const auto* cluster = std::get_if<machine::GpuCluster>(&any)) {
    return kept_->cluster(question).compiler.plan(*cluster, cluster_request(question));
  }
  return kept_->bench(question).compiler.plan(wafer(question.machine), streamed_request(question));
}

plan::Plan Workbench::skeleton(const Question& question, const machine::Wafer& machine) {
  return kept_->bench(question).compiler.skeleton(machine, streamed_request(question));
}

Result answer(const Question& question) { return Workbench().answer(question); }

}  // namespace wafer::study
