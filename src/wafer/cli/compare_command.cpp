#include <CLI/CLI.hpp>
#include <memory>

#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/cli/question_options.h"
#include "wafer/report/compare.h"
#include "wafer/study/compare.h"

namespace wafer::cli {
namespace {

struct Options {
  study::Question question;
  std::vector<std::string> machines;
  Outputs outputs;
};

void compare(const Options& options) {
  std::vector<study::Contender> contenders;
  for (const std::string& word : options.machines) contenders.push_back(study::contender(word));
  study::Workbench bench;
  const std::vector<study::CompareRow> rows = study::compare(options.question, contenders, bench);
  print_answer(options.outputs, report::json(rows), report::text(rows));
}

}  // namespace

void add_compare(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("compare", "the same job on several machines, side by side");
  add_question(*command, options->question);
  command->remove_option(command->get_option("--machine"));
  command
      ->add_option("--machines", options->machines,
                   "separated by commas: names or paths of TOML files, each with xN\n"
                   "for N systems or GPUs (else --systems) and :MODE where it has\n"
                   "several; ratios are to the first that can do it")
      ->type_name("MACHINE[xN][:MODE],...")
      ->delimiter(',')
      ->required();
  add_durations(*command, options->question);
  add_outputs(*command, options->outputs, "rows");
  command->footer(
      "Examples:\n"
      "  wafer compare gpt3-13b --machines wse2,wse3x4,a100-80gbx256 --batch 1024\n"
      "  wafer compare bert-large --machines a100-80gbx8,./mine.tomlx2 --epoch-samples 1e6\n"
      "  wafer compare llama2-7b --machines a100-80gb,h100 --phase infer --batch 8 --json -\n"
      "  wafer compare gpt3-1.3b --machines wse2,h100x8 --tokens 2.6e10 --price h100=2.5\n"
      "A machine that cannot do it has a row that says why. Units of JSON are SI; docs/json.md\n"
      "lists its keys.");
  command->callback([options] { compare(*options); });
}

}  // namespace wafer::cli
