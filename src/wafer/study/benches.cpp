#include "wafer/study/benches.h"

#include <algorithm>
#include <set>

#include "wafer/autodiff/training_step.h"
#include "wafer/study/cost.h"
#include "wafer/study/samples_to_target.h"

namespace wafer::study {
namespace {

// Networks kept at once: a sweep asks for one after another, and the largest take some megabytes.
constexpr size_t MostNetworks = 16;

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

template <typename T>
std::unique_ptr<T> make(const Question& q);

// NOLINTBEGIN(modernize-make-unique): compilers of benches do not move.
template <>
std::unique_ptr<StreamedBench> make(const Question& q) {
  Network network = open_network(network_request(q));
  ir::Graph forward = prepared(network, dtype_of(q.precision));
  network.graph = {};
  const Stack stack = stack_of(forward);
  ir::Graph step = q.phase == Phase::Train ? autodiff::training_step(forward) : std::move(forward);
  const int64_t tokens = network.tokens_per_sample;
  return std::unique_ptr<StreamedBench>(
      new StreamedBench{std::move(network), stack,
                        compile::StreamedCompiler(std::move(step), tokens, dtype_of(q.precision))});
}

template <>
std::unique_ptr<PipelinedBench> make(const Question& q) {
  Network network = open_network(network_request(q));
  const ir::Graph forward = prepared(network, dtype_of(q.precision));
  network.graph = {};
  compile::PipelinedCompiler compiler(forward, network.tokens_per_sample, dtype_of(q.precision));
  return std::unique_ptr<PipelinedBench>(
      new PipelinedBench{std::move(network), stack_of(forward), std::move(compiler)});
}

template <>
std::unique_ptr<ClusterBench> make(const Question& q) {
  Network network = open_network(network_request(q));
  const ir::Graph forward = prepared(network, dtype_of(q.precision));
  network.graph = {};
  compile::ClusterCompiler compiler(forward, network.tokens_per_sample, dtype_of(q.precision),
                                    q.phase == Phase::Train);
  return std::unique_ptr<ClusterBench>(
      new ClusterBench{std::move(network), stack_of(forward), std::move(compiler)});
}

template <>
std::unique_ptr<ResidentBench> make(const Question& q) {
  Network network = open_network(network_request(q));
  const ir::Graph forward = prepared(network, dtype_of(q.precision));
  network.graph = {};
  compile::ResidentCompiler compiler(forward, network.tokens_per_sample);
  return std::unique_ptr<ResidentBench>(
      new ResidentBench{std::move(network), stack_of(forward), std::move(compiler)});
}

// NOLINTEND(modernize-make-unique)

std::vector<std::string> kernels_of(const plan::Plan& plan) {
  std::set<std::string> names;
  for (const plan::Kernel& kernel : plan.kernels) names.insert(kernel.implementation);
  return {names.begin(), names.end()};
}

Mode mode_of(plan::Target target) {
  switch (target) {
    case plan::Target::WaferStreamed:
      return Mode::Streamed;
    case plan::Target::WaferPipelined:
      return Mode::Pipelined;
    case plan::Target::WaferResident:
      return Mode::Resident;
    case plan::Target::Cluster:
      break;
  }
  return Mode::Cluster;
}

// TF32 lies in 32 bit, of which its products see 19.
int bits_of(Precision precision) {
  return precision == Precision::Tf32 ? 19 : 8 * size_in_bytes(dtype_of(precision));
}

// Of the weights with the most zeros.
double least_density(const Question& q) {
  double density = q.sparsity.density();
  for (const plan::WeightSparsity& w : q.sparsity_of) {
    density = std::min(density, w.sparsity.density());
  }
  return density;
}

Situation situation_of(const Question& q, const Network& network, const Stack& stack,
                       const plan::Plan& plan) {
  return {
      .machine = plan.machine,
      .mode = mode_of(plan.target),
      .phase = q.phase,
      .precision_bits = bits_of(q.precision),
      .layers = stack.layers,
      .hidden = stack.hidden,
      .seq_len = static_cast<double>(network.tokens_per_sample),
      .tokens_per_micro_batch = static_cast<double>(plan.micro_batch * network.tokens_per_sample),
      .systems = static_cast<double>(q.systems),
      .density = least_density(q),
      .kernels = kernels_of(plan)};
}

}  // namespace

template <typename T>
const T& Benches<T>::of(const Question& q) {
  const NetworkRequest wanted = network_request(q);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const auto& kept) { return kept.first == wanted; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
  } else {
    kept_.emplace_front(wanted, make<T>(q));
    ++made_;
    if (kept_.size() > MostNetworks) kept_.pop_back();
  }
  return *kept_.front().second;
}
template class Benches<StreamedBench>;
template class Benches<ResidentBench>;
template class Benches<PipelinedBench>;
template class Benches<ClusterBench>;

Result result_of(const Question& q, const Network& network, const Stack& stack,
                 const plan::Plan& plan) {
  Result r;
  r.question = q;
  r.model = network.name;
  r.machine = plan.machine;
  r.seq_len = network.tokens_per_sample;
  r.micro_batch = plan.micro_batch;
  r.micro_batches = plan.micro_batches;
  r.recompute = plan.recompute;
  r.micro_batch_reason = plan.micro_batch_reason;
  r.activation_reason = plan.activation_reason;
  r.parameters = plan.parameters;
  r.situation = situation_of(q, network, stack, plan);
  r.mode = r.situation.mode;
  return r;
}

void set_durations(Result& result) {
  const Question& question = result.question;
  if (question.host_latency) result.answer.host_latency = Seconds(*question.host_latency);
  if (question.epoch_samples) {
    result.epoch = Seconds(*question.epoch_samples / result.answer.samples_per_second);
  }
  if (question.tokens) {
    result.train = Seconds(*question.tokens / result.answer.tokens_per_second);
  }
  if (!question.samples_to_target.empty()) {
    result.target = target_of(question.samples_to_target, question.batch);
    result.time_to_target = Seconds(result.target->samples / result.answer.samples_per_second);
  }
  result.cost = cost_of(result);
}

}  // namespace wafer::study
