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
  std::string machine = "wse2";
  bool cross = false;
  std::string json, coverage, markdown;
};

void write_coverage(const Options& options, const report::ValidationReport& report,
                    study::Workbench& bench) {
  if (options.coverage.empty()) return;
  if (!report.cross) throw InputError("--coverage needs the expected errors of --cross");
  write_file(options.coverage, study::print_coverage(study::coverage_of(
                                   report.validation, *report.cross, options.machine, bench)));
}

void write_markdown(const Options& options, const report::ValidationReport& report,
                    study::Workbench& bench) {
  if (options.markdown.empty()) return;
  const std::string document(MappedFile(options.markdown).bytes());
  write_file(options.markdown,
             report::refreshed(document, report::parts(report, bench.wafer(options.machine)),
                               options.markdown));
}

void validate(const Options& options) {
  const std::vector<study::Measurement> rows = study::measurements(study::Csv::load(options.file));
  study::Workbench bench;
  report::ValidationReport report;
  {
    ProgressLine line("predicting row");
    report.validation = study::validate(rows, options.file, bench, line.callback());
  }
  if (options.cross) {
    ProgressLine line("fitting without part");
    report.cross = study::cross_validate(study::fit_rows(rows, options.machine),
                                         bench.wafer(options.machine), bench, line.callback());
  }
  write_coverage(options, report, bench);
  write_markdown(options, report, bench);
  print_answer(options.json, report::json(report), report::text(report));
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
  command->add_option("--machine", options->machine, "whose constants --cross fits; default wse2")
      ->type_name("MACHINE");
  command
      ->add_option("--coverage", options->coverage,
                   "with --cross: write what the rows cover, for the expected_error and\n"
                   "extrapolated of answers (validation/coverage.json)")
      ->type_name("FILE");
  command
      ->add_option("--markdown", options->markdown,
                   "replace the marked tables of a Markdown document (docs/validation.md)")
      ->type_name("FILE");
  add_json(*command, options->json);
  command->footer(
      "Examples:\n"
      "  wafer validate validation/system.csv\n"
      "  wafer validate mine.csv --cross --json -");
  command->callback([options] { validate(*options); });
}

}  // namespace wafer::cli
