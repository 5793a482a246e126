#include "wafer/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "wafer/base/human.h"
#include "wafer/report/answer.h"
#include "wafer/report/compare.h"
#include "wafer/report/html_charts.h"
#include "wafer/report/html_parts.h"
#include "wafer/report/typeset.h"
#include "wafer/report/validation.h"

namespace wafer::report {
namespace {

using study::CompareRow;
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

bool is_training(const Result& r) { return r.question.phase == study::Phase::Train; }

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

std::string figures_of(const Result& r) {
  const estimate::Answer& a = r.answer;
  const std::string error = error_words(r);
  Figures all;
  all.add("samples/s", quantity(a.samples_per_second, ""), "samples_per_second", error);
  all.add("tokens/s", quantity(a.tokens_per_second, ""), "tokens_per_second", error);
  if (a.prefill_tokens_per_second) {
    all.add("prefill tokens/s", quantity(*a.prefill_tokens_per_second, ""),
            "prefill_tokens_per_second", error);
  }
  if (a.decode_tokens_per_second) {
    all.add("decode tokens/s", quantity(*a.decode_tokens_per_second, ""),
            "decode_tokens_per_second", error);
  }
  all.add(is_training(r) ? "step" : "pass over the batch", duration(a.step.value), "step_seconds",
          error);
  if (r.epoch) {
    all.add(fmt::format("epoch of {} samples", grouped(*r.question.epoch_samples)),
            duration(r.epoch->value), "epoch_seconds", error);
  }
  if (r.train) {
    all.add(fmt::format("training on {} tokens", grouped(*r.question.tokens)),
            duration(r.train->value), "train_seconds", error);
  }
  all.add("of peak arithmetic", percent(a.utilization), "utilization",
          human(a.model_flops_per_second.value, "FLOP/s"));
  std::string bound(estimate::name_of(a.bound));
  std::replace(bound.begin(), bound.end(), '_', ' ');
  all.add("limited by", bound, "bound", "the largest part of the step");
  all.add(is_training(r) ? "energy a step" : "energy a pass",
          quantity(a.energy_per_step.value, "J"), "energy_joules_per_step",
          "from peak and idle power; not validated");
  return all.html();
}

std::string facts_of(const Result& r) {
  Facts facts;
  const auto count = [](auto n) { return grouped(static_cast<double>(n)); };
  facts.add("network", fmt::format("{} parameters, {} token{} a sample, {}", count(r.parameters),
                                   count(r.seq_len), r.seq_len == 1 ? "" : "s",
                                   study::name_of(r.question.precision)));
  facts.add("machine", fmt::format("{}, {}", machine_words(r), mode_words(r)));
  facts.add("batch", fmt::format("{} samples: {} micro-batch{} of {} on each system",
                                 count(r.question.batch), count(r.micro_batches),
                                 r.micro_batches == 1 ? "" : "es", count(r.micro_batch)));
  if (!r.micro_batch_reason.empty()) facts.add("micro-batch", r.micro_batch_reason);
  if (study::is_sparse(r.question)) {
    facts.add("sparsity", study::sparsity_text(r.question));
  }
  if (is_training(r)) {
    facts.add("recompute",
              fmt::format("{}{}{}", plan::name_of(r.recompute),
                          r.activation_reason.empty() ? "" : ": ", r.activation_reason));
  }
  if (r.answer.cluster) {
    const plan::Parallelism& p = r.answer.cluster->parallel;
    facts.add("spread", fmt::format("tensor {} x pipeline {} x data {}, interleaving {}, sequence "
                                    "parallel {}, sharding {}",
                                    p.tensor, p.pipeline, p.data, p.interleaving,
                                    p.sequence ? "on" : "off", plan::name_of(p.sharding)));
  }
  return facts.html();
}

Section summary(const Dossier& d) {
  return {"summary", "Summary", figures_of(d.result) + facts_of(d.result)};
}

std::optional<Section> throughput(const Dossier& d) {
  std::string body;
  for (const Rate& rate : rates_of(d.result)) {
    if (const auto chart = throughput_chart(d, rate)) {
      body += figure(*chart, fmt::format("{} over the batch (samples of a step). Bands are the "
                                         "expected error, where it is known.",
                                         rate.name));
    }
  }
  if (body.empty()) return std::nullopt;
  size_t without = 0;
  for (const study::BatchCurve& curve : d.curves) {
    without += static_cast<size_t>(std::count_if(curve.points.begin(), curve.points.end(),
                                                 [](const auto& a) { return !a.result; }));
  }
  if (without > 0) {
    body += paragraph(fmt::format("{} point{} {} no answer (the batch does not fit or does not "
                                  "divide); the JSON below says why.",
                                  without, without == 1 ? "" : "s", without == 1 ? "has" : "have"),
                      "note");
  }
  return Section{"throughput", "Throughput against batch", body};
}

std::optional<Section> roofline(const Dossier& d) {
  const auto chart = roofline_chart(d);
  if (!chart) return std::nullopt;
  return Section{"roofline", "Roofline",
                 figure(*chart,
                        "Rate over FLOPs a byte, both logarithmic. The step stands once under the "
                        "roof of SRAM traffic and once under that of the wafer&#8217;s edge; "
                        "layers stand at their traffic over the edge.",
                        400)};
}

Table parts_of_layers(const Result& r) {
  constexpr auto Right = Align::Right;
  Table table{.columns = {{"layer", "name"},
                          {"phase", "phase"},
                          {"compute", "compute_seconds", Right},
                          {"weights in", "weights_seconds", Right},
                          {"gradients out", "gradients_seconds", Right},
                          {"activations", "activations_seconds", Right},
                          {"overhead", "overhead_seconds", Right}},
              .rows = {}};
  for (const estimate::LayerCost& l : r.answer.layers) {
    const auto time = [](Seconds s) { return quantity(s.value, "s"); };
    table.rows.push_back({l.name, std::string(ir::name_of(l.phase)), time(l.compute),
                          time(l.weights_in), time(l.gradients_out), time(l.activations),
                          time(l.overhead)});
  }
  return table;
}

Section time_section(const Result& r) {
  std::string body;
  const std::string caption =
      "Measurements validate the time of the whole step; its parts follow from the cost model.";
  if (const auto chart = time_chart(r)) body += figure(*chart, caption);
  body += html_of(time_table(r), r.answer.cluster ? "Of a step, on one GPU of the busiest stage"
                                                  : "Of a step, all repetitions together");
  if (!r.answer.cluster && !r.answer.layers.empty()) {
    body += "<details>\n<summary>What each layer does, before overlap</summary>\n" +
            html_of(parts_of_layers(r), "Parts that run at the same time overlap") + "</details>\n";
  }
  return {"time", "Where the time goes", body};
}

Table memory_table(const Result& r) {
  const estimate::Memory& m = r.answer.memory;
  Table table{.columns = {{"what", "what"}, {"where", "where"}, {"size", "bytes", Align::Right}},
              .rows = {}};
  const auto add = [&](const char* what, const char* where, Bytes b) {
    if (b.value > 0) table.rows.push_back({what, where, quantity(b.value, "B")});
  };
  if (r.answer.cluster) {
    add("weights", "each GPU", m.weights);
    add("gradients", "each GPU", m.gradients);
    add("optimizer state", "each GPU", m.optimizer_state);
    add("activations", "each GPU", m.activations);
    add("workspace", "each GPU", m.workspace);
    add("in use", "each GPU", r.answer.cluster->gpu_used);
    add("capacity", "each GPU", r.answer.cluster->gpu_capacity);
    return table;
  }
  add("weights", "weight store", m.weights);
  add("optimizer state", "weight store", m.optimizer_state);
  add("in use", "weight store", m.store_total);
  add("capacity", "weight store", m.store_capacity);
  add("activations of a micro-batch", "wafer", m.activations_on_wafer);
  add("activations of a micro-batch", "activation servers", m.activations_spilled);
  add("workspace of the widest layer", "wafer", m.workspace);
  add("capacity for both", "wafer", m.wafer_capacity);
  return table;
}

std::optional<Section> memory(const Result& r) {
  const Table table = memory_table(r);
  if (table.rows.empty()) return std::nullopt;
  std::string body;
  if (const auto chart = memory_chart(r)) {
    body += figure(*chart, "Each bar is a place, its track the whole capacity of it.");
  }
  return Section{"memory", "Memory", body + html_of(table, "Counted from the plan")};
}

std::optional<Section> comparison(const Dossier& d) {
  if (d.rows.size() < 2) return std::nullopt;
  std::string body;
  if (const auto chart = compare_chart(d.rows)) {
    body += figure(*chart,
                   "Samples/s, and the ratio to the first. Whiskers are the expected error, "
                   "where it is known.");
  }
  body += html_sideways(compare_table(d.rows), "The same job on each machine");
  std::vector<std::string> lines;
  for (const CompareRow& row : d.rows) {
    const auto say = [&](const std::string& what) {
      lines.push_back(fmt::format("{}: {}", row.contender.text, what));
    };
    if (!row.attempt.result) say("cannot do it: " + row.attempt.reason);
    if (row.effort && !row.effort->knobs.empty()) {
      say(fmt::format("to be set: {}", fmt::join(row.effort->knobs, ", ")));
    }
    for (const std::string& note : row.notes) say(note);
  }
  body += html_list(lines);
  body += paragraph(
      "knobs: settings of the distribution that the user's script states. lines: of "
      "the public code that trains a GPT so, as gigaGPT's README counts them.",
      "note");
  return Section{"comparison", "Comparison", body};
}

std::string trust_of(const CompareRow& row) {
  const Result& r = *row.attempt.result;
  std::string html = fmt::format("<h3>{}</h3>\n", escaped(row.contender.text));
  html += paragraph(
      r.expected_error
          ? fmt::format("Expected error {}: the mean of absolute errors on published measurements "
                        "of this machine, mode and phase that the fit has not seen.",
                        percent(*r.expected_error).text)
          : "The error is not known: no published measurement of this machine, mode and phase "
            "counts.");
  if (r.extrapolated.empty()) return html;
  return html + paragraph("Extrapolated, since:", "warn") + html_list(r.extrapolated);
}

/// Rows of measurements with the paper that each is from.
Table evidence_table(const study::Validation& v) {
  Table table = row_table(v);
  table.columns.push_back({"source", "source"});
  for (size_t i = 0; i < v.rows.size(); ++i) {
    table.rows[i][0] = fmt::format("row {}", v.rows[i].measurement.id);
    table.rows[i].emplace_back(v.rows[i].measurement.source);
  }
  return table;
}

Section trust(const Dossier& d) {
  std::string body;
  for (const CompareRow& row : d.rows) {
    if (row.attempt.result) body += trust_of(row);
  }
  if (!d.evidence.rows.empty()) {
    body += "<h3>Measurements of these machines, modes and phases</h3>\n";
    body += html_of(evidence_table(d.evidence),
                    fmt::format("Scored rows of {}, by their id there", d.evidence.file));
  }
  return {"trust", "How far to trust it", body};
}

Section numbers(const std::string& json, const HtmlOptions& options) {
  std::string body;
  if (!options.command.empty()) {
    body += paragraph("Made by") +
            fmt::format("<pre><code>{}</code></pre>\n", escaped(options.command));
  }
  body += fmt::format(
      "<p><a download=\"report.json\" href=\"data:application/json;base64,{}\">Download every "
      "number "
      "as JSON</a> (SI units; docs/json.md lists the keys). The same lies in this file as the "
      "element with the id <code>answers</code>.</p>\n",
      base64(json));
  return {"numbers", "Numbers", body};
}

std::vector<Section> sections_of(const Dossier& d, const std::string& json,
                                 const HtmlOptions& options) {
  std::vector<Section> all = {summary(d)};
  const auto add = [&](std::optional<Section> section) {
    if (section) all.push_back(std::move(*section));
  };
  add(throughput(d));
  add(comparison(d));
  add(time_section(d.result));
  add(roofline(d));
  add(memory(d.result));
  add(trust(d));
  add(numbers(json, options));
  return all;
}

// JSON that can stand in a script element.
std::string for_script(std::string json) {
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;)
    json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace

std::string html(const Dossier& d, const HtmlOptions& options) {
  const Result& r = d.result;
  const std::string title = fmt::format("{} on {}", r.model, machine_words(r));
  const std::string lead =
      fmt::format("{}, {}, batch {} of {} token{}", is_training(r) ? "Training" : "Inference",
                  mode_words(r), grouped(static_cast<double>(r.question.batch)),
                  grouped(static_cast<double>(r.seq_len)), r.seq_len == 1 ? "" : "s");
  const std::string numbers = json(d);
  const std::vector<Section> sections = sections_of(d, numbers, options);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"OpenWafer {}\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{} - OpenWafer report</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<div class=\"sheet\">\n<header>\n<p class=\"eyebrow\">OpenWafer report</p>\n<h1>{}</h1>\n"
      "<p class=\"lead\">{}</p>\n</header>\n",
      escaped(options.version), escaped(title), page_style(), escaped(title), escaped(lead));
  page += navigation(sections) + "<main>\n";
  for (const Section& section : sections) page += html_of(section);
  page += fmt::format(
      "</main>\n<footer>Predicted by OpenWafer {}; nothing here was measured on the machine unless "
      "it says so.</footer>\n</div>\n<script type=\"application/json\" "
      "id=\"answers\">\n{}</script>\n"
      "</body>\n</html>\n",
      escaped(options.version), for_script(numbers));
  return page;
}

}  // namespace wafer::report
