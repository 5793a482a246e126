#include <CLI/CLI.hpp>
#include <memory>

#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/report/catalog.h"

namespace wafer::cli {
namespace {

void list(const Outputs& outputs) {
  const std::vector<study::KnownModel> models = study::known_models();
  print_answer(outputs, report::json(models),
               report::text(report::catalog_table(models)) +
                   "\nand gpt:, bert:, llama: with shapes of your own, as "
                   "gpt:layers=24,hidden=2048,heads=16,vocab=50257\n");
}

}  // namespace

void add_models(CLI::App& app) {
  const auto outputs = std::make_shared<Outputs>();
  CLI::App* const command = app.add_subcommand("models", "the networks that are built in");
  add_outputs(*command, *outputs, "rows");
  command->footer(
      "Examples:\n"
      "  wafer models\n"
      "  wafer models --json -");
  command->callback([outputs] { list(*outputs); });
}

}  // namespace wafer::cli
