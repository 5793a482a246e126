#include <CLI/CLI.hpp>
#include <memory>

#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/cli/question_options.h"
#include "wafer/study/passes.h"

namespace wafer::cli {
namespace {

struct Options {
  study::Question question;
  std::string pass = "plan";
  std::string format = "text";
  Outputs outputs;
};

void compile(const Options& options) {
  const bool as_json = options.format == "json";
  if (!as_json && options.format != "text") {
    refuse_choice("--format", "text or json", options.format);
  }
  const auto printed = [&](bool json) {
    return study::print_after(options.question, options.pass, json);
  };
  const bool prints = options.outputs.prints();
  print_answer(options.outputs, options.outputs.any() ? printed(true) : "",
               prints ? "" : printed(as_json));
}

}  // namespace

void add_compile(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("compile", "what a network is compiled to, pass by pass");
  add_question(*command, options->question);
  command
      ->add_option("--print-after", options->pass,
                   "what this pass leaves behind; default plan, the last")
      ->type_name("PASS");
  command->add_option("--format", options->format, "default text; json of graphs and plans")
      ->type_name("text|json");
  add_outputs(*command, options->outputs, "body");
  command->footer("Passes:\n" + study::list_passes() +
                  "\nExamples:\n"
                  "  wafer compile bert-base --machine wse2 --batch 4096 --seq 128\n"
                  "  wafer compile gpt2 --print-after layers\n"
                  "  wafer compile gpt2 --json plan.json");
  command->callback([options] { compile(*options); });
}

}  // namespace wafer::cli
