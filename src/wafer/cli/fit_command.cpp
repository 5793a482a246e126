#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "wafer/base/error.h"
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
  std::string kind, machine;
  bool cross = false;
  Outputs outputs;
};

// What is asked for: one kind, the first of one machine, or all.
std::vector<study::FitKind> kinds_of(const Options& options, study::Workbench& bench) {
  std::vector<study::FitKind> kinds = study::fit_kinds();
  if (!options.kind.empty()) kinds = {study::fit_kind_named(options.kind)};
  if (options.machine.empty()) return kinds;
  const machine::Machine& machine = bench.machine(options.machine);
  std::erase_if(kinds, [&](const study::FitKind& k) { return !k.suits(machine); });
  if (kinds.empty()) {
    throw InputError(fmt::format("--kind {}: its rows are not of machines like {}", options.kind,
                                 machine::name_of(machine)));
  }
  return {only(kinds.front(), machine)};
}

/// Machines with the constants of the fits so far: a kind may rest on one before it.
class Machines {
 public:
  Machines(const Options& options, study::Workbench& bench) : options_(options), bench_(bench) {}

  std::vector<machine::Machine> of(const study::FitKind& kind) {
    if (!options_.machine.empty()) return {bench_.machine(options_.machine)};
    std::vector<machine::Machine> all = study::machines_of(kind, bench_);
    for (machine::Machine& m : all) {
      const auto found = fitted_.find(machine::name_of(m));
      if (found != fitted_.end()) m = found->second;
    }
    return all;
  }

  void keep(const study::Fit& fit) {
    for (const machine::Machine& m : fit.machines) {
      fitted_.insert_or_assign(machine::name_of(m), m);
    }
  }

 private:
  const Options& options_;
  study::Workbench& bench_;
  std::map<std::string, machine::Machine> fitted_;
};

std::string names_of_kinds() {
  std::vector<std::string> names;
  for (const study::FitKind& kind : study::fit_kinds()) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void fit(const Options& options) {
  study::Workbench bench;
  const std::vector<study::FitKind> kinds = kinds_of(options, bench);
  const std::vector<study::Measurement> all = study::measurements(study::Csv::load(options.file));
  Machines machines(options, bench);
  std::vector<report::FitReport> fits;
  for (const study::FitKind& kind : kinds) {
    const std::vector<study::Measurement> rows = study::fit_rows(all, kind);
    // A file need not have rows of every kind, but of one.
    const bool is_last_hope = &kind == &kinds.back() && fits.empty();
    if (!study::suffices(rows, kind) && !is_last_hope) continue;
    fits.push_back({.fit = study::fit(kind, rows, machines.of(kind), bench)});
    machines.keep(fits.back().fit);
    if (!options.cross || kind.halved) continue;
    ProgressLine line("fitting without part");
    fits.back().cross =
        study::cross_validate(kind, rows, machines.of(kind), bench, line.callback());
  }
  print_answer(options.outputs, report::json(fits), report::text(fits));
}

}  // namespace

void add_fit(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command = app.add_subcommand(
      "fit", "the constants of the cost model that meet measurements best; changes no file");
  command->add_option("FILE", options->file, "CSV with the columns of validation/README.md")
      ->required();
  command
      ->add_option("--kind", options->kind,
                   "which rows, and so which constants: " + names_of_kinds() + ";\ndefault: all")
      ->type_name("KIND");
  command->add_option("--machine", options->machine, "whose rows and constants alone")
      ->type_name("MACHINE");
  command->add_flag("--cross", options->cross,
                    "also without each model and source in turn (kinds that are\n"
                    "not fitted by half)");
  add_outputs(*command, options->outputs, "kinds");
  command->footer(
      "Examples:\n"
      "  wafer fit validation/system.csv\n"
      "  wafer fit validation/system.csv --kind cluster-training\n"
      "  wafer fit mine.csv --machine ./mine.toml --cross\n"
      "scripts/fit-constants writes them into machines/*.toml.");
  command->callback([options] { fit(*options); });
}

}  // namespace wafer::cli
