#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wafer/plan/plan.h"

namespace wafer::plan {
namespace {

using Json = nlohmann::ordered_json;

std::string describe(const Plan& plan, const Move& n) {
  const Buffer& b = plan.buffer(n.buffer);
  const std::string sparse = n.sparse.empty() ? "" : fmt::format(" sparsity {}", text_of(n.sparse));
  return fmt::format("{} {} : {} {} bytes{}", name_of(n.kind), b.name, b.type.text(), n.bytes.value,
                     sparse);
}

// "3x[2048,1024]x[1024,4096]"
std::string describe(const std::vector<Product>& products) {
  std::string text;
  for (const Product& p : products) {
    text += fmt::format(" {}x[{},{}]x[{},{}]", p.batch, p.m, p.k, p.k, p.n);
  }
  return text;
}

std::string describe(const Plan& plan, const Launch& n) {
  const Kernel& k = plan.kernel(n.kernel);
  if (n.where == Place::Gpu) {
    return fmt::format("launch {}{} [{}]{} bytes {} launches {}", k.name,
                       n.recompute ? " again" : "", k.implementation, describe(k.products),
                       (k.work.read + k.work.written).value, k.launches);
  }
  return fmt::format("launch {} at {}{} [{}] product {} local {} elementwise {}", k.name,
                     name_of(n.where), n.recompute ? " again" : "", k.implementation,
                     k.work.weight_product.value, k.work.local_product.value,
                     k.work.elementwise.value);
}

std::string describe(const Plan& plan, const Update& n) {
  std::string names;
  for (BufferId id : n.parameters) names += (names.empty() ? "" : ", ") + plan.buffer(id).name;
  return fmt::format("update {} : {}", plan.kernel(n.kernel).name, names);
}

std::string describe(const Plan& plan, const Collective& n) {
  std::string beside;
  for (KernelId id : n.beside)
    beside += (beside.empty() ? " beside " : ", ") + plan.kernel(id).name;
  return fmt::format("{} {} : {} bytes x{} over {} ({} in a node){}", name_of(n.kind), n.what,
                     n.bytes.value, n.times, n.group, n.in_node, beside);
}

std::string describe(const Plan&, const Barrier& n) { return "barrier: " + n.reason; }

class TextPrinter {
 public:
  explicit TextPrinter(const Plan& plan) : plan_(plan) {}

