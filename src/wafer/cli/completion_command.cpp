#include <CLI/CLI.hpp>
#include <memory>

#include "wafer/cli/commands.h"
#include "wafer/cli/completion.h"
#include "wafer/cli/man.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"

namespace wafer::cli {
namespace {

enum class Shell { Bash, Zsh, Fish };
constexpr std::array Shells = {Shell::Bash, Shell::Zsh, Shell::Fish};

std::string_view name_of(Shell shell) {
  return shell == Shell::Bash ? "bash" : shell == Shell::Zsh ? "zsh" : "fish";
}

std::string completion(Shell shell, const Command& program) {
  switch (shell) {
    case Shell::Bash:
      return bash_completion(program);
    case Shell::Zsh:
      return zsh_completion(program);
    case Shell::Fish:
      return fish_completion(program);
  }
  return "";
}

}  // namespace

void add_completion(CLI::App& app) {
  const auto shell = std::make_shared<Shell>();
  CLI::App* const command =
      app.add_subcommand("completion", "the script that makes a shell complete what wafer takes");
  add_choice(*command, "SHELL", Shells, [shell](Shell chosen) { *shell = chosen; }, "whose script");
  command->get_option("SHELL")->required();
  command->footer(
      "Examples:\n"
      "  source <(wafer completion bash)\n"
      "  wafer completion zsh > ~/.zfunc/_wafer\n"
      "  wafer completion fish > ~/.config/fish/completions/wafer.fish\n"
      "An installed wafer has them in its prefix, where shells look.");
  command->callback([&app, shell] { print_out(completion(*shell, describe(app))); });
}

void add_man(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("man", "the manual page of wafer");
  command->footer(
      "Examples:\n"
      "  wafer man | man -l -\n"
      "  wafer man > wafer.1");
  command->callback([&app] { print_out(man_page(describe(app))); });
}

}  // namespace wafer::cli
