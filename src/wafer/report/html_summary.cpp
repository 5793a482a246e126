#include <fmt/format.h>

#include <algorithm>

#include "wafer/base/human.h"
#include "wafer/report/html_sections.h"
#include "wafer/report/typeset.h"
#include "wafer/report/values.h"

namespace wafer::report {

using study::Dossier;
using study::Result;

std::string machine_words(const Result& r) {
  return r.question.systems == 1
             ? r.machine
             : fmt::format("{} x {}", grouped(static_cast<double>(r.question.systems)), r.machine);
}

std::string mode_words(const Result& r) {
  switch (r.mode) {
    case study::Mode::Cluster:
      return "cluster of GPUs";
    case study::Mode::Pipelined:
      return "all layers on the wafer, as a pipeline";
    case study::Mode::Resident:
      return "all weights on the wafer";
    default:
      return "weight streaming";
  }
}

std::string each_of(const Result& r) {
  return r.question.systems == 1 ? "" : fmt::format(" for each of {}", r.question.systems);
}

bool is_training(const Result& r) { return r.question.phase == study::Phase::Train; }

namespace {

std::string error_words(const Result& r) {
  std::string words = r.expected_error ? fmt::format("± {}", percent(*r.expected_error).text)
                                       : std::string("error not known");
  if (!r.extrapolated.empty()) words += ", extrapolated";
  return words;
}

/// Numbers in large type, each with what is known of its error.
class Figures {
 public:
  void add(std::string_view name, const Cell& cell, std::string_view key, std::string_view error) {
    const std::string value = cell.value
                                  ? fmt::format("<data value=\"{}\" data-key=\"{}\">{}</data>",
                                                *cell.value, key, escaped(typeset(cell)))
                                  : escaped(typeset(cell));
    html_ += fmt::format(
        "<div><dt>{}</dt><dd class=\"value\">{}</dd><dd class=\"error\">{}</dd></div>\n",
        escaped(name), value, escaped(error));
  }
  std::string html() const { return "<dl class=\"figures\">\n" + html_ + "</dl>\n"; }

 private:
  std::string html_;
};

class Facts {
 public:
  void add(std::string_view name, std::string_view words) {
    html_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(words));
  }
  std::string html() const { return "<dl class=\"facts\">\n" + html_ + "</dl>\n"; }

