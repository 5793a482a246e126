#include "wafer/compile/resident_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/compile/resident.h"
#include "wafer/estimate/resident.h"

namespace wafer::compile {
namespace {

using Part = plan::ResidentLayer::Part;

constexpr int64_t ElementBytes = 2;
// Meshes that are tried where none is asked for: every 20th. Measured ones are multiples of 60.
constexpr int64_t MeshStep = 20;

int64_t tiles(double width, int64_t mesh) {
  return static_cast<int64_t>(std::ceil(width / static_cast<double>(mesh)));
}

/// Writes one plan.
class Assembler {
 public:
  Assembler(const Profile& profile, const machine::Wafer& machine, const ResidentQuestion& question,
            int64_t mesh)
      : profile_(profile), machine_(machine), question_(question), mesh_(mesh) {}

  /// The plan as far as where layers lie, whether or not they fit.
  plan::Plan placed() {
    plan_.target = plan::Target::WaferResident;
    plan_.training = false;
    plan_.machine = machine_.name;
    plan_.systems = question_.systems;
    plan_.batch = question_.batch;
    plan_.tokens_per_sample = profile_.tokens;
    plan_.precision = DType::F16;
    plan_.parameters = profile_.parameters;
    for (const LayerProfile& layer : profile_.layers) {
      plan_.model_flops_per_sample += (layer.products() + layer.attention()) * layer.times;
    }
    place();
    return std::move(plan_);
  }

  /// The rest of a plan that fits.
  plan::Plan finished(plan::Plan placed) {
    plan_ = std::move(placed);
    spread();
    add_buffers();
    add_body();
    return std::move(plan_);
  }

 private:
  ResidentRequest request(Part part) const {
    return {.part = part,
            .mesh = mesh_,
            .tokens = profile_.tokens,
            .requests = plan_.resident ? plan_.resident->requests : 1};
  }

  // More wafers than one replica needs hold further ones. How many requests are in flight in each
  // decides how much cache lies there, and that how many wafers it needs.
  void place() {
    plan_.resident.emplace();
    plan::Resident& r = *plan_.resident;
    const int64_t systems = question_.systems;
    for (r.replicas = std::min(systems, question_.batch);;) {
      r.requests = (question_.batch + r.replicas - 1) / r.replicas;
      r.placed = lay_out_resident(profile_, machine_, request(Part::Decode));
      const int64_t wafers = r.placed.wafers;
      if (r.replicas == 1 || (wafers > 0 && wafers * r.replicas <= systems)) break;
      // With fewer replicas each has more requests in flight, so that it needs no fewer wafers.
      r.replicas = wafers > 0 ? std::max<int64_t>(1, systems / wafers) : 1;
    }
    plan_.micro_batches = static_cast<double>(r.requests * r.replicas);
  }

  void spread() {
    plan::Resident& r = *plan_.resident;
    for (const LayerProfile& layer : profile_.layers) {
      if (!layer.repeated) continue;
      plan::ResidentKind kind{.name = layer.name, .times = layer.times};
      kind.prefill = resident_layer(layer, request(Part::Prefill));
      if (profile_.generates) kind.decode = resident_layer(layer, request(Part::Decode));
      const double hidden = layer.passed_on / static_cast<double>(profile_.tokens);
      r.hidden_words = std::max(r.hidden_words, tiles(hidden, mesh_));
      r.kinds.push_back(std::move(kind));
    }
    r.token_rows = tiles(static_cast<double>(profile_.tokens), mesh_);
    r.head = resident_head(profile_, request(Part::Decode));
  }

  void add_buffer(const char* name, plan::BufferKind kind, double bytes_of_pe, double instances) {
    if (bytes_of_pe <= 0) return;
    const auto elements = static_cast<int64_t>(bytes_of_pe) / ElementBytes;
    plan_.buffers.push_back({.name = name,
                             .type = {DType::F16, {Dim(mesh_), Dim(mesh_), Dim(elements)}},
                             .kind = kind,
                             .home = plan::Place::Wafer,
                             .layer = name,
                             .instances = instances});
  }

  void add_buffers() {
    const plan::ResidentPlacement& at = plan_.resident->placed;
    const auto replicas = static_cast<double>(plan_.resident->replicas);
    const double layers = static_cast<double>(at.layers) * replicas;
    add_buffer("weights of a layer", plan::BufferKind::Parameter, at.weight_bytes, layers);
    add_buffer("keys and values of a layer", plan::BufferKind::Cache, at.cache_bytes, layers);
    add_buffer("weights of the head", plan::BufferKind::Parameter, at.head_bytes, replicas);
  }

  // All PEs of a mesh together.
  plan::Kernel kernel(const plan::ResidentLayer& layer, const plan::MeshProduct& product) const {
    const auto mesh = static_cast<double>(mesh_);
    const double tiles_met = layer.part == Part::Prefill ? mesh : 1;
    const Flops flops(2 * mesh * mesh * tiles_met *
                      static_cast<double>(product.rows * product.inner * product.columns));
    const bool of_activations =
        product.name.ends_with("/scores") || product.name.ends_with("/context");
    plan::Kernel kernel{.name = product.name,
                        .implementation = of_activations ? "mesh_attention" : "mesh_product",
                        .function = {}};
    (of_activations ? kernel.work.local_product : kernel.work.weight_product) = flops;
    return kernel;
  }

  plan::Layer layer(const std::string& name, const plan::ResidentLayer& of) {
    plan::Layer node{.name = name, .phase = ir::Phase::Forward, .body = {}};
    for (const plan::MeshProduct& product : of.products) {
      plan_.kernels.push_back(kernel(of, product));
      node.body.emplace_back(plan::Launch{.kernel = plan::KernelId(plan_.kernels.size() - 1)});
    }
    return node;
  }

