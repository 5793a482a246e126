#include <CLI/CLI.hpp>
#include <memory>

#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/machine/load.h"
#include "wafer/machine/print.h"

namespace wafer::cli {
namespace {

struct Options {
  std::string name;
  Outputs all, one;
};

void list(const Options& options) {
  std::vector<machine::Machine> all;
  for (const std::string& name : machine::names()) all.push_back(machine::load(name));
  print_answer(options.all, machine::print_json(all), machine::print_list(all));
}

void show(const Options& options) {
  const machine::Machine machine = machine::load(options.name);
  print_answer(options.one, machine::print_json(machine), machine::print_text(machine));
}

}  // namespace

void add_machines(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command = app.add_subcommand("machines", "the machines that are described");
  CLI::App* const one =
      command->add_subcommand("show", "every number of one machine, with its source");
  add_outputs(*command, options->all, "rows");
  add_outputs(*one, options->one, "numbers");
  one->add_option("MACHINE", options->name, "a name, or the path of a TOML file")->required();
  command->require_subcommand(0, 1);
  command->footer(
      "Examples:\n"
      "  wafer machines\n"
      "  wafer machines show wse2\n"
      "  wafer machines show ./mine.toml --json -\n"
      "docs/machines.md has the format of such files.");
  one->callback([options] { show(*options); });
  command->callback([command, options] {
    if (command->get_subcommands().empty()) list(*options);
  });
}

}  // namespace wafer::cli