 private:
  std::string html_;
};

void add_rates(const Result& r, Figures& all) {
  const estimate::Answer& a = r.answer;
  const std::string error = error_words(r);
  all.add("samples/s", quantity(a.samples_per_second, ""), "samples_per_second", error);
  if (!a.prefill_tokens_per_second) {
    all.add("tokens/s", quantity(a.tokens_per_second, ""), "tokens_per_second", error);
    return;
  }
  all.add("prefill tokens/s", quantity(*a.prefill_tokens_per_second, ""),
          "prefill_tokens_per_second", error);
  if (a.decode_tokens_per_second) {
    all.add("decode tokens/s", quantity(*a.decode_tokens_per_second, ""),
            "decode_tokens_per_second", error);
  }
}

void add_times(const Result& r, Figures& all) {
  const estimate::Answer& a = r.answer;
  const std::string error = error_words(r);
  all.add(is_training(r) ? "step" : "pass over the batch", duration(a.step.value), "step_seconds",
          error);
  if (a.resident) {
    const estimate::ResidentTimes& times = a.resident->times;
    all.add("first token after", duration(times.prefill.latency().value), "first_token_seconds",
            "of one request");
    if (times.decode) {
      all.add("each further token", duration(times.decode->latency().value),
              "token_latency_seconds", "of one request");
    }
  }
  if (a.pipelined) {
    all.add("a sample every", duration(a.pipelined->period.value), "period_seconds",
            "while the pipeline is full");
    all.add("latency of a sample", duration(a.pipelined->latency.value), "latency_seconds",
            fmt::format("{} periods", a.pipelined->depth));
  }
  if (a.host_latency && a.host_latency->value > 0) {
    all.add("host latency", duration(a.host_latency->value), "host_latency_seconds",
            "least from input to output; in no rate or time here");
  }
  if (r.epoch) {
    all.add(fmt::format("epoch of {} samples", grouped(*r.question.epoch_samples)),
            duration(r.epoch->value), "epoch_seconds", error);
  }
  if (r.train) {
    all.add(fmt::format("training on {} tokens", grouped(*r.question.tokens)),
            duration(r.train->value), "train_seconds", error);
  }
  if (r.time_to_target) {
    all.add("training to target", duration(r.time_to_target->value), "time_to_target_seconds",
            error);
  }
}

std::string figures_of(const Result& r) {
  const estimate::Answer& a = r.answer;
  Figures all;
  add_rates(r, all);
  add_times(r, all);
  if (r.cost) {
    all.add("cost of " + words_of(*r.cost), usd(r.cost->usd), "cost_usd",
            fmt::format("at {} an hour{}", usd(r.question.prices.at(r.question.machine)).text,
                        each_of(r)));
  }
  all.add("of peak arithmetic", percent(a.utilization), "utilization",
          human(a.model_flops_per_second.value, "FLOP/s"));
  std::string bound(estimate::name_of(a.bound));
  std::replace(bound.begin(), bound.end(), '_', ' ');
  all.add("limited by", bound, "bound", "the largest part of the step");
  all.add(is_training(r) ? "energy a step" : "energy a pass",
          quantity(a.energy_per_step.value, "J"), "energy_joules_per_step",
          "from peak and idle power; not validated");
  if (a.resident && a.resident->times.decode) {
    all.add("energy a token made", quantity(a.resident->energy_per_token.value, "J"),
            "energy_joules_per_token", "from peak and idle power; not validated");
  }
  return all.html();
}

std::string count(double n) { return grouped(n); }

std::string batch_words(const Result& r) {
  const auto batch = count(static_cast<double>(r.question.batch));
  if (r.answer.resident) {
    return fmt::format("{} request{}, {}", batch, r.question.batch == 1 ? "" : "s",
                       r.micro_batch_reason);
  }
  if (r.answer.pipelined) return fmt::format("{} samples, {}", batch, r.micro_batch_reason);
  return fmt::format("{} sample{}: {} micro-batch{} of {} on each system; {}", batch,
                     r.question.batch == 1 ? "" : "s", count(r.micro_batches),
                     r.micro_batches == 1 ? "" : "es", count(static_cast<double>(r.micro_batch)),
                     r.micro_batch_reason);
}

void add_spread(const Result& r, Facts& facts) {
  if (r.answer.cluster) {
    const plan::Parallelism& p = r.answer.cluster->parallel;
    facts.add("parallelism",
              fmt::format("tensor {} x pipeline {} x data {}, interleaving {}, sequence "
                          "parallel {}, sharding {}",
                          p.tensor, p.pipeline, p.data, p.interleaving, p.sequence ? "on" : "off",
                          plan::name_of(p.sharding)));
  }
  if (const auto& parts = r.answer.resident) {
    const plan::ResidentPlacement& at = parts->placed;
    facts.add("cores", r.activation_reason);
    facts.add(
        "layers",
        fmt::format("{} in {} region{}, {} of which lie on a wafer; {} wafer{}{}", at.layers,
                    at.regions(), at.regions() == 1 ? "" : "s", at.regions_of_wafer, at.wafers,
                    at.wafers == 1 ? "" : "s in a row",
                    parts->replicas == 1 ? "" : fmt::format(", {} replicas", parts->replicas)));
  }
  if (const auto& p = r.answer.pipelined) {
    facts.add("PEs",
              fmt::format("{} in kernels and {} in FIFOs: {} of the wafer's {}",
                          count(static_cast<double>(p->kernel_pes)),
                          count(static_cast<double>(p->fifo_pes)), percent(p->used_share()).text,
                          count(static_cast<double>(p->wafer_pes))));
    facts.add("between steps", fmt::format("{} to drain and fill again, {} to update the weights",
                                           human(p->fill.value, "s"), human(p->update.value, "s")));
  }
}

std::string facts_of(const Result& r) {
  Facts facts;
  facts.add("network", fmt::format("{} parameters, {} token{} a sample, {}", count(r.parameters),
                                   count(static_cast<double>(r.seq_len)), r.seq_len == 1 ? "" : "s",
                                   study::name_of(r.question.precision)));
  facts.add("machine", fmt::format("{}, {}", machine_words(r), mode_words(r)));
  if (!r.mode_reason.empty()) facts.add("mode", r.mode_reason);
  facts.add("batch", batch_words(r));
  if (study::is_sparse(r.question)) facts.add("sparsity", study::sparsity_text(r.question));
  if (is_training(r)) {
    facts.add("recompute",
              fmt::format("{}{}{}", plan::name_of(r.recompute),
                          r.activation_reason.empty() ? "" : ": ", r.activation_reason));
  }
  add_spread(r, facts);
  if (r.target) {
    facts.add("target", fmt::format("{} samples{}{}; {}", count(r.target->samples),
                                    r.target->quality.empty() ? "" : " to ", r.target->quality,
                                    r.target->source));
  }
  return facts.html();
}

}  // namespace

Section summary_section(const Dossier& d) {
  return {"summary", "Summary", figures_of(d.result) + facts_of(d.result)};
}

std::optional<Section> sparsity_section(const Result& r) {
  if (!r.sparse) return std::nullopt;
  const study::SparseGain& g = *r.sparse;
  Figures all;
  const auto times = [](double value) { return Cell(fmt::format("{:.3g}x", value), value); };
  all.add("as fast as dense", times(g.speed_up), "speed_up",
          fmt::format("dense: {} a step", human(g.dense_step.value, "s")));
  all.add("of the dense energy", percent(g.energy_ratio), "energy_ratio",
          fmt::format("dense: {} a step", human(g.dense_energy.value, "J")));
  if (g.step_break_even) {
    all.add("a step gains below", percent(*g.step_break_even), "step_break_even_density",
            "density of all weights of layers");
  }
  if (g.most_speed_up) {
    std::string bound(estimate::name_of(g.bound));
    std::replace(bound.begin(), bound.end(), '_', ' ');
    all.add("at most", times(*g.most_speed_up), "most_speed_up",
            fmt::format("with no weights left: then limited by {}", bound));
  }
  all.add("weights stream less below", percent(g.weight_break_even), "weight_break_even_density",
          "density; above it their indices cost more than zeros save");
  if (is_training(r)) {
    all.add("gradients stream less below", percent(g.gradient_break_even),
            "gradient_break_even_density", "density");
  }
  return Section{
      "sparsity", "What zeros gain",
      all.html() + paragraph(fmt::format("Zeros: {}. The density of each layer stands among the "
                                         "layers under Where the time goes.",
                                         study::sparsity_text(r.question)),
                             "note")};
}

}  // namespace wafer::report
