#include "wafer/compile/cluster_plan.h"

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/compile/cluster_kernels.h"
#include "wafer/plan/parameter_bytes.h"

namespace wafer::compile {
namespace {

using ir::Phase;
using plan::BufferId;
using plan::BufferKind;
using plan::Collective;
using plan::KernelId;
using plan::Node;
using plan::Place;
using plan::Recompute;
using plan::Sharding;
using plan::Stage;
using Kind = Collective::Kind;

double number(int64_t n) { return static_cast<double>(n); }

/// Parameters that a GPU of a whole replica holds, in numbers.
double share_of_parameters(const ClusterCase& c) {
  const plan::Parallelism& p = c.choice.parallel;
  return c.profile.parameters / number(p.tensor * p.pipeline);
}

/// The last one is priced as if it were full.
int64_t micro_batches_of(const ClusterCase& c) {
  return divided_up(replica_samples(c.request.batch, c.choice.parallel.data), c.choice.micro_batch);
}

/// Memory traffic of the optimizer for a parameter: gradient set to zero 4, read for its norm 4,
/// clipped 8; master weight and moments read and written 24, the gradient read 4; in mixed
/// precision the master weight read and the 16-bit one written 6. **Source:** counted from the
/// steps of Megatron-LM's mixed-precision optimizer.
double update_bytes(DType precision) { return size_in_bytes(precision) <= 2 ? 50 : 44; }

/// Writes one plan.
class Assembler {
 public:
  Assembler(const ClusterCase& c, int64_t tokens)
      : c_(c), parallel_(c.choice.parallel), kernels_(c, tokens) {
    plan_.target = plan::Target::Cluster;
    plan_.systems = c.request.systems;
    plan_.batch = c.request.batch;
    plan_.micro_batch = c.choice.micro_batch;
    plan_.micro_batches = number(micro_batches_of(c));
    plan_.recompute = c.choice.recompute;
    plan_.precision = c.precision;
    plan_.tf32 = c.request.tf32;
    plan_.parallel = parallel_;
    plan_.length_variation = c.request.length_variation;
    plan_.parameters = c.profile.parameters;
  }

  plan::Plan training() {
    plan::Repeat step{plan::Repeat::Over::MicroBatches, plan_.micro_batches, {}};
    for (const LayerProfile& layer : c_.profile.layers) add(layer, Phase::Forward, step.body);
    const auto& layers = c_.profile.layers;
    for (auto l = layers.rbegin(); l != layers.rend(); ++l) add(*l, Phase::Backward, step.body);
    add_transfers(step.body);
    if (parallel_.sharding == Sharding::Full) add_shards(3, step.body);
    plan_.body.push_back(std::move(step));
    add_replicas();
    add_state();
    add_update();
    set_flops();
    return std::move(plan_);
  }

  /// Only the last token of a prompt, or the new one, goes through what follows the layers.
  plan::Plan serving(bool last_token_only) {
    plan_.training = false;
    plan::Repeat step{plan::Repeat::Over::MicroBatches, plan_.micro_batches, {}};
    const GpuKernels one(c_, 1);
    for (const LayerProfile& layer : c_.profile.layers) {
      const bool after = last_token_only && layer.stage == Stage::Last;
      add(layer, Phase::Forward, step.body, after ? one : kernels_);
    }
    plan_.body.push_back(std::move(step));
    const double weights = share_of_parameters(c_) * size_in_bytes(c_.precision);
    add_buffer("weights", BufferKind::Parameter, Bytes(weights));
    add_buffer("keys and values", BufferKind::Activation, cache());
    set_flops();
    return std::move(plan_);
  }

 private:
  BufferId add_buffer(const char* name, BufferKind kind, Bytes bytes) {
    constexpr double Most = 0x1p60;  // of a dimension; no GPU holds that, so it is refused anyway
    plan_.buffers.push_back(
        {.name = name,
         .type = {DType::U8, {Dim(static_cast<int64_t>(std::min(bytes.value, Most)))}},
         .kind = kind,
         .home = Place::Gpu,
         .layer = {}});
    return BufferId(plan_.buffers.size() - 1);
  }

