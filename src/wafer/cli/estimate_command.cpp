#include <CLI/CLI.hpp>
#include <memory>

#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/cli/question_options.h"
#include "wafer/report/answer.h"
#include "wafer/study/workbench.h"

namespace wafer::cli {
namespace {

struct Options {
  study::Question question;
  report::AnswerOptions show;
  Outputs outputs;
};

void estimate(const Options& options) {
  const study::Result result = study::answer(options.question);
  print_answer(options.outputs, report::json(result, options.show),
               report::text(result, options.show));
}

}  // namespace

void add_estimate(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("estimate", "how fast a network trains or runs, and what limits it");
  add_question(*command, options->question);
  add_durations(*command, options->question);
  command->add_flag("--paper-roofline", options->show.paper_roofline,
                    "also print the roofline as HPEC 2024 counts it");
  add_outputs(*command, options->outputs);
  command->footer(
      "Examples:\n"
      "  wafer estimate bert-large --machine wse2 --batch 8192 --seq 128 --epoch-samples 67350\n"
      "  wafer estimate gpt3-20b --machine wse2 --systems 4 --batch 1024 --tokens 4e11\n"
      "  wafer estimate llama2-7b --machine wse3 --phase infer --batch 64\n"
      "  wafer estimate model.onnx --batch 256 --dim seq=512 --json -\n"
      "  wafer estimate gpt3-1.3b --sparsity 0.75 --json out.json\n"
      "Units of JSON are SI; docs/json.md lists its keys.");
  command->callback([options] { estimate(*options); });
}

}  // namespace wafer::cli
