#include "wafer/compile/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "wafer/compile/sparse_weights.h"

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

/// Bytes on the wire for each element of a tensor of elements of `size` bytes.
double wire_bytes_per_element(double size, const plan::SparseParts& parts) {
  if (parts.empty()) return size;
  double bytes = 0;
  for (const plan::SparsePart& p : parts) bytes += p.share * p.sparsity.wire_bytes(size);
  return bytes;
}

void add_part(plan::SparseParts& parts, double share, const plan::Sparsity& sparsity) {
  const auto same = std::find_if(parts.begin(), parts.end(),
                                 [&](const plan::SparsePart& p) { return p.sparsity == sparsity; });
  if (same != parts.end()) {
    same->share += share;
  } else {
    parts.push_back({share, sparsity});
  }
}

/// The parts of a whole; none where all of it is dense.
plan::SparseParts settled(plan::SparseParts parts) {
  if (parts.size() != 1) return parts;
  if (parts[0].sparsity.dense()) return {};
  parts[0].share = 1;
  return parts;
}

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
    plan_.sparsity = request.sparsity;
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

  /// Of weights that are not asked for by name.
  plan::Sparsity unnamed_in(const SectionWork& work) const {
    const bool layer = work.section.repeated || !any_repeated_;
    return layer ? request_.sparsity : plan::Sparsity();
  }

  /// Weights of layers are sparse when asked for, others where they are asked for by name; tables
  /// and vectors stay dense.
  plan::SparseParts parts_of(const SectionWork& work, size_t group) const {
    const ParameterGroup& g = analysis_.groups[group];
    const TensorType& type = main_.type_of(main_.inputs[g.inputs[0]].value);
    if (type.rank() < 2) return {};
    plan::SparseParts parts;
    for (const size_t input : g.inputs) {
      const plan::WeightSparsity* own = asked_of(request_, main_, g, input);
      add_part(parts, 1 / static_cast<double>(g.inputs.size()),
               own != nullptr ? own->sparsity : unnamed_in(work));
    }
    return settled(std::move(parts));
  }

  void add_weight(const SectionWork& work, const Stream& stream, std::vector<Node>& body) {
    const BufferId id = parameter_buffer(work.section.name, stream);
    const TensorType& type = plan_.buffer(id).type;
    plan::SparseParts sparse = parts_of(work, stream.group);
    const double each = wire_bytes_per_element(size_in_bytes(type.dtype), sparse);
    body.push_back(Move{Move::Kind::WeightIn, id, std::move(sparse),
                        Bytes(each * static_cast<double>(type.elements()))});
  }

  void add_gradient(const SectionWork& work, const Stream& stream, std::vector<Node>& body) {
    const BufferId parameter = parameter_buffer(work.section.name, stream);
    const Buffer like = plan_.buffer(parameter);
    plan::SparseParts sparse = parts_of(work, stream.group);
    const BufferId id = add_buffer({.name = "gradient of " + like.name,
                                    .type = {DType::F32, like.type.shape},
                                    .kind = BufferKind::Gradient,
                                    .home = Place::Store,
                                    .layer = work.section.name,
                                    .instances = like.instances});
    const double each = wire_bytes_per_element(GradientBytes, sparse);
    body.push_back(Move{Move::Kind::GradientOut, id, std::move(sparse),
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
      body.push_back(Move{Move::Kind::DataIn, at->second, {}, type.bytes() * scale_});
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
      body.push_back(Move{back ? Move::Kind::ActivationIn : Move::Kind::ActivationOut,
                          id,
                          {},
                          plan_.buffer(id).bytes() / layers});
    }
  }

  void add_launches(size_t s, std::vector<Node>& body) {
    for (const plan::Kernel& kernel : analysis_.sections[s].kernels) {
      kernels_of_[s].push_back(add_kernel(kernel, scale_));
      plan_.kernels.back().sparse = parts_of(analysis_.sections[s], kernel);
      body.push_back(plan::Launch{kernels_of_[s].back()});
    }
  }

  /// Of the weights that a kernel multiplies by, forward or backward, by their elements.
  plan::SparseParts parts_of(const SectionWork& work, const plan::Kernel& kernel) const {
    if (kernel.work.weight_product.value == 0) return {};
    std::vector<std::pair<double, plan::SparseParts>> all;
    double elements = 0;
    for (const Stream& stream : weights_of(work)) {
      const ParameterGroup& g = analysis_.groups[stream.group];
      if (g.kernel != kernel.name) continue;
      const TensorType& type = main_.type_of(main_.inputs[g.inputs[0]].value);
      all.emplace_back(static_cast<double>(type.elements()), parts_of(work, stream.group));
      elements += all.back().first;
    }
    // None where the weight is computed before it is multiplied by.
    if (all.empty()) return settled({{1, unnamed_in(work)}});
    plan::SparseParts parts;
    for (const auto& [size, own] : all) {
      if (own.empty()) add_part(parts, size / elements, {});
      for (const plan::SparsePart& p : own) add_part(parts, p.share * size / elements, p.sparsity);
    }
    return settled(std::move(parts));
  }

  /// Those that its forward section streams: a backward section need not read all of them again.
  const std::vector<Stream>& weights_of(const SectionWork& work) const {
    const bool backward = work.forward != SIZE_MAX;
    return (backward ? analysis_.sections[work.forward] : work).traffic.weights;
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
