#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "wafer/base/human.h"
#include "wafer/estimate/answer.h"
#include "wafer/plan/plan.h"
#include "wafer/report/answer.h"
#include "wafer/report/facts.h"
#include "wafer/report/pipelined.h"
#include "wafer/report/values.h"

namespace wafer::report {
namespace {

using study::Result;

std::string rate(double value) { return human(value, ""); }

std::string_view way_of(study::Mode mode) {
  switch (mode) {
    case study::Mode::Cluster:
      return "cluster of GPUs";
    case study::Mode::Pipelined:
      return "layer-pipelined";
    case study::Mode::Resident:
      return "resident weights";
    default:
      return "weight streaming";
  }
}

std::string headline(const Result& r) {
  const bool training = r.question.phase == study::Phase::Train;
  const int64_t systems = r.question.systems;
  return fmt::format("{}: {} samples/s {} on {}{} ({})\n", r.model,
                     rate(r.answer.samples_per_second), training ? "in training" : "in inference",
                     r.machine, systems == 1 ? "" : fmt::format(" x {}", systems), way_of(r.mode));
}

std::string batch_words(const Result& r) {
  if (r.answer.resident) {
    return fmt::format("{} request{}, {}", r.question.batch, r.question.batch == 1 ? "" : "s",
                       r.micro_batch_reason);
  }
  if (r.answer.pipelined) {
    return fmt::format("{} samples a step, {}", r.question.batch, r.micro_batch_reason);
  }
  return fmt::format("{} samples a step; {} micro-batch{} of {} on each system ({})",
                     r.question.batch, r.micro_batches, r.micro_batches == 1 ? "" : "es",
                     r.micro_batch, r.micro_batch_reason);
}

std::string error_words(const Result& r) {
  const std::string error =
      r.expected_error
          ? fmt::format("{} (mean, on published measurements of models that the fit has not seen)",
                        percent(*r.expected_error).text)
          : "not known: no cross-validated error of this machine, mode and phase";
  return error;
}

void add_cluster_facts(const Result& r, Facts& facts);
void add_resident_facts(const Result& r, Facts& facts);

void add_target(const Result& r, Facts& facts) {
  const double samples = r.target->samples;
  facts.add("to target",
            fmt::format("{}: {} samples, {} steps{}{}", duration(r.time_to_target->value).text,
                        human(samples, ""),
                        human(std::ceil(samples / static_cast<double>(r.question.batch)), ""),
                        r.target->quality.empty() ? "" : " to ", r.target->quality));
  facts.add("", "source: " + r.target->source);
}

std::string sparsity_words(const Result& r) {
  std::string words = study::sparsity_text(r.question);
  const plan::Sparsity& all = r.question.sparsity;
  if (r.question.sparsity_of.empty()) {
    words = all.structured()
                ? fmt::format("{}: {} of the weights are zero", words, percent(all.zeros).text)
                : percent(all.zeros).text + " of the weights are zero";
  }
  return words;
}

void add_gain(Facts& facts, const Result& r) {
  if (!r.sparse) return;
  const study::SparseGain& g = *r.sparse;
  facts.add("", fmt::format("{:.3g} times as fast as dense ({}), {} of its energy ({})", g.speed_up,
                            human(g.dense_step.value, "s"), percent(g.energy_ratio).text,
                            human(g.dense_energy.value, "J")));
  if (g.most_speed_up) {
    facts.add("", fmt::format("{}; at most {:.3g} times, limited by {}",
                              g.step_break_even ? fmt::format("pays below a density of {}",
                                                              percent(*g.step_break_even).text)
                                                : std::string("pays at no density"),
                              *g.most_speed_up, estimate::name_of(g.bound)));
  }
  const bool training = r.question.phase == study::Phase::Train;
  facts.add("", fmt::format("on the wire, weights are smaller than dense below a density of {}{}",
                            percent(g.weight_break_even).text,
                            training ? fmt::format(", gradients below {}",
                                                   percent(g.gradient_break_even).text)
                                     : std::string()));
}

std::string main_facts(const Result& r) {
  const estimate::Answer& a = r.answer;
  Facts facts;
  facts.add("network", fmt::format("{} parameters, {} token{} a sample, {}",
                                   human(r.parameters, ""), r.seq_len, r.seq_len == 1 ? "" : "s",
                                   study::name_of(r.question.precision)));
  if (study::is_sparse(r.question)) facts.add("sparsity", sparsity_words(r));
  add_gain(facts, r);
  if (!r.mode_reason.empty()) {
    facts.add("mode", fmt::format("{}: {}", study::name_of(r.mode), r.mode_reason));
  }
  facts.add("batch", batch_words(r));
  facts.add("step",
            fmt::format("{}, limited by {}", human(a.step.value, "s"), estimate::name_of(a.bound)));
  if (a.host_latency && a.host_latency->value > 0) {
    facts.add("host latency",
              human(a.host_latency->value, "s") +
                  ": the least that a batch takes from input to output; in no rate or time here");
  }
  facts.add("tokens", rate(a.tokens_per_second) + " /s");
  facts.add(
      "arithmetic",
      fmt::format("{} ({} of peak), {} a step", human(a.model_flops_per_second.value, "FLOP/s"),
                  percent(a.utilization).text, human(a.model_flops_per_step.value, "FLOP")));
  if (a.cluster) add_cluster_facts(r, facts);
  if (a.resident) add_resident_facts(r, facts);
  if (a.pipelined) add_pipelined_facts(r, facts);
  facts.add("energy", human(a.energy_per_step.value, "J") + " a step");
  if (r.epoch) {
    facts.add("epoch", fmt::format("{} of {} samples", duration(r.epoch->value).text,
                                   human(*r.question.epoch_samples, "")));
  }
  if (r.train) {
    facts.add("training", fmt::format("{} for {} tokens", duration(r.train->value).text,
                                      human(*r.question.tokens, "")));
  }
  if (r.target) add_target(r, facts);
  if (r.cost) {
    facts.add("cost",
              fmt::format("{} ({}), at {} an hour for each of {}", usd(r.cost->usd).text,
                          words_of(*r.cost), usd(r.question.prices.at(r.question.machine)).text,
                          r.question.systems));
  }
  facts.add("expected error", error_words(r));
  for (size_t i = 0; i < r.extrapolated.size(); ++i) {
    facts.add(i == 0 ? "extrapolated" : "", r.extrapolated[i]);
  }
  return facts.text();
}

std::string memory_facts(const Result& r) {
  const estimate::Memory& m = r.answer.memory;
  const auto bytes = [](Bytes b) { return human(b.value, "B"); };
  Facts facts;
  facts.add("weights", bytes(m.weights));
  if (r.question.phase == study::Phase::Train) {
    facts.add("optimizer state", bytes(m.optimizer_state));
  }
  facts.add("weight store", fmt::format("{} of {}", bytes(m.store_total), bytes(m.store_capacity)));
  facts.add("activations", fmt::format("{} a micro-batch, recompute {}; {}", bytes(m.activations),
                                       plan::name_of(r.recompute), r.activation_reason));
  facts.add("widest layer",
            fmt::format("{} of the wafer's {}", bytes(m.workspace), bytes(m.wafer_capacity)));
  return facts.text();
}

std::string roofline_facts(const Result& r, const AnswerOptions& options) {
  const estimate::Roofline& f = r.answer.roofline;
  const auto roof = [](double intensity, FlopsPerSecond most) {
    return fmt::format("{} at {}", human(most.value, "FLOP/s"), human(intensity, "FLOP/B"));
  };
  Facts facts;
  facts.add("peak", human(f.peak.value, "FLOP/s"));
  facts.add("on the wafer (SRAM)", roof(f.on_wafer_intensity, f.on_wafer_roof));
  facts.add("off the wafer (edge)", roof(f.off_wafer_intensity, f.off_wafer_roof));
  facts.add("attained", human(f.attained.value, "FLOP/s"));
  if (options.paper_roofline) {
    const estimate::PaperRoofline& p = r.answer.paper_roofline;
    facts.add("attained, HPEC 2024's count",
              roof(p.intensity, p.attained) + " (one FLOP a weight and token)");
  }
  return facts.text();
}

std::string gpu_memory_facts(const Result& r) {
  const estimate::Memory& m = r.answer.memory;
  const estimate::ClusterParts& c = *r.answer.cluster;
  Facts facts;
  const auto add = [&](const char* name, Bytes b) {
    if (b.value > 0) facts.add(name, human(b.value, "B"));
  };
  add("weights", m.weights);
  add("gradients", m.gradients);
  add("optimizer state", m.optimizer_state);
  add("activations", m.activations);
  add("workspace", m.workspace);
  facts.add("in use", fmt::format("{} of {}", human(c.gpu_used.value, "B"),
                                  human(c.gpu_capacity.value, "B")));
  return facts.text();
}

void add_cluster_facts(const Result& r, Facts& facts) {
  const estimate::ClusterParts& c = *r.answer.cluster;
  const plan::Parallelism& p = c.parallel;
  facts.add("spread",
            fmt::format("tensor {} x pipeline {} x data {}, interleaving {}, sequence "
                        "parallel {}, sharding {}, recompute {}",
                        p.tensor, p.pipeline, p.data, p.interleaving, p.sequence ? "on" : "off",
                        plan::name_of(p.sharding), plan::name_of(r.recompute)));
  facts.add("with recompute", human(c.hardware_flops_per_gpu.value, "FLOP/s") + " a GPU");
  if (r.answer.prefill_tokens_per_second) {
    facts.add("prefill", rate(*r.answer.prefill_tokens_per_second) + " tokens/s");
  }
  if (r.answer.decode_tokens_per_second) {
    facts.add("decode", rate(*r.answer.decode_tokens_per_second) + " tokens/s");
  }
}

void add_resident_facts(const Result& r, Facts& facts) {
  const estimate::ResidentParts& parts = *r.answer.resident;
  const plan::ResidentPlacement& at = parts.placed;
  facts.add("prefill", fmt::format("{} tokens/s; first token after {}",
                                   rate(*r.answer.prefill_tokens_per_second),
                                   human(parts.times.prefill.latency().value, "s")));
  if (parts.times.decode) {
    facts.add("decode", fmt::format("{} tokens/s; a token every {} for each request; {} a token",
                                    rate(*r.answer.decode_tokens_per_second),
                                    human(parts.times.decode->step.value, "s"),
                                    human(parts.energy_per_token.value, "J")));
  }
  facts.add("cores", r.activation_reason);
  facts.add("layers",
            fmt::format("{} in {} region{}, {} of which lie on a wafer; {} wafer{}{}", at.layers,
                        at.regions(), at.regions() == 1 ? "" : "s", at.regions_of_wafer, at.wafers,
                        at.wafers == 1 ? "" : "s in a row",
                        parts.replicas == 1 ? "" : fmt::format(", {} replicas", parts.replicas)));
}

Table resident_table(const Result& r) {
  const estimate::ResidentTimes& times = r.answer.resident->times;
  Table table{.columns = {{"part", "part"},
                          {"prefill", "prefill_seconds", Align::Right},
                          {"share", "prefill_share", Align::Right}},
              .rows = {}};
  if (times.decode) {
    table.columns.push_back({"one token", "decode_seconds", Align::Right});
    table.columns.push_back({"share", "decode_share", Align::Right});
  }
  using Part = estimate::ResidentPart;
  const std::pair<const char*, Seconds Part::*> parts[] = {
      {"matrix products", &Part::products},
      {"tiles passed on, sums over PEs", &Part::exchange},
      {"exponentials and divisions", &Part::scalars},
      {"between regions and wafers", &Part::hand_over},
      {"head", &Part::head}};
  for (const auto& [name, part] : parts) {
    table.rows.push_back({name});
    const auto add = [&](const Part& of) {
      table.rows.back().push_back(quantity((of.*part).value, "s"));
      table.rows.back().push_back(percent(of.*part / of.latency()));
    };
    add(times.prefill);
    if (times.decode) add(*times.decode);
  }
  return table;
}

Table parts_table(const Result& r) {
  const estimate::ClusterParts& c = *r.answer.cluster;
  Table table{.columns = {{"part", "part"},
                          {"time", "seconds", Align::Right},
                          {"share", "share", Align::Right}},
              .rows = {}};
  const std::pair<const char*, Seconds> parts[] = {{"matrix products", c.products},
                                                   {"attention", c.attention},
                                                   {"passes over memory", c.passes},
                                                   {"between tensor ranks", c.tensor_exchange},
                                                   {"sharded weights", c.shard_exchange},
                                                   {"between stages", c.stage_exchange},
                                                   {"pipeline bubble", c.bubble},
                                                   {"between replicas", c.replica_exchange},
                                                   {"optimizer", c.update}};
  for (const auto& [name, seconds] : parts) {
    if (seconds.value <= 0) continue;
    table.rows.push_back(
        {name, quantity(seconds.value, "s"), percent(seconds.value / r.answer.step.value)});
  }
  return table;
}

std::string pe_memory_facts(const Result& r) {
  const estimate::ResidentParts& parts = *r.answer.resident;
  const plan::ResidentPlacement& at = parts.placed;
  Facts facts;
  facts.add("weights", human(r.answer.memory.weights.value, "B") + " on all wafers");
  facts.add("keys and values", human(r.answer.memory.activations.value, "B"));
  facts.add("a layer, of a PE",
            fmt::format("{} weights, {} keys and values", human(at.weight_bytes, "B"),
                        human(at.cache_bytes, "B")));
  facts.add("fullest PE", fmt::format("{} of {} with {} layer{}", human(parts.pe_used.value, "B"),
                                      human(parts.pe_capacity.value, "B"), at.layers_of_fullest(),
                                      at.layers_of_fullest() == 1 ? "" : "s"));
  return facts.text();
}

}  // namespace

Table time_table(const Result& r) {
  if (r.answer.cluster) return parts_table(r);
  if (r.answer.resident) return resident_table(r);
  if (r.answer.pipelined) return pipelined_times(r);
  constexpr auto Right = Align::Right;
  Table table{.columns = {{"layer", "name"},
                          {"phase", "phase"},
                          {"times", "times", Right},
                          {"time", "seconds", Right},
                          {"share", "share", Right},
                          {"work", "flops", Right},
                          {"over the edge", "bytes", Right},
                          {"bound", "bound"}},
              .rows = {}};
  const bool on_wafer = !r.answer.cluster;
  const bool sparse = study::is_sparse(r.question);
  if (on_wafer) table.columns.push_back({"energy", "energy", Right});
  if (sparse) table.columns.push_back({"density", "density", Right});
  const double step = r.answer.step.value;
  for (const estimate::LayerCost& l : r.answer.layers) {
    table.rows.push_back({l.name, std::string(ir::name_of(l.phase)), quantity(l.times, ""),
                          quantity(l.seconds.value, "s"), percent(l.seconds.value / step),
                          quantity(l.flops.value, "FLOP"), quantity(l.bytes.value, "B"),
                          std::string(estimate::name_of(l.bound))});
    if (on_wafer) table.rows.back().push_back(quantity(l.energy.value, "J"));
    const double products = l.weight_flops.value;
    if (sparse) {
      table.rows.back().push_back(products > 0 ? percent(1 - l.zero_flops.value / products)
                                               : Cell(""));
    }
  }
  const auto add = [&](const char* name, Seconds seconds, const char* bound) {
    if (seconds.value <= 0) return;
    table.rows.push_back(
        {name, "", "", quantity(seconds.value, "s"), percent(seconds.value / step), "", "", bound});
    table.rows.back().resize(table.columns.size(), Cell(""));
  };
  add("hand-over", r.answer.hand_over, "layer_overhead");
  add("update at the store", r.answer.store_update, "gradients");
  add("reduce tree", r.answer.reduce_tree, "network");
  return table;
}

std::string text(const Result& r, const AnswerOptions& options) {
  if (r.answer.cluster) {
    return headline(r) + "\n" + main_facts(r) + "\nWhere the time of a step goes, on one GPU\n" +
           text(time_table(r)) + "\nMemory of a GPU\n" + gpu_memory_facts(r);
  }
  if (r.answer.resident) {
    return headline(r) + "\n" + main_facts(r) + "\nWhere the time of a request goes\n" +
           text(time_table(r)) + "\nMemory of a PE\n" + pe_memory_facts(r);
  }
  if (r.answer.pipelined) {
    return headline(r) + "\n" + main_facts(r) + "\nWhere the PEs go\n" + text(kernels_table(r)) +
           "\nMemory of the wafer\n" + pipelined_memory(r);
  }
  return headline(r) + "\n" + main_facts(r) + "\nWhere the time of a step goes\n" +
         text(time_table(r)) + "\nMemory\n" + memory_facts(r) + "\nRoofline\n" +
         roofline_facts(r, options);
}

}  // namespace wafer::report
