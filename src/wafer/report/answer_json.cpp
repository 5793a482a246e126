#include "wafer/report/answer.h"

#include <nlohmann/json.hpp>

#include "wafer/estimate/answer.h"
#include "wafer/plan/plan.h"

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;

template <typename Tag>
Json maybe(const std::optional<Quantity<Tag>>& value) {
  return value ? Json(value->value) : Json(nullptr);
}

Json maybe_number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const estimate::Memory& m) {
  return {{"weights_bytes", m.weights.value},
          {"activations_bytes", m.activations.value},
          {"activations_on_wafer_bytes", m.activations_on_wafer.value},
          {"activations_spilled_bytes", m.activations_spilled.value},
          {"workspace_bytes", m.workspace.value},
          {"wafer_capacity_bytes", m.wafer_capacity.value},
          {"optimizer_state_bytes", m.optimizer_state.value},
          {"store_bytes", m.store_total.value},
          {"store_capacity_bytes", m.store_capacity.value}};
}

Json maybe_positive(double value) { return value > 0 ? Json(value) : Json(nullptr); }

/// Of the weights that a layer multiplies by; null where it has no such product.
Json density_of(const estimate::LayerCost& l) {
  if (l.weight_flops.value == 0) return nullptr;
  return 1 - l.zero_flops.value / l.weight_flops.value;
}

Json to_json(const study::SparseGain& g) {
  const auto maybe_number = [](const std::optional<double>& v) {
    return v ? Json(*v) : Json(nullptr);
  };
  return {{"dense_step_seconds", g.dense_step.value},
          {"dense_energy_joules_per_step", g.dense_energy.value},
          {"speed_up", g.speed_up},
          {"energy_ratio", g.energy_ratio},
          {"weight_break_even_density", g.weight_break_even},
          {"gradient_break_even_density", g.gradient_break_even},
          {"step_break_even_density", maybe_number(g.step_break_even)},
          {"most_speed_up", maybe_number(g.most_speed_up)},
          {"bound_without_weights", estimate::name_of(g.bound)}};
}

Json to_json(const estimate::LayerCost& l) {
  return {{"name", l.name},
          {"phase", ir::name_of(l.phase)},
          {"times", l.times},
          {"seconds", l.seconds.value},
          {"flops", l.flops.value},
          {"bytes", l.bytes.value},
          {"bound", estimate::name_of(l.bound)},
          {"compute_seconds", l.compute.value},
          {"weights_seconds", l.weights_in.value},
          {"gradients_seconds", l.gradients_out.value},
          {"activations_seconds", l.activations.value},
          {"overhead_seconds", l.overhead.value},
          {"energy_joules", maybe_positive(l.energy.value)},
          {"density", density_of(l)}};
}

Json to_json(const estimate::Roofline& r) {
  return {{"peak_flops_per_second", r.peak.value},
          {"on_wafer_flops_per_byte", r.on_wafer_intensity},
          {"off_wafer_flops_per_byte", r.off_wafer_intensity},
          {"on_wafer_roof_flops_per_second", r.on_wafer_roof.value},
          {"off_wafer_roof_flops_per_second", r.off_wafer_roof.value},
          {"attained_flops_per_second", r.attained.value}};
}

void add_cluster(Json& json, const estimate::Answer& a) {
  const estimate::ClusterParts& c = *a.cluster;
  const plan::Parallelism& p = c.parallel;
  json["parallelism"] = {{"tensor", p.tensor},
                         {"pipeline", p.pipeline},
                         {"data", p.data},
                         {"sharding", plan::name_of(p.sharding)},
                         {"interleaving", p.interleaving},
                         {"sequence", p.sequence},
                         {"fused_attention", p.fused}};
  json["hardware_flops_per_second_per_gpu"] = c.hardware_flops_per_gpu.value;
  json["prefill_tokens_per_second"] = maybe_number(a.prefill_tokens_per_second);
  json["decode_tokens_per_second"] = maybe_number(a.decode_tokens_per_second);
  json["memory"] = {{"weights_bytes", a.memory.weights.value},
                    {"gradients_bytes", a.memory.gradients.value},
                    {"optimizer_state_bytes", a.memory.optimizer_state.value},
                    {"activations_bytes", a.memory.activations.value},
                    {"workspace_bytes", a.memory.workspace.value},
                    {"used_bytes", c.gpu_used.value},
                    {"capacity_bytes", c.gpu_capacity.value}};
  json["parts"] = {{"products_seconds", c.products.value},
                   {"attention_seconds", c.attention.value},
                   {"passes_seconds", c.passes.value},
                   {"tensor_exchange_seconds", c.tensor_exchange.value},
                   {"shard_exchange_seconds", c.shard_exchange.value},
                   {"stage_exchange_seconds", c.stage_exchange.value},
                   {"bubble_seconds", c.bubble.value},
                   {"replica_exchange_seconds", c.replica_exchange.value},
                   {"update_seconds", c.update.value},
                   {"straggler_ratio", c.straggler}};
  json["roofline"] = {{"peak_flops_per_second", a.roofline.peak.value},
                      {"memory_flops_per_byte", a.roofline.on_wafer_intensity},
                      {"memory_roof_flops_per_second", a.roofline.on_wafer_roof.value},
                      {"attained_flops_per_second", a.roofline.attained.value}};
}

Json to_json(const estimate::ResidentPart& p) {
  return {{"latency_seconds", p.latency().value}, {"step_seconds", p.step.value},
          {"products_seconds", p.products.value}, {"exchange_seconds", p.exchange.value},
          {"scalars_seconds", p.scalars.value},   {"hand_over_seconds", p.hand_over.value},
          {"head_seconds", p.head.value}};
}

