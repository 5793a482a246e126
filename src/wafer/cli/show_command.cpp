#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "wafer/autodiff/training_step.h"
#include "wafer/base/human.h"
#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/importers/onnx_export.h"
#include "wafer/ir/text.h"
#include "wafer/report/table.h"
#include "wafer/study/network.h"
#include "wafer/study/question.h"

namespace wafer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  study::Question question{.phase = study::Phase::Infer, .batch = 1};
  std::string format = "summary";
  Outputs outputs;
};

study::Network open(const study::Question& q) {
  study::check(q);
  study::Network network = study::open_network({.model = q.model,
                                                .seq = q.seq,
                                                .dtype = study::dtype_of(q.precision),
                                                .train = q.phase == study::Phase::Train,
                                                .batch = q.batch,
                                                .dims = q.dims});
  if (q.phase == study::Phase::Train) network.graph = autodiff::training_step(network.graph);
  return network;
}

study::NetworkFacts facts(const Options& options, const study::Network& network) {
  study::NetworkFacts facts = study::facts_of(network, options.question.batch);
  facts.encoder_parameters = study::encoder_parameters(options.question.model);
  return facts;
}

std::string summary(const Options& options, const study::Network& network) {
  const study::NetworkFacts f = facts(options, network);
  const bool training = options.question.phase == study::Phase::Train;
  std::string text = fmt::format("{}: {} parameters", network.name, f.parameters);
  if (f.encoder_parameters)
    text += fmt::format(", {} of them the encoder's", *f.encoder_parameters);
  text += fmt::format(
      "\n{} of a batch of {} ({} tokens each): {}, of that {} in products; {} moved\n\n",
      training ? "training step" : "forward pass", f.batch, network.tokens_per_sample,
      human(f.flops, "FLOP"), human(f.product_flops, "FLOP"), human(f.bytes, "B"));
  constexpr auto Right = report::Align::Right;
  report::Table table{.columns = {{"op", "kind"},
                                  {"written", "ops", Right},
                                  {"runs", "runs", Right},
                                  {"work", "flops", Right}},
                      .rows = {}};
  for (const study::NetworkFacts::Kind& kind : f.kinds) {
    table.rows.push_back({kind.name, report::quantity(static_cast<double>(kind.ops), ""),
                          report::quantity(kind.runs, ""), report::quantity(kind.flops, "FLOP")});
  }
  return text + report::text(table);
}

std::string json(const Options& options, const study::Network& network) {
  const study::NetworkFacts f = facts(options, network);
  Json kinds = Json::object();
  for (const study::NetworkFacts::Kind& kind : f.kinds) {
    kinds[kind.name] = {{"ops", kind.ops}, {"runs", kind.runs}, {"flops", kind.flops}};
  }
  Json json = {
      {"name", network.name},
      {"parameters", f.parameters},
      {"encoder_parameters", f.encoder_parameters ? Json(*f.encoder_parameters) : Json(nullptr)},
      {"phase", study::name_of(options.question.phase)},
      {"batch", f.batch},
      {"seq_len", network.tokens_per_sample},
      {"flops", f.flops},
      {"product_flops", f.product_flops},
      {"bytes", f.bytes},
      {"ops", f.ops},
      {"ops_by_kind", kinds},
      {"functions", Json::parse(ir::print_json(network.graph)).at("functions")}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void show(const Options& options) {
  const std::string& format = options.format;
  constexpr std::array Formats = {"summary", "text", "json", "dot", "onnx"};
  if (std::find(Formats.begin(), Formats.end(), format) == Formats.end()) {
    refuse_choice("--format", "summary, text, json, dot or onnx", format);
  }
  const study::Network network = open(options.question);
  if (options.outputs.any()) {
    return print_answer(options.outputs, json(options, network), summary(options, network));
  }
  if (format == "text") return print_out(ir::print_text(network.graph));
  if (format == "dot") return print_out(ir::print_dot(network.graph));
  if (format == "onnx") {
    return print_out(importers::onnx_bytes(network.graph, network.name + ".onnx"));
  }
  print_out(format == "json" ? json(options, network) : summary(options, network));
}

}  // namespace

void add_show(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  study::Question& q = options->question;
  CLI::App* const command =
      app.add_subcommand("show", "the graph of a network: parameters, work, ops");
  command->add_option("MODEL", q.model, "a built-in name, a free form or a file, as for estimate")
      ->required();
  command
      ->add_option("--format", options->format,
                   "summary (default); text: one op a line; json; dot: for Graphviz;\n"
                   "onnx: the forward pass as a model file without its weights")
      ->type_name("summary|text|json|dot|onnx");
  add_choice(
      *command, "--phase", study::Phases, [&q](study::Phase phase) { q.phase = phase; },
      "infer (default): the forward pass; train: a whole training step");
  add_count(*command, "--batch", q.batch, "samples that work is counted of; default 1");
  add_count(*command, "--seq", q.seq, "tokens of a sample; default: the model's own");
  add_choice(
      *command, "--precision", study::Precisions,
      [&q](study::Precision precision) { q.precision = precision; }, "default 16bit");
  add_dims(*command, q.dims);
  command->footer(
      "Examples:\n"
      "  wafer show bert-large --seq 128\n"
      "  wafer show model.onnx --dim seq=128 --format json\n"
      "  wafer show gpt2 --phase train --format dot | dot -Tsvg > gpt2.svg\n"
      "  wafer show bert-base --precision f32 --format onnx > bert-base.onnx");
  command->callback([options] { show(*options); });
}

}  // namespace wafer::cli
