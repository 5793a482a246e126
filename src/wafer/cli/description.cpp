#include "wafer/cli/description.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "wafer/base/data_dir.h"
#include "wafer/compile/passes.h"
#include "wafer/machine/load.h"
#include "wafer/models/models.h"
#include "wafer/study/axis.h"
#include "wafer/study/fit.h"

namespace wafer::cli {
namespace {

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const models::CatalogEntry& entry : models::catalog()) names.push_back(entry.spec.name);
  return names;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const study::FitKind& kind : study::fit_kinds()) names.push_back(kind.name);
  return names;
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const compile::Pass& pass : compile::StreamedPasses) names.emplace_back(pass.name);
  return names;
}

std::vector<std::string> curve_names() {
  std::vector<std::string> names;
  for (const auto& [name, path] : list_data("validation/samples-to-target", ".csv")) {
    names.push_back(name);
  }
  return names;
}

// What a name in capitals stands for.
struct Meaning {
  const char* type;
  std::vector<std::string> (*words)();
  bool files;
};

std::vector<std::string> none() { return {}; }

constexpr Meaning Meanings[] = {
    {"MODEL", model_names, true},
    {"MACHINE", machine::names, true},
    {"FILE", none, true},
    {"CURVE", curve_names, true},
    {"KIND", kind_names, false},
    {"PASS", pass_names, false},
    {"AXIS", study::axis_names, false},
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  for (size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
    to = text.find(by, from);
    parts.push_back(text.substr(from, to == std::string::npos ? to : to - from));
  }
  return parts;
}

Candidates candidates_of(const std::string& type) {
  if (std::none_of(type.begin(), type.end(), is_capital)) return {.words = split(type, '|')};
  const auto end = std::find_if_not(type.begin(), type.end(), is_capital);
  const std::string name(type.begin(), end);
  for (const Meaning& meaning : Meanings) {
    if (meaning.type != name) continue;
    Candidates c{.words = meaning.words(), .files = meaning.files};
    c.list = type.ends_with(",...");
    c.prefix = end != type.end() && *end == '=';
    if (!c.prefix) return c;
    c.files = false;
    for (std::string& word : c.words) word += "=";
    return c;
  }
  return {};
}

Argument argument_of(const CLI::Option& option) {
  Argument a{.names = {}, .type = option.get_type_name(), .help = option.get_description()};
  for (const std::string& name : option.get_snames()) a.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) a.names.push_back("--" + name);
  if (option.get_positional()) {
    a.names = {option.get_name(true)};
    if (a.type == "TEXT") a.type = a.names[0];
  }
  if (option.get_expected_max() == 0) a.type.clear();  // a flag
  a.required = option.get_required();
  a.repeats = option.get_expected_max() > 1 && !a.type.empty();
  if (a.takes_value()) a.candidates = candidates_of(a.type);
  a.repeats = a.repeats && !a.candidates.list;
  return a;
}

Command command_of(const CLI::App& app, const std::string& above) {
  Command command{.name = above + app.get_name(),
                  .word = app.get_name(),
                  .help = app.get_description(),
                  .footer = app.get_footer(),
                  .options = {},
                  .places = {},
                  .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? command.places : command.options).push_back(argument_of(*option));
  }
  for (const CLI::App* below : app.get_subcommands({})) {
    command.commands.push_back(command_of(*below, command.name + " "));
  }
  return command;
}

}  // namespace

Command describe(const CLI::App& app) { return command_of(app, ""); }

std::vector<const Command*> all_commands(const Command& command) {
  std::vector<const Command*> all = {&command};
  for (const Command& below : command.commands) {
    for (const Command* one : all_commands(below)) all.push_back(one);
  }
  return all;
}

}  // namespace wafer::cli