  KernelId launch(plan::Kernel kernel, bool again, std::vector<Node>& body) {
    plan_.kernels.push_back(std::move(kernel));
    const KernelId id(plan_.kernels.size() - 1);
    body.push_back(plan::Launch{.kernel = id, .where = Place::Gpu, .recompute = again});
    return id;
  }

  void add(const LayerProfile& layer, Phase phase, std::vector<Node>& body) {
    add(layer, phase, body, kernels_);
  }

  void add(const LayerProfile& layer, Phase phase, std::vector<Node>& body,
           const GpuKernels& kernels) {
    plan::Layer node{.name = layer.name, .phase = phase, .body = {}, .stage = layer.stage};
    if (phase == Phase::Forward) {
      forward(layer, false, node.body, kernels);
    } else {
      recompute(layer, node.body);
      backward(layer, node.body);
    }
    const double times = layer.times / (layer.repeated ? number(parallel_.pipeline) : 1);
    if (!layer.repeated) {
      body.push_back(std::move(node));
      return;
    }
    plan::Repeat repeat{plan::Repeat::Over::Layers, times, {}};
    repeat.body.push_back(std::move(node));
    body.push_back(std::move(repeat));
  }

  void forward(const LayerProfile& layer, bool again, std::vector<Node>& body,
               const GpuKernels& kernels) {
    for (const Step& step : layer.steps) {
      const auto* p = std::get_if<ProductStep>(&step);
      const bool ranks = p != nullptr && layer.repeated && parallel_.tensor > 1;
      if (ranks && parallel_.sequence && p->split == Split::Columns) {
        body.push_back(between_ranks(Kind::AllGather, p->name, kernels.operand(*p)));
      }
      launch(kernels.forward(step, layer), again, body);
      if (!ranks || p->split != Split::Rows) continue;
      const Kind kind = parallel_.sequence ? Kind::ReduceScatter : Kind::AllReduce;
      body.push_back(between_ranks(kind, p->name, kernels.result(*p)));
    }
  }

  void recompute(const LayerProfile& layer, std::vector<Node>& body) {
    if (!layer.repeated) return;
    if (plan_.recompute == Recompute::Full) forward(layer, true, body, kernels_);
    if (plan_.recompute != Recompute::Selective) return;
    for (const Step& step : layer.steps) {
      if (!std::holds_alternative<AttentionStep>(step)) continue;
      launch(kernels_.forward(step, layer), true, body);
    }
  }

  /// Sums over ranks of operands' gradients run beside the gradients of the same matrices.
  void backward(const LayerProfile& layer, std::vector<Node>& body) {
    Collective sums{.kind = parallel_.sequence ? Kind::ReduceScatter : Kind::AllReduce,
                    .what = "operand gradients"};
    Collective gathers{.kind = Kind::AllGather, .what = "result gradients"};
    sums.times = gathers.times = 0;
    for (auto step = layer.steps.rbegin(); step != layer.steps.rend(); ++step) {
      const auto* p = std::get_if<ProductStep>(&*step);
      std::vector<plan::Kernel> kernels = kernels_.backward(*step, layer);
      for (size_t i = 0; i < kernels.size(); ++i) {
        const KernelId id = launch(std::move(kernels[i]), false, body);
        if (p == nullptr || i != 1) continue;
        if (p->split == Split::Columns) join(sums, kernels_.operand(*p), id);
        if (p->split == Split::Rows) join(gathers, kernels_.result(*p), id);
      }
    }
    if (!layer.repeated || parallel_.tensor == 1) return;
    push_mean(sums, body);
    if (parallel_.sequence) push_mean(gathers, body);
  }

  static void join(Collective& all, Bytes bytes, KernelId beside) {
    all.bytes += bytes;
    all.times += 1;
    all.beside.push_back(beside);
  }

