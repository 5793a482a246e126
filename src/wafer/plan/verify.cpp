#include <fmt/format.h>

#include <set>

#include "wafer/plan/plan.h"

namespace wafer::plan {
namespace {

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan) {}

  std::vector<std::string> run() {
    check_header();
    for (const Kernel& k : plan_.kernels) check_kernel(k);
    walk(plan_.body);
    if (plan_.training) check_every_parameter_is_updated();
    return std::move(problems_);
  }

 private:
  template <typename... Args>
  void expect(bool holds, fmt::format_string<Args...> text, Args&&... args) {
    if (!holds) problems_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void check_header() {
    expect(plan_.batch >= 1 && plan_.systems >= 1, "batch and systems must be at least 1");
    expect(plan_.micro_batch >= 1, "the micro-batch must be at least 1 sample");
    const double zeros = plan_.sparsity.zeros;
    expect(zeros >= 0 && zeros < 1, "sparsity {} is not in [0, 1)", zeros);
    if (plan_.target == Target::Cluster) check_parallelism();
    expect(plan_.resident.has_value() == (plan_.target == Target::WaferResident),
           "target {} {} resident layers", name_of(plan_.target),
           plan_.resident ? "has" : "has no");
    if (plan_.resident) check_resident(*plan_.resident);
    if (plan_.target == Target::WaferPipelined) check_pipeline();
    const double samples = plan_.micro_batches * static_cast<double>(plan_.micro_batch);
    const int64_t replicas = plan_.target == Target::Cluster ? plan_.parallel.data : plan_.systems;
    const double share = static_cast<double>(plan_.batch) / static_cast<double>(replicas);
    expect(samples >= share * (1 - 1e-9), "micro-batches hold {} samples a system, the batch {}",
           samples, share);
  }

  bool has_graph() const { return plan_.target == Target::WaferStreamed; }

  void check_pipeline() {
    expect(plan_.pipeline.has_value(), "no pipeline");
    if (!plan_.pipeline) return;
    for (std::string& problem : problems_of(*plan_.pipeline))
      problems_.push_back(std::move(problem));
  }

  void check_parallelism() {
    const Parallelism& p = plan_.parallel;
    expect(p.tensor * p.pipeline * p.data == plan_.systems,
           "tensor {} x pipeline {} x data {} is not the {} GPUs", p.tensor, p.pipeline, p.data,
           plan_.systems);
    expect(p.interleaving >= 1, "interleaving of {}", p.interleaving);
  }

  void check_resident(const Resident& r) {
    const ResidentPlacement& at = r.placed;
    expect(at.mesh >= 1 && at.wafers >= 1 && r.requests >= 1 && r.replicas >= 1,
           "mesh {}, wafers {}, requests {}, replicas {}: each must be at least 1", at.mesh,
           at.wafers, r.requests, r.replicas);
    expect(at.wafers * at.regions_of_wafer * at.layers_of_region >= at.layers,
           "{} wafers of {} regions of {} layers do not hold {} layers", at.wafers,
           at.regions_of_wafer, at.layers_of_region, at.layers);
    expect(static_cast<double>(at.layers_of_region) * at.layer_bytes() <= at.room_bytes,
           "{} layers of {} bytes a PE do not lie in {} bytes", at.layers_of_region,
           at.layer_bytes(), at.room_bytes);
    expect(at.wafers * r.replicas <= plan_.systems, "{} replicas of {} wafers, {} systems",
           r.replicas, at.wafers, plan_.systems);
    double layers = 0;
    for (const ResidentKind& kind : r.kinds) {
      layers += kind.times;
      check_resident(kind.prefill, at);
      if (kind.decode) check_resident(*kind.decode, at);
    }
    expect(layers == static_cast<double>(at.layers), "{} layers are placed, kinds have {}",
           at.layers, layers);
  }

  void check_resident(const ResidentLayer& layer, const ResidentPlacement& at) {
    expect(layer.mesh == at.mesh, "a layer on a mesh of {}, its region has {}", layer.mesh,
           at.mesh);
    for (const MeshProduct& p : layer.products) {
      expect(p.rows >= 1 && p.inner >= 1 && p.columns >= 1, "product {}: an empty tile", p.name);
    }
  }

  void check_kernel(const Kernel& k) {
    const bool in_range =
        k.function.index < plan_.graph.functions.size() &&
        k.first_op + k.op_count <= plan_.graph.functions[k.function.index].ops.size();
    expect(in_range || !has_graph(), "kernel {}: its ops are not in the graph", k.name);
    expect(k.work.total().value >= 0 && k.work.read.value >= 0, "kernel {}: negative work", k.name);
  }

  void walk(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) std::visit([this](const auto& n) { visit(n); }, node);
  }

  void visit(const Launch& n) {
    expect(n.kernel.index < plan_.kernels.size(), "a launch names no kernel");
  }
  void visit(const Barrier& n) { expect(!n.reason.empty(), "a barrier without a reason"); }
  void visit(const Layer& n) { walk(n.body); }
  void visit(const Collective& n) {
    expect(n.group >= 2, "{} of {}: a group of {}", name_of(n.kind), n.what, n.group);
    expect(n.in_node >= 1 && n.in_node <= n.group, "{} of {}: {} of a group of {} in a node",
           name_of(n.kind), n.what, n.in_node, n.group);
    expect(n.bytes.value >= 0 && n.times > 0, "{} of {}: negative size", name_of(n.kind), n.what);
    for (KernelId id : n.beside) {
      expect(id.index < plan_.kernels.size(), "a collective runs beside no kernel");
    }
  }
  void visit(const Repeat& n) {
    expect(n.times > 0, "a repeat runs {} times", n.times);
    expect(!n.body.empty(), "a repeat has no body");
    walk(n.body);
  }

  void visit(const Move& n) {
    if (n.buffer.index >= plan_.buffers.size()) {
      problems_.push_back("a move names no buffer");
      return;
    }
    const Buffer& b = plan_.buffer(n.buffer);
    using Kind = Move::Kind;
    expect(n.bytes.value >= 0, "move of {}: negative size", b.name);
    expect(n.kind != Kind::WeightIn || b.kind == BufferKind::Parameter,
           "weight_in of {}, which is a {}", b.name, name_of(b.kind));
    expect(n.kind != Kind::GradientOut || b.kind == BufferKind::Gradient,
           "gradient_out of {}, which is a {}", b.name, name_of(b.kind));
    if (n.kind == Kind::ActivationOut) sent_.insert(n.buffer);
    expect(n.kind != Kind::ActivationIn || sent_.count(n.buffer) > 0,
           "activation_in of {} before it went out", b.name);
  }

  void visit(const Update& n) {
    expect(n.kernel.index < plan_.kernels.size(), "an update names no kernel");
    for (BufferId id : n.parameters) {
      expect(id.index < plan_.buffers.size() && updated_.insert(id).second,
             "parameter {} is updated twice or unknown", id.index);
    }
  }

  void check_every_parameter_is_updated() {
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const Buffer& b = plan_.buffers[i];
      expect(b.kind != BufferKind::Parameter || b.frozen || updated_.count(BufferId(i)) > 0,
             "parameter {} is never updated", b.name);
    }
  }

  const Plan& plan_;
  std::vector<std::string> problems_;
  std::set<BufferId> sent_;
  std::set<BufferId> updated_;
};

}  // namespace

std::vector<std::string> problems_of(const Plan& plan) { return Verifier(plan).run(); }

}  // namespace wafer::plan