  void add_part(Part part) {
    for (const plan::ResidentKind& kind : plan_.resident->kinds) {
      const bool prefill = part == Part::Prefill;
      if (!prefill && !kind.decode) continue;
      const std::string name = kind.name + (prefill ? ", a prompt" : ", one token");
      plan_.body.emplace_back(
          plan::Repeat{.over = plan::Repeat::Over::Layers,
                       .times = kind.times,
                       .body = {layer(name, prefill ? kind.prefill : *kind.decode)}});
    }
  }

  void add_body() {
    add_part(Part::Prefill);
    add_part(Part::Decode);
    if (plan_.resident->head) plan_.body.emplace_back(layer("head", *plan_.resident->head));
  }

  const Profile& profile_;
  const machine::Wafer& machine_;
  const ResidentQuestion& question_;
  const int64_t mesh_;
  plan::Plan plan_;
};

// A layer is spread by its tokens; a convolution, or patches of an image, has more rows.
void check_tokens(const Profile& profile) {
  for (const LayerProfile& layer : profile.layers) {
    if (!layer.repeated) continue;
    for (const Step& step : layer.steps) {
      const auto* product = std::get_if<ProductStep>(&step);
      if (product == nullptr || product->shape.m == static_cast<double>(profile.tokens)) continue;
      throw InputError(fmt::format(
          "{}: resident inference spreads layers with a row for each token; found {} rows, {} "
          "token{} a sample; use --mode streamed",
          product->name, product->shape.m, profile.tokens, profile.tokens == 1 ? "" : "s"));
    }
  }
}

/// Time of a prompt, and of as many tokens after it where the network generates.
Seconds time_of_conversation(const plan::Plan& plan, const machine::Wafer& machine) {
  const estimate::ResidentTimes times = estimate::resident_times(plan, machine);
  const auto tokens = static_cast<double>(plan.tokens_per_sample);
  return times.prefill.step + (times.decode ? times.decode->step * tokens : Seconds(0));
}

}  // namespace

ResidentCompiler::ResidentCompiler(const ir::Graph& forward, int64_t tokens_per_sample)
    : model_(forward.name), profile_(compile::profile(forward, tokens_per_sample)) {
  if (profile_.unit != 1) {
    throw InputError(fmt::format(
        "resident inference reads one request at a time; {} takes {} samples at once: export it "
        "with a batch of 1 or a symbolic one, or use --mode streamed",
        model_, profile_.unit));
  }
  check_tokens(profile_);
}

plan::Plan ResidentCompiler::plan(const machine::Wafer& machine,
                                  const ResidentQuestion& question) const {
  plan::Plan plan =
      question.mesh ? on_mesh(machine, question, *question.mesh) : on_best_mesh(machine, question);
  plan.model = model_;
  const plan::Resident& r = *plan.resident;
  plan.micro_batch_reason =
      r.requests == 1 ? "requests one by one"
                      : fmt::format("{} requests in flight, one behind another through {} regions",
                                    r.requests, r.placed.regions());
  const std::vector<std::string> problems = plan::problems_of(plan);
  WAFER_CHECK(problems.empty(), problems.front());
  return plan;
}

plan::Plan ResidentCompiler::on_mesh(const machine::Wafer& machine,
                                     const ResidentQuestion& question, int64_t mesh) const {
  Assembler assembler(profile_, machine, question, mesh);
  plan::Plan plan = assembler.placed();
  const plan::ResidentPlacement& at = plan.resident->placed;
  // A mesh is no limit: where no number of wafers is asked for, layers lie on as many as they need.
  if (question.systems == 1) plan.systems = std::max(plan.systems, at.wafers);
  check_fits(at, plan.resident->requests, plan.systems);
  plan = assembler.finished(std::move(plan));
  plan.activation_reason = fmt::format("{0}x{0} cores a layer, as asked", mesh);
  return plan;
}

plan::Plan ResidentCompiler::on_best_mesh(const machine::Wafer& machine,
                                          const ResidentQuestion& question) const {
  const int64_t most = std::min(machine.usable.width.value, machine.usable.height.value);
  std::optional<plan::Plan> best, nearest;  // nearest: needs the fewest wafers of those refused
  Seconds soonest;
  for (int64_t mesh = std::min(MeshStep, most); mesh <= most; mesh += MeshStep) {
    Assembler assembler(profile_, machine, question, mesh);
    plan::Plan plan = assembler.placed();
    const int64_t wafers = plan.resident->placed.wafers;
    if (wafers == 0 || wafers > question.systems) {
      const int64_t before = nearest ? nearest->resident->placed.wafers : 0;
      if (!nearest || before == 0 || (wafers > 0 && wafers < before)) nearest = std::move(plan);
      continue;
    }
    plan = assembler.finished(std::move(plan));
    const Seconds time = time_of_conversation(plan, machine);
    if (best && time >= soonest) continue;
    soonest = time;
    best = std::move(plan);
  }
  if (!best) check_fits(nearest->resident->placed, nearest->resident->requests, question.systems);
  WAFER_CHECK(best.has_value(), "a mesh that fits");
  best->activation_reason = fmt::format(
      "{0}x{0} cores a layer: of the meshes that hold it, the soonest to read a prompt{1}",
      best->resident->placed.mesh, profile_.generates ? " and make as many tokens" : "");
  return std::move(*best);
}

}  // namespace wafer::compile