  void push_mean(Collective all, std::vector<Node>& body) const {
    if (all.times == 0) return;
    all.bytes = all.bytes / all.times;
    all.group = parallel_.tensor;
    all.in_node = std::min(parallel_.tensor, c_.node);
    body.push_back(std::move(all));
  }

  Collective between_ranks(Kind kind, const std::string& what, Bytes bytes) const {
    return {.kind = kind,
            .what = what,
            .bytes = bytes,
            .group = parallel_.tensor,
            .in_node = std::min(parallel_.tensor, c_.node)};
  }

  /// Each chunk of layers hands its result to the next stage, forward and backward. Tensor ranks
  /// send a part each; the receivers put it together.
  void add_transfers(std::vector<Node>& body) const {
    if (parallel_.pipeline == 1) return;
    Bytes passed;
    for (const LayerProfile& l : c_.profile.layers) {
      if (l.repeated) passed = std::max(passed, kernels_.passed_on(l));
    }
    const double times = 2 * number(parallel_.interleaving);
    body.push_back(Collective{.kind = Kind::SendReceive,
                              .what = plan::BetweenStages,
                              .bytes = passed / number(parallel_.tensor),
                              .group = 2,
                              .in_node = 1,
                              .times = times});
    if (parallel_.tensor == 1 || parallel_.sequence) return;
    Collective gather = between_ranks(Kind::AllGather, plan::BetweenStages, passed);
    gather.times = times;
    body.push_back(std::move(gather));
  }

  int64_t replicas_in_node() const {
    return std::min(parallel_.data, std::max<int64_t>(1, c_.node / parallel_.tensor));
  }

  /// Weights are gathered and gradients scattered layer by layer, with what lies around the layers
  /// as one more: `passes` times in all.
  void add_shards(double passes, std::vector<Node>& body) const {
    if (parallel_.data == 1) return;
    const double layers = c_.profile.repeated() / number(parallel_.pipeline) + 1;
    const Bytes all(share_of_parameters(c_) * size_in_bytes(c_.precision));
    const auto add = [&](Kind kind, double times) {
      body.push_back(Collective{.kind = kind,
                                .what = plan::OfShards,
                                .bytes = all / layers,
                                .group = parallel_.data,
                                .in_node = replicas_in_node(),
                                .times = times * layers});
    };
    add(Kind::AllGather, passes - 1);
    add(Kind::ReduceScatter, 1);
  }

  void add_replicas() {
    if (parallel_.data == 1 || parallel_.sharding == Sharding::Full) return;
    if (parallel_.sharding == Sharding::Gradients) return add_shards(2, plan_.body);
    const Bytes bytes(share_of_parameters(c_) * size_in_bytes(c_.precision));
    const auto add = [&](Kind kind) {
      plan_.body.push_back(Collective{.kind = kind,
                                      .what = "gradients",
                                      .bytes = bytes,
                                      .group = parallel_.data,
                                      .in_node = replicas_in_node()});
    };
    if (parallel_.sharding == Sharding::None) return add(Kind::AllReduce);
    add(Kind::ReduceScatter);
    add(Kind::AllGather);
  }

  void add_state() {
    const ClusterMemory m = memory_of(c_);
    weights_ = add_buffer("weights", BufferKind::Parameter, m.weights);
    add_buffer("gradients", BufferKind::Gradient, m.gradients);
    add_buffer("optimizer state", BufferKind::OptimizerState, m.optimizer);
    add_buffer("activations", BufferKind::Activation, m.activations);
    add_buffer("workspace", BufferKind::Workspace, m.workspace);
  }

  void add_update() {
    const bool shared = parallel_.sharding != Sharding::None;
    const double parameters = share_of_parameters(c_) / (shared ? number(parallel_.data) : 1);
    plan_.kernels.push_back({.name = "update",
                             .implementation = "optimizer",
                             .phase = Phase::Optimizer,
                             .function = {},
                             .work = {},
                             .products = {},
                             .launches = 0});
    plan_.kernels.back().work.read = Bytes(parameters * update_bytes(c_.precision));
    plan_.body.push_back(plan::Update{KernelId(plan_.kernels.size() - 1), {weights_}});
  }