void add_resident(Json& json, const estimate::Answer& a) {
  const estimate::ResidentParts& r = *a.resident;
  const plan::ResidentPlacement& at = r.placed;
  const auto& decode = r.times.decode;
  json["prefill_tokens_per_second"] = *a.prefill_tokens_per_second;
  json["decode_tokens_per_second"] = maybe_number(a.decode_tokens_per_second);
  json["first_token_seconds"] = r.times.prefill.latency().value;
  json["token_latency_seconds"] = decode ? Json(decode->latency().value) : Json(nullptr);
  json["energy_joules_per_token"] = decode ? Json(r.energy_per_token.value) : Json(nullptr);
  json["resident"] = {{"cores", at.mesh},
                      {"wafers", at.wafers},
                      {"replicas", r.replicas},
                      {"requests_of_replica", r.requests},
                      {"regions", at.regions()},
                      {"regions_of_wafer", at.regions_of_wafer},
                      {"layers", at.layers},
                      {"layers_of_region", at.layers_of_fullest()},
                      {"most_layers_of_region", at.layers_of_region},
                      {"prefill", to_json(r.times.prefill)},
                      {"decode", decode ? to_json(*decode) : Json(nullptr)}};
  json["memory"] = {{"weights_bytes", a.memory.weights.value},
                    {"cache_bytes", a.memory.activations.value},
                    {"layer_weights_bytes_of_pe", at.weight_bytes},
                    {"layer_cache_bytes_of_pe", at.cache_bytes},
                    {"pe_used_bytes", r.pe_used.value},
                    {"pe_capacity_bytes", r.pe_capacity.value}};
  json["roofline"] = {{"peak_flops_per_second", a.roofline.peak.value},
                      {"attained_flops_per_second", a.roofline.attained.value}};
}

Json to_json(const estimate::PipelinedParts& p) {
  Json kernels = Json::array();
  for (const estimate::PipelinedKernels& k : p.kernels) {
    kernels.push_back({{"layer", k.layer},
                       {"name", k.name},
                       {"kind", k.kind},
                       {"count", k.count},
                       {"pes", k.pes},
                       {"weights_per_pe", k.weights_of_pe}});
  }
  return {{"period_seconds", p.period.value},
          {"latency_seconds", p.latency.value},
          {"fill_seconds", p.fill.value},
          {"update_seconds", p.update.value},
          {"depth", p.depth},
          {"kernel_pes", p.kernel_pes},
          {"fifo_pes", p.fifo_pes},
          {"region_pes", p.region_pes},
          {"wafer_pes", p.wafer_pes},
          {"used_share", p.used_share()},
          {"wire_length", p.wire_length},
          {"pe_bytes", p.pe_used.value},
          {"pe_capacity_bytes", p.pe_capacity.value},
          {"kernels", kernels}};
}

}  // namespace

std::string json(const study::Result& r, const AnswerOptions& options) {
  const estimate::Answer& a = r.answer;
  Json layers = Json::array();
  for (const estimate::LayerCost& layer : a.layers) layers.push_back(to_json(layer));
  Json json = {{"model", r.model},
               {"machine", r.machine},
               {"systems", r.question.systems},
               {"phase", study::name_of(r.question.phase)},
               {"mode", study::name_of(r.mode)},
               {"batch", r.question.batch},
               {"micro_batch", r.micro_batch},
               {"seq_len", r.seq_len},
               {"precision", study::name_of(r.question.precision)},
               {"samples_per_second", a.samples_per_second},
               {"tokens_per_second", a.tokens_per_second},
               {"step_seconds", a.step.value},
               {"model_flops_per_step", a.model_flops_per_step.value},
               {"model_flops_per_second", a.model_flops_per_second.value},
               {"utilization", a.utilization},
               {"bound", estimate::name_of(a.bound)},
               {"epoch_seconds", maybe(r.epoch)},
               {"train_seconds", maybe(r.train)},
               {"energy_joules_per_step", a.energy_per_step.value},
               {"expected_error", r.expected_error ? Json(*r.expected_error) : Json(nullptr)},
               {"extrapolated", r.extrapolated},
               {"memory", to_json(a.memory)},
               {"layers", layers},
               {"parameters", r.parameters},
               {"sparsity", r.question.sparsity.zeros},
               {"micro_batches", r.micro_batches},
               {"micro_batch_reason", r.micro_batch_reason},
               {"recompute", plan::name_of(r.recompute)},
               {"activations_reason", r.activation_reason},
               {"hand_over_seconds", a.hand_over.value},
               {"store_update_seconds", a.store_update.value},
               {"reduce_tree_seconds", a.reduce_tree.value},
               {"roofline", to_json(a.roofline)},
               {"host_latency_seconds", maybe(a.host_latency)}};
  if (!r.mode_reason.empty()) json["mode_reason"] = r.mode_reason;
  if (a.cluster) add_cluster(json, a);
  if (r.target) {
    json["samples_to_target"] = r.target->samples;
    json["time_to_target_seconds"] = maybe(r.time_to_target);
    json["target"] = {{"quality", r.target->quality}, {"source", r.target->source}};
  }
  if (a.resident) add_resident(json, a);
  if (a.pipelined) {
    json["pipeline"] = to_json(*a.pipelined);
    json["memory"]["gradients_bytes"] = a.memory.gradients.value;
  }
  if (study::is_sparse(r.question)) json["sparsity_text"] = study::sparsity_text(r.question);
  if (r.sparse) json["sparse"] = to_json(*r.sparse);
  if (r.cost) {
    json["cost_usd"] = r.cost->usd;
    json["cost_of"] = r.cost->of;
  }
  if (options.paper_roofline) {
    json["paper_roofline"] = {{"flops_per_byte", a.paper_roofline.intensity},
                              {"attained_flops_per_second", a.paper_roofline.attained.value}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wafer::report
