#include "wafer/study/workbench.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "wafer/autodiff/training_step.h"
#include "wafer/compile/streamed.h"
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

std::vector<std::string> kernels_of(const plan::Plan& plan) {
  std::set<std::string> names;
  for (const plan::Kernel& kernel : plan.kernels) names.insert(kernel.implementation);
  return {names.begin(), names.end()};
}

Situation situation_of(const Question& q, const Bench& bench, const plan::Plan& plan) {
  return {.machine = plan.machine,
          .mode = Mode::Streamed,
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

Result result_of(const Question& q, const Bench& bench, const plan::Plan& plan) {
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
  return r;
}

}  // namespace

struct Workbench::Kept {
  std::map<std::string, machine::Wafer> machines;
  std::list<std::pair<NetworkRequest, std::unique_ptr<Bench>>> benches;  // the last used first
  std::vector<Coverage> coverage = load_coverage();

  const Bench& bench(const Question& q) {
    const NetworkRequest wanted = network_request(q);
    const auto found = std::find_if(benches.begin(), benches.end(),
                                    [&](const auto& kept) { return kept.first == wanted; });
    if (found != benches.end()) {
      benches.splice(benches.begin(), benches, found);
    } else {
      benches.emplace_front(wanted, make_bench(q));
      if (benches.size() > MostNetworks) benches.pop_back();
    }
    return *benches.front().second;
  }
};

Workbench::Workbench() : kept_(std::make_unique<Kept>()) {}
Workbench::~Workbench() = default;

const machine::Wafer& Workbench::wafer(const std::string& name_or_path) {
  const auto found = kept_->machines.find(name_or_path);
  if (found != kept_->machines.end()) return found->second;
  const machine::Machine machine = machine::load(name_or_path);
  return kept_->machines.emplace(name_or_path, wafer_of(machine, "weight streaming")).first->second;
}

Result Workbench::answer(const Question& question) {
  check(question);
  return answer(question, wafer(question.machine));
}

Result Workbench::answer(const Question& question, const machine::Wafer& machine) {
  check(question);
  const Bench& bench = kept_->bench(question);
  const plan::Plan plan = bench.compiler.skeleton(machine, streamed_request(question));
  Result result = result_of(question, bench, plan);
  result.answer = estimate::streamed(plan, machine);
  if (question.epoch_samples) {
    result.epoch = Seconds(*question.epoch_samples / result.answer.samples_per_second);
  }
  if (question.tokens) {
    result.train = Seconds(*question.tokens / result.answer.tokens_per_second);
  }
  Trust known = trust(kept_->coverage, result.situation, machine);
  result.expected_error = known.expected_error;
  result.extrapolated = std::move(known.extrapolated);
  return result;
}

plan::Plan Workbench::plan(const Question& question) {
  check(question);
  const machine::Wafer& machine = wafer(question.machine);
  return kept_->bench(question).compiler.plan(machine, streamed_request(question));
}

plan::Plan Workbench::skeleton(const Question& question, const machine::Wafer& machine) {
  return kept_->bench(question).compiler.skeleton(machine, streamed_request(question));
}

Result answer(const Question& question) { return Workbench().answer(question); }

}  // namespace wafer::study