  /// Model FLOPs count every product and all scores, three times in training; hardware FLOPs add
  /// what runs again.
  void set_flops() {
    Flops model, again;
    for (const LayerProfile& l : c_.profile.layers) {
      model += (l.products() + l.attention()) * l.times;
      if (!l.repeated || !plan_.training) continue;
      if (plan_.recompute == Recompute::Full) again += (l.products() + l.attention()) * l.times;
      if (plan_.recompute == Recompute::Selective) again += l.attention() * l.times;
    }
    const double unit = number(c_.profile.unit);
    plan_.model_flops_per_sample = model * ((plan_.training ? 3 : 1) / unit);
    plan_.hardware_flops_per_sample = plan_.model_flops_per_sample + again / unit;
    plan_.tokens_per_sample = c_.profile.tokens;
  }

  Bytes cache() const {
    Bytes bytes;
    for (const LayerProfile& l : c_.profile.layers) {
      for (const Step& step : l.steps) {
        const auto* a = std::get_if<AttentionStep>(&step);
        if (a == nullptr || !a->causal) continue;
        const double heads = std::max(a->batch_kv_heads / number(parallel_.tensor), 1.0);
        bytes += Bytes(heads * a->keys * (a->depth + a->value_depth) * l.times *
                       number(plan_.micro_batch) * size_in_bytes(c_.precision) /
                       number(c_.profile.unit));
      }
    }
    return bytes;
  }

  const ClusterCase& c_;
  const plan::Parallelism& parallel_;
  const GpuKernels kernels_;
  BufferId weights_;
  plan::Plan plan_;
};

}  // namespace

ClusterMemory memory_of(const ClusterCase& c) {
  const plan::Parallelism& p = c.choice.parallel;
  const GpuKernels kernels(c, c.profile.tokens);
  const double parameters = share_of_parameters(c);
  const plan::ParameterBytes each = plan::parameter_bytes(c.precision);
  const double data = number(p.data);
  ClusterMemory m;
  const bool full = p.sharding == Sharding::Full;
  const bool gradients = full || p.sharding == Sharding::Gradients;
  m.weights = Bytes(parameters * each.weight / (full ? data : 1));
  m.gradients = Bytes(parameters * each.gradient / (gradients ? data : 1));
  m.optimizer = Bytes(parameters * each.state / (p.sharding == Sharding::None ? 1 : data));
  // Two layers gathered at a time: the one in use and the next, weights and gradients.
  if (gradients) {
    m.workspace += Bytes(2 * 2 * each.weight * parameters / std::max(1.0, c.profile.repeated()));
  }
  const double in_flight = std::min(number(p.pipeline), number(micro_batches_of(c)));
  const double ahead =
      p.interleaving > 1 ? 1 + number(p.pipeline - 1) / number(p.pipeline * p.interleaving) : 1;
  Bytes again;
  for (const LayerProfile& l : c.profile.layers) {
    const double times = l.repeated ? l.times / number(p.pipeline) * in_flight * ahead : 1;
    const Recompute policy = l.repeated ? c.choice.recompute : Recompute::None;
    m.activations += kernels.kept(l, policy) * times;
    m.workspace += kernels.workspace(l);
    if (policy == Recompute::None) continue;
    again = std::max(again, kernels.kept(l, Recompute::None) - kernels.kept(l, policy));
  }
  m.workspace += again;
  return m;
}

plan::Plan assemble_training(const ClusterCase& c) {
  return Assembler(c, c.profile.tokens).training();
}

plan::Plan assemble_serving(const ClusterCase& c, std::optional<Serving> part) {
  const bool decode = part == Serving::Decode;
  return Assembler(c, decode ? 1 : c.profile.tokens).serving(part.has_value());
}

}  // namespace wafer::compile
