#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "wafer/cli/completion.h"

namespace wafer::cli {
namespace {

std::string replaced(std::string text, char what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, 1, by);
  }
  return text;
}

// In single quotes; specs of _arguments want brackets and colons escaped as well.
std::string quoted(const std::string& text) { return "'" + replaced(text, '\'', "'\\''") + "'"; }

std::string escaped(std::string text) {
  text = replaced(replaced(text, '\\', "\\\\"), '\n', " ");
  return replaced(replaced(replaced(text, '[', "\\["), ']', "\\]"), ':', "\\:");
}

std::string function_of(const Command& command) { return "_" + replaced(command.name, ' ', "_"); }

/// A function for each set of candidates, by the first type that has them.
class ValueFunctions {
 public:
  // The part ":message:action" of a spec.
  std::string spec(const Argument& argument) {
    const Candidates& c = argument.candidates;
    const std::string message = ":" + escaped(argument.type) + ":";
    if (c.words.empty()) return message + (c.files ? "_files" : " ");
    const std::string body = body_of(c);
    const auto [found, is_new] =
        names_.try_emplace(body, fmt::format("_wafer_values_{}", names_.size() + 1));
    if (is_new) text_ += fmt::format("{}() {{\n  {}\n}}\n\n", found->second, body);
    return message + found->second;
  }

  const std::string& text() const { return text_; }

 private:
  static std::string body_of(const Candidates& c) {
    const std::string words = fmt::format("{}", fmt::join(c.words, " "));
    if (c.prefix) return fmt::format("compadd -S '' -- {}", words);
    if (c.list) return fmt::format("_sequence compadd - {}", words);
    if (c.files) {
      return fmt::format("_alternative 'names:name:({})' 'files:file:_files'", words);
    }
    return fmt::format("compadd -- {}", words);
  }

  std::map<std::string, std::string> names_;
  std::string text_;
};

std::string option_spec(const Argument& option, ValueFunctions& values) {
  const std::string rest =
      fmt::format("[{}]{}", escaped(option.help), option.takes_value() ? values.spec(option) : "");
  std::string text;
  for (const std::string& name : option.names) {
    const std::string others = option.repeats ? "*"
                               : option.names.size() > 1
                                   ? fmt::format("({})", fmt::join(option.names, " "))
                                   : "";
    text += fmt::format(" \\\n    {}", quoted(others + name + rest));
  }
  return text;
}

std::string choose_command(const Command& command) {
  std::string list, cases;
  for (const Command& below : command.commands) {
    list += " \\\n        " + quoted(below.word + ":" + escaped(below.help));
    cases += fmt::format("      {}) {} ;;\n", below.word, function_of(below));
  }
  return fmt::format(
      "  case $state in\n"
      "  command)\n    local -a commands\n    commands=({})\n"
      "    _describe command commands ;;\n"
      "  arguments)\n    case $line[1] in\n{}    esac ;;\n  esac\n",
      list, cases);
}

std::string function(const Command& command, ValueFunctions& values) {
  std::string specs;
  for (const Argument& option : command.options) specs += option_spec(option, values);
  for (size_t i = 0; i < command.places.size(); ++i) {
    specs += " \\\n    " + quoted(fmt::format("{}{}", i + 1, values.spec(command.places[i])));
  }
  if (command.commands.empty()) {
    return fmt::format("{}() {{\n  _arguments{}\n}}\n\n", function_of(command), specs);
  }
  return fmt::format(
      "{}() {{\n  local curcontext=$curcontext state line\n  typeset -A opt_args\n"
      "  _arguments -C{} \\\n    '1: :->command' \\\n    '*:: :->arguments'\n{}}}\n\n",
      function_of(command), specs, choose_command(command));
}

}  // namespace

std::string zsh_completion(const Command& program) {
  ValueFunctions values;
  std::string functions;
  for (const Command* command : all_commands(program)) functions += function(*command, values);
  return fmt::format(
      "#compdef wafer\n# Makes zsh complete what wafer takes; written by: wafer completion zsh\n\n"
      "{}{}"
      "if [ \"$funcstack[1]\" = _wafer ]; then\n  _wafer \"$@\"\nelse\n  compdef _wafer "
      "wafer\nfi\n",
      values.text(), functions);
}

}  // namespace wafer::cli
