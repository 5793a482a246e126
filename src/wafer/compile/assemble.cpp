#include "wafer/compile/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace wafer::compile {
namespace {

using ir::Phase;
using plan::Buffer;
using plan::BufferId;
using plan::BufferKind;
using plan::KernelId;
using plan::Move;
using plan::Node;
using plan::Place;
using plan::Recompute;

/// What a recompute policy keeps of a forward section.
std::vector<Kept> kept_of(const SectionWork& work, Recompute recompute) {
  if (recompute == Recompute::None) return work.saved;
  std::vector<Kept> kept = work.entering;
  if (recompute == Recompute::Full) return kept;
  for (const Kept& k : work.saved) {
    if (k.of_product) kept.push_back(k);
  }
  return kept;
}

/// Bytes on the wire of a sparse tensor: each non-zero with a 16-bit index, in 32-bit wavelets;
/// never more than dense. **Source:** Cerebras SDK, indexed wavelets: 16-bit index, 16-bit value.
double wire_bytes_per_element(double size, double density) {
  if (density >= 1) return size;
  const double indexed = size == 2 ? 4 : size + 2;
  return std::min(size, density * indexed);
}

constexpr double GradientBytes = 4;  // f32: 16-bit gradients fit the measurements worse

class Assembler {
 public:
  Assembler(const ir::Graph& graph, const StepAnalysis& analysis, double scale,
            const StreamedRequest& request, const Choice& choice, DType precision)
      : graph_(graph),
        main_(graph.entry()),
        analysis_(analysis),
        scale_(scale),
        request_(request),
        choice_(choice),
        parameters_(analysis.groups.size()) {
    plan_.systems = request.systems;
    plan_.batch = request.batch;
    plan_.micro_batch = choice.micro_batch;
    plan_.micro_batches = static_cast<double>(choice.micro_batches);
    plan_.recompute = choice.recompute;
    plan_.density = request.density;
    plan_.precision = precision;
    plan_.micro_batch_reason = choice.micro_batch_reason;
    plan_.activation_reason = choice.activation_reason;
    plan_.training = std::any_of(analysis.sections.begin(), analysis.sections.end(),
                                 [](auto& w) { return w.section.phase == Phase::Backward; });
    any_repeated_ = std::any_of(analysis.sections.begin(), analysis.sections.end(),
                                [](const SectionWork& w) { return w.section.repeated; });
  }

  plan::Plan run() {
    plan::Repeat step{
        plan::Repeat::Over::MicroBatches, static_cast<double>(choice_.micro_batches), {}};
    for (size_t s = 0; s < analysis_.sections.size(); ++s) add_section(s, step.body);
    plan_.body.push_back(std::move(step));
    if (plan_.training) add_updates();
    add_workspace();
    return std::move(plan_);
  }

 private:
  BufferId add_buffer(Buffer buffer) {
    plan_.buffers.push_back(std::move(buffer));
    return BufferId(plan_.buffers.size() - 1);
  }

  KernelId add_kernel(plan::Kernel kernel, double scale) {
    kernel.work = kernel.work * scale;
    plan_.kernels.push_back(std::move(kernel));
    return KernelId(plan_.kernels.size() - 1);
  }

  void add_section(size_t s, std::vector<Node>& body) {
    const SectionWork& work = analysis_.sections[s];
    plan::Layer layer{
        .name = work.section.name, .phase = work.section.phase, .passes = work.passes, .body = {}};
    const bool forward = work.section.phase == Phase::Forward;
    const bool again = !forward && work.forward != SIZE_MAX && analysis_.waiting[work.forward];
    if (again) add_activations(work.forward, true, layer.body);
    for (const Stream& stream : work.traffic.weights) add_weight(work, stream, layer.body);
    if (forward) add_data(work, layer.body);
    if (again) add_recompute(work.forward, layer.body);
    add_launches(s, layer.body);
    if (forward && analysis_.waiting[s]) add_activations(s, false, layer.body);
    for (const Stream& stream : work.traffic.gradients) add_gradient(work, stream, layer.body);
    if (layer.body.empty()) return;
    if (!work.section.repeated) {
      body.push_back(std::move(layer));
      return;
    }
    plan::Repeat repeat{plan::Repeat::Over::Layers, work.section.layers(), {}};
    repeat.body.push_back(std::move(layer));
    body.push_back(std::move(repeat));
  }

