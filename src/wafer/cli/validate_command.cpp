#include <CLI/CLI.hpp>
#include <memory>

#include "wafer/base/error.h"
#include "wafer/base/mapped_file.h"
#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/cli/progress.h"
#include "wafer/report/document.h"
#include "wafer/report/validation.h"
#include "wafer/study/fit.h"

namespace wafer::cli {
namespace {

struct Options {
  std::string file;
  std::string machine;
  bool cross = false;
  std::string coverage, refresh;
  Outputs outputs;
};

void write_coverage(const Options& options, const report::ValidationReport& report,
                    study::Workbench& bench) {
  if (options.coverage.empty()) return;
  if (report.crosses.empty()) throw InputError("--coverage needs the expected errors of --cross");
  write_file(options.coverage,
             study::print_coverage(study::coverage_of(report.validation, report.crosses, bench)));
}

void refresh(const Options& options, const report::ValidationReport& report,
             const std::vector<study::FitKind>& kinds, study::Workbench& bench) {
  if (options.refresh.empty()) return;
  const std::string document(MappedFile(options.refresh).bytes());
  std::vector<report::KindMachine> machines;
  for (const study::FitKind& kind : kinds) {
    machines.push_back({&kind, &bench.machine(kind.machines.front())});
  }
  write_file(options.refresh,
             report::refreshed(document, report::parts(report, machines), options.refresh));
}

// All kinds of rows; of those with constants like the machine asked for, its own.
std::vector<study::FitKind> kinds_of(const Options& options, study::Workbench& bench) {
  std::vector<study::FitKind> kinds = study::fit_kinds();
  if (options.machine.empty()) return kinds;
  const machine::Machine& machine = bench.machine(options.machine);
  for (study::FitKind& kind : kinds) {
    if (kind.suits(machine)) kind = only(kind, machine);
  }
  return kinds;
}

void validate(const Options& options) {
  const std::vector<study::Measurement> rows = study::measurements(study::Csv::load(options.file));
  study::Workbench bench;
  const std::vector<study::FitKind> kinds = kinds_of(options, bench);
  report::ValidationReport report;
  {
    ProgressLine line("predicting row");
    report.validation = study::validate(rows, options.file, bench, line.callback());
  }
  if (options.cross) {
    ProgressLine line("fitting without part");
    report.crosses = study::cross_validations(kinds, rows, bench, line.callback());
  }
  write_coverage(options, report, bench);
  refresh(options, report, kinds, bench);
  print_answer(options.outputs, report::json(report), report::text(report));
}

}  // namespace

void add_validate(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("validate", "predictions held against published measurements");
  command->add_option("FILE", options->file, "CSV with the columns of validation/README.md")
      ->required();
  command->add_flag("--cross", options->cross,
                    "also fit the constants without each model (and source) in turn and\n"
                    "test on what was left out");
  command
      ->add_option("--machine", options->machine, "whose constants --cross fits, alone of its kind")
      ->type_name("MACHINE");
  command
      ->add_option("--coverage", options->coverage,
                   "with --cross: write what the rows cover, for the expected_error and\n"
                   "extrapolated of answers (validation/coverage.json)")
      ->type_name("FILE");
  command
      ->add_option("--refresh", options->refresh,
                   "replace the marked tables of a Markdown document (docs/validation.md)")
      ->type_name("FILE");
  add_outputs(*command, options->outputs, "rows");
  command->footer(
      "Examples:\n"
      "  wafer validate validation/system.csv\n"
      "  wafer validate mine.csv --cross --json -");
  command->callback([options] { validate(*options); });
}

}  // namespace wafer::cli
