#include <CLI/CLI.hpp>
#include <memory>

#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/cli/progress.h"
#include "wafer/report/validation.h"
#include "wafer/study/fit.h"

namespace wafer::cli {
namespace {

struct Options {
  std::string file;
  std::string machine = "wse2";
  bool cross = false;
  std::string json;
};

void fit(const Options& options) {
  study::Workbench bench;
  const machine::Wafer& machine = bench.wafer(options.machine);
  const std::vector<study::Measurement> rows =
      study::fit_rows(study::measurements(study::Csv::load(options.file)), machine.name);
  const study::Fit found = study::fit(rows, machine, bench);
  std::optional<study::CrossValidation> cross;
  if (options.cross) {
    ProgressLine line("fitting without part");
    cross = study::cross_validate(rows, machine, bench, line.callback());
  }
  print_answer(options.json, report::json(found, cross), report::text(found, cross));
}

}  // namespace

void add_fit(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command = app.add_subcommand(
      "fit", "the constants of the cost model that meet measurements best; changes no file");
  command->add_option("FILE", options->file, "CSV with the columns of validation/README.md")
      ->required();
  command->add_option("--machine", options->machine, "whose constants; default wse2")
      ->type_name("MACHINE");
  command->add_flag("--cross", options->cross, "also without each model and source in turn");
  add_json(*command, options->json);
  command->footer(
      "Examples:\n"
      "  wafer fit validation/system.csv\n"
      "  wafer fit mine.csv --machine ./mine.toml --cross\n"
      "scripts/fit-constants writes them into machines/wse2.toml.");
  command->callback([options] { fit(*options); });
}

}  // namespace wafer::cli