  BufferId parameter_buffer(const std::string& layer, const Stream& stream) {
    if (parameters_[stream.group].valid()) return parameters_[stream.group];
    const std::vector<size_t>& inputs = analysis_.groups[stream.group].inputs;
    const ir::Input& input = main_.inputs[inputs[0]];
    const BufferId id = add_buffer({.name = input.name,
                                    .type = main_.type_of(input.value),
                                    .kind = BufferKind::Parameter,
                                    .home = Place::Store,
                                    .layer = layer,
                                    .frozen = analysis_.updates.count(inputs[0]) == 0,
                                    .instances = static_cast<double>(inputs.size())});
    order_.push_back(stream.group);
    return parameters_[stream.group] = id;
  }

  /// Weights of layers are sparse when asked for; tables, vectors and heads stay dense.
  double density_of(const SectionWork& work, const TensorType& type) const {
    const bool layer = work.section.repeated || !any_repeated_;
    return layer && type.rank() >= 2 ? request_.density : 1;
  }

  void add_weight(const SectionWork& work, const Stream& stream, std::vector<Node>& body) {
    const BufferId id = parameter_buffer(work.section.name, stream);
    const TensorType& type = plan_.buffer(id).type;
    const double density = density_of(work, type);
    const double each = wire_bytes_per_element(size_in_bytes(type.dtype), density);
    body.push_back(Move{Move::Kind::WeightIn, id, density,
                        Bytes(each * static_cast<double>(type.elements()))});
  }

  void add_gradient(const SectionWork& work, const Stream& stream, std::vector<Node>& body) {
    const BufferId parameter = parameter_buffer(work.section.name, stream);
    const Buffer like = plan_.buffer(parameter);
    const double density = density_of(work, like.type);
    const BufferId id = add_buffer({.name = "gradient of " + like.name,
                                    .type = {DType::F32, like.type.shape},
                                    .kind = BufferKind::Gradient,
                                    .home = Place::Store,
                                    .layer = work.section.name,
                                    .instances = like.instances});
    const double each = wire_bytes_per_element(GradientBytes, density);
    body.push_back(Move{Move::Kind::GradientOut, id, density,
                        Bytes(each * static_cast<double>(like.type.elements()))});
  }

  void add_data(const SectionWork& work, std::vector<Node>& body) {
    for (size_t input : work.traffic.data) {
      const TensorType& type = main_.type_of(main_.inputs[input].value);
      const auto [at, fresh] = data_.try_emplace(input, BufferId());
      if (!fresh) continue;
      at->second = add_buffer({.name = main_.inputs[input].name,
                               .type = type,
                               .kind = BufferKind::Data,
                               .home = Place::ActivationStore,
                               .layer = work.section.name});
      body.push_back(Move{Move::Kind::DataIn, at->second, 1, type.bytes() * scale_});
    }
  }

  /// The kept activations of forward section s: made, and when they spill, out or in again.
  void add_activations(size_t s, bool back, std::vector<Node>& body) {
    const auto [at, fresh] = activations_.try_emplace(s);
    if (fresh) {
      for (const Kept& k : kept_of(analysis_.sections[s], choice_.recompute)) {
        at->second.push_back(
            add_buffer({.name = k.name,
                        .type = k.type,
                        .kind = BufferKind::Activation,
                        .home = choice_.spill ? Place::ActivationStore : Place::Wafer,
                        .layer = analysis_.sections[s].section.name,
                        .instances = k.instances * scale_}));
      }
    }
    if (!choice_.spill) return;
    const double layers = analysis_.sections[s].section.layers();
    for (BufferId id : at->second) {
      // Values that all layers share cross once, not once a layer.
      body.push_back(Move{back ? Move::Kind::ActivationIn : Move::Kind::ActivationOut, id, 1,
                          plan_.buffer(id).bytes() / layers});
    }
  }

