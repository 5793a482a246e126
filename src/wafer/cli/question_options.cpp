#include "wafer/cli/question_options.h"

#include <fmt/format.h>

#include "wafer/cli/options.h"

namespace wafer::cli {
namespace {

using study::Question;

constexpr std::array Recomputes = {plan::Recompute::None, plan::Recompute::Selective,
                                   plan::Recompute::Full};

void add_what(CLI::App& command, Question& q) {
  command
      .add_option("MODEL", q.model,
                  "a built-in name (wafer models), a free form such as\n"
                  "gpt:layers=24,hidden=2048,heads=16,vocab=50257,\n"
                  "an .onnx file, a Hugging Face config.json or its folder")
      ->required();
  command
      .add_option("--machine", q.machine,
                  "a name (wafer machines) or the path of a TOML file; default wse2")
      ->type_name("MACHINE");
  add_choice(
      command, "--phase", study::Phases, [&q](study::Phase phase) { q.phase = phase; },
      "default train");
  add_choice(
      command, "--mode", study::Modes, [&q](study::Mode mode) { q.mode = mode; },
      "default auto, which is weight streaming in this version");
}

void add_sizes(CLI::App& command, Question& q) {
  add_count(command, "--batch", q.batch,
            fmt::format("samples of a step over all systems; default {}", study::DefaultBatch));
  add_count(command, "--seq", q.seq, "tokens of a sample; default: the model's own");
  add_choice(
      command, "--precision", study::Precisions,
      [&q](study::Precision precision) { q.precision = precision; },
      "of weights and activations; default 16bit: any of the 16-bit floats,\n"
      "which the machine computes at one rate");
  add_count(command, "--systems", q.systems, "wafers; default 1");
  add_number(command, "--sparsity", q.sparsity,
             "fraction of the weights that are zero, unstructured; default 0");
  add_dims(command, q.dims);
}

void add_pins(CLI::App& command, Question& q) {
  add_count(command, "--micro-batch", q.micro_batch,
            "samples that one system works on at a time; default: the fastest");
  add_choice(
      command, "--recompute", Recomputes,
      [&q](plan::Recompute recompute) { q.recompute = recompute; },
      "what the backward pass computes again; default: none where memory allows");
}

}  // namespace

void add_question(CLI::App& command, Question& question) {
  add_what(command, question);
  add_sizes(command, question);
  add_pins(command, question);
}

}  // namespace wafer::cli
