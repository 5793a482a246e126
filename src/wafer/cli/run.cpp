#include "wafer/cli/run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>

#include "wafer/base/error.h"
#include "wafer/base/nearest.h"
#include "wafer/cli/commands.h"
#include "wafer/cli/interrupt.h"
#include "wafer/cli/output.h"

namespace wafer::cli {
namespace {

enum ExitCode { Ok = 0, Input = 2, Capacity = 3, Internal = 70 };

int complain(ExitCode code, const std::string& what) {
  // std::fputs, since a standard error that is full or closed must not end in another error.
  std::fputs(("wafer: " + what + "\n").c_str(), stderr);
  return code;
}

void set_up(CLI::App& app) {
  app.name("wafer");
  app.set_version_flag("--version", "wafer " WAFER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  wafer estimate bert-large --machine wse2 --batch 8192 --seq 128\n"
      "  wafer estimate model.onnx --machine wse3 --batch 256 --dim seq=512\n"
      "  wafer compare gpt3-13b --machines wse2,wse3x4,a100-80gbx256\n"
      "  wafer report bert-large --machines wse2,a100-80gbx8 -o report.html\n"
      "  wafer validate validation/system.csv\n"
      "  wafer show gpt2 --format json\n"
      "'wafer COMMAND --help' explains a command.");
  add_estimate(app);
  add_compare(app);
  add_sweep(app);
  add_report(app);
  add_validate(app);
  add_show(app);
  add_models(app);
  add_machines(app);
  add_compile(app);
  add_map(app);
  add_fit(app);
  add_completion(app);
  add_man(app);
}

// CLI11 says only that a word was not expected.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || *argv[1] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  const std::string meant = nearest(argv[1], names);
  throw InputError(fmt::format("no command \"{}\"{}; there are {}", argv[1],
                               meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
                               fmt::join(names, ", ")));
}

int parse(CLI::App& app, int argc, char** argv) {
  try {
    if (argc < 2) throw CLI::CallForHelp();
    check_command(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_out(app.help());
  } catch (const CLI::CallForVersion&) {
    print_out(app.version() + "\n");
  } catch (const CLI::ParseError& e) {
    const auto chosen = app.get_subcommands();
    throw InputError(fmt::format("{} ('wafer {}--help' lists what is possible)", e.what(),
                                 chosen.empty() ? "" : chosen[0]->get_name() + " "));
  }
  return Ok;
}

}  // namespace

int run(int argc, char** argv) {
  // A reader that has had enough (`wafer models | head`) is no error; print_out() sees it.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is a write that fails
  try {
    CLI::App app("How fast would a network train or run on a wafer, and what limits it?");
    set_up(app);
    return parse(app, argc, argv);
  } catch (const ReaderGone&) {
    return Ok;
  } catch (const Interrupted& e) {
    std::fputs(("wafer: " + e.what + "\n").c_str(), stderr);
    return InterruptedExit;
  } catch (const InputError& e) {
    return complain(Input, e.what());
  } catch (const CapacityError& e) {
    return complain(Capacity, e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    return complain(Input, e.what());
  } catch (const std::bad_alloc&) {
    return complain(Capacity, "this machine's memory does not suffice for it");
  } catch (const std::exception& e) {
    return complain(
        Internal, fmt::format("a fault of ours, please report it with the command: {}", e.what()));
  }
}

}  // namespace wafer::cli