  void add_launches(size_t s, std::vector<Node>& body) {
    for (const plan::Kernel& kernel : analysis_.sections[s].kernels) {
      kernels_of_[s].push_back(add_kernel(kernel, scale_));
      plan_.kernels.back().density = kernel_density(analysis_.sections[s], kernel);
      body.push_back(plan::Launch{kernels_of_[s].back()});
    }
  }

  double kernel_density(const SectionWork& work, const plan::Kernel& kernel) const {
    const bool layer = work.section.repeated || !any_repeated_;
    return layer && kernel.work.weight_product.value > 0 ? request_.density : 1;
  }

  void add_recompute(size_t forward, std::vector<Node>& body) {
    if (choice_.recompute == Recompute::None) return;
    for (KernelId id : kernels_of_[forward]) {
      const bool product = plan_.kernel(id).work.weight_product.value > 0;
      if (choice_.recompute == Recompute::Selective && product) continue;
      body.push_back(plan::Launch{.kernel = id, .where = Place::Wafer, .recompute = true});
    }
  }

  void add_updates() {
    plan_.body.push_back(plan::Barrier{"the gradients of all micro-batches have been added"});
    std::map<std::string, plan::Update> by_layer;
    std::vector<std::string> order;
    for (const size_t group : order_) {
      const BufferId id = parameters_[group];
      if (plan_.buffer(id).frozen) continue;
      const std::string layer = plan_.buffer(id).layer;
      const auto [at, fresh] = by_layer.try_emplace(layer);
      if (fresh) {
        order.push_back(layer);
        at->second.kernel = add_kernel({.name = "update/" + layer,
                                        .implementation = "optimizer",
                                        .phase = Phase::Optimizer,
                                        .function = graph_.main,
                                        .first_op = updates_of(group).first,
                                        .op_count = 1,
                                        .work = {}},
                                       1);
      }
      add_update(group, id, at->second);
    }
    for (const std::string& layer : order) plan_.body.push_back(by_layer.at(layer));
  }

  const ParameterUpdate& updates_of(size_t group) const {
    return analysis_.updates.at(analysis_.groups[group].inputs[0]);
  }

  void add_update(size_t group, BufferId id, plan::Update& update) {
    update.parameters.push_back(id);
    plan_.kernels[update.kernel.index].work += analysis_.groups[group].update;
    for (size_t state : updates_of(group).state) {
      add_buffer({.name = main_.inputs[state].name,
                  .type = main_.type_of(main_.inputs[state].value),
                  .kind = BufferKind::OptimizerState,
                  .home = Place::Store,
                  .layer = plan_.buffer(id).layer,
                  .instances = plan_.buffer(id).instances});
    }
  }

  void add_workspace() {
    const double bytes = analysis_.widest_kernel.value * scale_;
    add_buffer({.name = "widest kernel",
                .type = {DType::U8, {Dim(static_cast<int64_t>(bytes))}},
                .kind = BufferKind::Workspace,
                .home = Place::Wafer,
                .layer = {}});
  }

  const ir::Graph& graph_;
  const ir::Function& main_;
  const StepAnalysis& analysis_;
  const double scale_;
  const StreamedRequest& request_;
  const Choice& choice_;
  bool any_repeated_ = false;
  std::vector<BufferId> parameters_;  ///< of each group, as far as they are there
  std::vector<size_t> order_;         ///< groups, as their buffers came
  std::map<size_t, BufferId> data_;
  std::map<size_t, std::vector<BufferId>> activations_;
  std::map<size_t, std::vector<KernelId>> kernels_of_;
  plan::Plan plan_;
};

}  // namespace

plan::Plan assemble_streamed(const ir::Graph& graph, const StepAnalysis& analysis, double scale,
                             const StreamedRequest& request, const Choice& choice,
                             DType precision) {
  return Assembler(graph, analysis, scale, request, choice, precision).run();
}

Bytes kept_bytes(const StepAnalysis& analysis, Recompute recompute) {
  Bytes bytes;
  for (size_t s = 0; s < analysis.sections.size(); ++s) {
    if (!analysis.waiting[s]) continue;
    for (const Kept& k : kept_of(analysis.sections[s], recompute)) {
      bytes += k.type.bytes() * k.instances;
    }
  }
  return bytes;
}

}  // namespace wafer::compile
