#include <CLI/CLI.hpp>
#include <memory>

#include "wafer/cli/commands.h"
#include "wafer/cli/output.h"
#include "wafer/cli/question_options.h"
#include "wafer/report/wafer_map.h"
#include "wafer/study/workbench.h"

namespace wafer::cli {
namespace {

struct Options {
  study::Question question;
  std::string output = "-";
};

void map(const Options& options) {
  write_file(options.output, report::wafer_map_svg(study::Workbench().plan(options.question)));
  if (options.output != "-") print_out(options.output + "\n");
}

}  // namespace

void add_map(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("map", "where the kernels of a network lie on the wafer, as SVG");
  add_question(*command, options->question);
  command
      ->add_option("-o,--output", options->output,
                   "the file, whose path is printed; default '-', which prints the SVG")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  wafer map gpt2 --mode pipelined -o map.svg\n"
      "  wafer map bert-large-mlm --mode pipelined --seq 128 -o map.svg");
  command->callback([options] { map(*options); });
}

}  // namespace wafer::cli