  std::string run() {
    line("plan {} on {} target {} {}", plan_.model, plan_.machine, name_of(plan_.target),
         plan_.training ? "training" : "inference");
    line(
        "  systems {} batch {} micro_batch {} micro_batches {} precision {} recompute {} sparsity "
        "{}",
        plan_.systems, plan_.batch, plan_.micro_batch, plan_.micro_batches,
        wafer::name_of(plan_.precision), name_of(plan_.recompute), plan_.sparsity.text());
    if (plan_.target == Target::Cluster) parallelism();
    if (plan_.resident) resident(*plan_.resident);
    line("  micro-batch: {}", plan_.micro_batch_reason);
    line("  activations: {}", plan_.activation_reason);
    line("buffers");
    for (const Buffer& b : plan_.buffers) {
      line("  {} : {} x{} {} at {}", b.name, b.type.text(), b.instances, name_of(b.kind),
           name_of(b.home));
    }
    line("body");
    nodes(plan_.body, 1);
    if (plan_.pipeline) pipeline(*plan_.pipeline);
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  void parallelism() {
    const Parallelism& p = plan_.parallel;
    line("  tensor {} pipeline {} data {} interleaving {} sequence {} sharding {} fused {}",
         p.tensor, p.pipeline, p.data, p.interleaving, p.sequence, name_of(p.sharding), p.fused);
  }

  void resident(const Resident& r) {
    const ResidentPlacement& at = r.placed;
    line("  mesh {0} x {0} regions {1} a wafer wafers {2} layers {3} of at most {4} a region",
         at.mesh, at.regions_of_wafer, at.wafers, at.layers, at.layers_of_region);
    line("  bytes of a PE: weights {} cache {} head {} room {}", at.weight_bytes, at.cache_bytes,
         at.head_bytes, at.room_bytes);
    line("  requests {} replicas {}", r.requests, r.replicas);
    for (const ResidentKind& kind : r.kinds) {
      tiles(kind.name + " prefill", kind.prefill);
      if (kind.decode) tiles(kind.name + " decode", *kind.decode);
    }
    if (r.head) tiles("head", *r.head);
  }

  void tiles(const std::string& name, const ResidentLayer& layer) {
    std::string products;
    for (const MeshProduct& p : layer.products) {
      products += fmt::format(" {}[{},{}]x[{},{}]", p.name, p.rows, p.inner, p.inner, p.columns);
    }
    line("  tiles of {}:{} sums of words [{}]", name, products, fmt::join(layer.reductions, ","));
  }

  void pipeline(const Pipeline& p) {
    line("pipeline on {} x {} PEs: period {} cycles, depth {} periods, wires {} PEs long", p.width,
         p.height, p.period.value, p.depth, p.wire_length);
    line("  kernels {} PEs of {}, FIFOs {} PEs, share {}", p.kernel_pes(), p.region, p.fifo_pes(),
         p.usable_share);
    for (const PipelineKernel& k : p.kernels) {
      line("  {} {}/{} [{}] {} PEs on {} x {} at {}, {}", k.layer, k.number, k.name,
           name_of(k.kind), k.pes, k.at.width, k.at.height, k.at.x, k.at.y);
    }
  }

  void nodes(const std::vector<Node>& body, size_t depth) {
    for (const Node& node : body) {
      std::visit([&](const auto& n) { print(n, depth); }, node);
    }
  }

  template <typename Leaf>
  void print(const Leaf& n, size_t depth) {
    line("{:{}}{}", "", 2 * depth, describe(plan_, n));
  }
  void print(const Layer& n, size_t depth) {
    const std::string at =
        n.stage == Stage::Every ? "" : fmt::format(" on the {} stage", name_of(n.stage));
    line("{:{}}layer {} {}{}", "", 2 * depth, n.name, ir::name_of(n.phase), at);
    nodes(n.body, depth + 1);
  }
  void print(const Repeat& n, size_t depth) {
    line("{:{}}repeat {} over {}", "", 2 * depth, n.times, name_of(n.over));
    nodes(n.body, depth + 1);
  }

  const Plan& plan_;
  std::string text_;
};

Json nodes_json(const Plan& plan, const std::vector<Node>& body);

Json products_json(const std::vector<Product>& products) {
  Json all = Json::array();
  for (const Product& p : products) all.push_back({p.m, p.n, p.k, p.batch});
  return all;
}

Json parallel_json(const Parallelism& p) {
  return {{"tensor", p.tensor},     {"pipeline", p.pipeline},
          {"data", p.data},         {"interleaving", p.interleaving},
          {"sequence", p.sequence}, {"sharding", name_of(p.sharding)},
          {"fused", p.fused}};
}

Json tiles_json(const ResidentLayer& layer) {
  Json products = Json::array();
  for (const MeshProduct& p : layer.products) {
    products.push_back({{"name", p.name},
                        {"rows", p.rows},
                        {"inner", p.inner},
                        {"columns", p.columns},
                        {"aligned", p.aligned}});
  }
  return {{"products", products},
          {"reduction_words", layer.reductions},
          {"passed_words", layer.passed_words},
          {"scalar_functions", layer.scalar_functions}};
}

Json resident_json(const Resident& r) {
  const ResidentPlacement& at = r.placed;
  Json kinds = Json::array();
  for (const ResidentKind& kind : r.kinds) {
    kinds.push_back({{"name", kind.name},
                     {"times", kind.times},
                     {"prefill", tiles_json(kind.prefill)},
                     {"decode", kind.decode ? tiles_json(*kind.decode) : Json(nullptr)}});
  }
  return {{"mesh", {at.mesh, at.mesh}},
          {"regions_of_wafer", at.regions_of_wafer},
          {"layers_of_region", at.layers_of_region},
          {"layers", at.layers},
          {"wafers", at.wafers},
          {"replicas", r.replicas},
          {"requests", r.requests},
          {"weight_bytes_of_pe", at.weight_bytes},
          {"cache_bytes_of_pe", at.cache_bytes},
          {"head_bytes_of_pe", at.head_bytes},
          {"room_bytes_of_pe", at.room_bytes},
          {"kinds", kinds},
          {"head", r.head ? tiles_json(*r.head) : Json(nullptr)}};
}

Json to_json(const Plan& plan, const Launch& n) {
  const Kernel& k = plan.kernel(n.kernel);
  return {{"node", "launch"},
          {"kernel", k.name},
          {"implementation", k.implementation},
          {"where", name_of(n.where)},
          {"recompute", n.recompute},
          {"products", products_json(k.products)},
          {"launches", k.launches},
          {"weight_product_flops", k.work.weight_product.value},
          {"local_product_flops", k.work.local_product.value},
          {"elementwise_flops", k.work.elementwise.value}};
}

Json to_json(const Plan& plan, const Move& n) {
  return {{"node", name_of(n.kind)},
          {"buffer", plan.buffer(n.buffer).name},
          {"density", density_of(n.sparse)},
          {"sparsity", text_of(n.sparse)},
          {"bytes", n.bytes.value}};
}

Json to_json(const Plan& plan, const Update& n) {
  Json names = Json::array();
  for (BufferId id : n.parameters) names.push_back(plan.buffer(id).name);
  return {{"node", "update"}, {"kernel", plan.kernel(n.kernel).name}, {"parameters", names}};
}

Json to_json(const Plan& plan, const Collective& n) {
  Json beside = Json::array();
  for (KernelId id : n.beside) beside.push_back(plan.kernel(id).name);
  return {{"node", name_of(n.kind)}, {"what", n.what},   {"bytes", n.bytes.value},
          {"times", n.times},        {"group", n.group}, {"in_node", n.in_node},
          {"beside", beside}};
}

Json to_json(const Plan&, const Barrier& n) { return {{"node", "barrier"}, {"reason", n.reason}}; }

Json to_json(const Plan& plan, const Layer& n) {
  return {{"node", "layer"},
          {"name", n.name},
          {"phase", ir::name_of(n.phase)},
          {"stage", name_of(n.stage)},
          {"body", nodes_json(plan, n.body)}};
}

Json to_json(const Plan& plan, const Repeat& n) {
  return {{"node", "repeat"},
          {"over", name_of(n.over)},
          {"times", n.times},
          {"body", nodes_json(plan, n.body)}};
}

Json nodes_json(const Plan& plan, const std::vector<Node>& body) {
  Json result = Json::array();
  for (const Node& node : body) {
    result.push_back(std::visit([&](const auto& n) { return to_json(plan, n); }, node));
  }
  return result;
}

Json pipeline_json(const Pipeline& p) {
  Json kernels = Json::array();
  for (const PipelineKernel& k : p.kernels) {
    kernels.push_back({{"name", k.name},
                       {"layer", k.layer},
                       {"number", k.number},
                       {"kind", name_of(k.kind)},
                       {"pes", k.pes},
                       {"weights_per_pe", k.weights_of_pe},
                       {"x", k.at.x},
                       {"y", k.at.y},
                       {"width", k.at.width},
                       {"height", k.at.height}});
  }
  return {
      {"width", p.width},         {"height", p.height},           {"period_cycles", p.period.value},
      {"depth", p.depth},         {"region_pes", p.region},       {"kernel_pes", p.kernel_pes()},
      {"fifo_pes", p.fifo_pes()}, {"wire_length", p.wire_length}, {"kernels", kernels}};
}

}  // namespace

std::string print_text(const Plan& plan) { return TextPrinter(plan).run(); }

std::string print_json(const Plan& plan) {
  Json buffers = Json::array();
  for (const Buffer& b : plan.buffers) {
    buffers.push_back({{"name", b.name},
                       {"type", b.type.text()},
                       {"kind", name_of(b.kind)},
                       {"home", name_of(b.home)},
                       {"layer", b.layer},
                       {"instances", b.instances},
                       {"bytes", b.bytes().value}});
  }
  Json json = {{"model", plan.model},
               {"machine", plan.machine},
               {"target", name_of(plan.target)},
               {"training", plan.training},
               {"systems", plan.systems},
               {"batch", plan.batch},
               {"micro_batch", plan.micro_batch},
               {"micro_batches", plan.micro_batches},
               {"precision", wafer::name_of(plan.precision)},
               {"recompute", name_of(plan.recompute)},
               {"sparsity", plan.sparsity.text()},
               {"micro_batch_reason", plan.micro_batch_reason},
               {"activation_reason", plan.activation_reason},
               {"parameters", plan.parameters},
               {"parallelism", parallel_json(plan.parallel)},
               {"buffers", buffers},
               {"body", nodes_json(plan, plan.body)}};
  if (plan.target != Target::Cluster) json.erase("parallelism");
  if (plan.resident) json["resident"] = resident_json(*plan.resident);
  if (plan.pipeline) json["pipeline"] = pipeline_json(*plan.pipeline);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wafer::plan
