#include <fmt/format.h>

#include "wafer/cli/completion.h"

namespace wafer::cli {
namespace {

// In single quotes, in which fish reads \\ and \'.
std::string quoted(const std::string& text) {
  std::string all = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') all += '\\';
    all += c == '\n' ? ' ' : c;
  }
  return all + "'";
}

std::string words_after_program(const Command& command) {
  const size_t space = command.name.find(' ');
  return space == std::string::npos ? "" : command.name.substr(space + 1);
}

std::string line(const Command& command, const std::string& rest) {
  return fmt::format("complete -c wafer -n '__wafer_at {}'{}\n", words_after_program(command),
                     rest);
}

std::string values(const Candidates& c) {
  std::string text = c.files ? " -F" : " -f";
  if (c.words.empty()) return text;
  const std::string words = fmt::format("{}", fmt::join(c.words, " "));
  return text + " -a " + (c.list ? quoted("(__fish_append , " + words + ")") : quoted(words));
}

std::string option(const Command& command, const Argument& o) {
  std::string text;
  for (const std::string& name : o.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (o.takes_value()) text += " -r" + values(o.candidates);
  return line(command, text + " -d " + quoted(o.help));
}

std::string lines(const Command& command) {
  std::string text;
  for (const Command& below : command.commands) {
    text += line(command, " -a " + below.word + " -d " + quoted(below.help));
  }
  for (const Argument& place : command.places) {
    text += line(command, values(place.candidates));
  }
  for (const Argument& o : command.options) text += option(command, o);
  return text;
}

// The commands that have commands below them, but for the program.
std::string parents(const Command& program) {
  std::string cases;
  for (const Command* command : all_commands(program)) {
    if (command == &program || command->commands.empty()) continue;
    std::string names;
    for (const Command& below : command->commands) names += " " + below.word;
    cases += fmt::format("            case {}\n                contains -- \"$word\"{}; or break\n",
                         quoted(words_after_program(*command)), names);
  }
  return cases;
}

}  // namespace

std::string fish_completion(const Command& program) {
  std::string text = fmt::format(
      "# Makes fish complete what wafer takes; written by: wafer completion fish\n\n"
      "# Is the command line at this command?\n"
      "function __wafer_at\n"
      "    set -l at\n"
      "    for word in (commandline -opc)[2..-1]\n"
      "        string match -q -- '-*' $word; and continue\n"
      "        switch \"$at\"\n"
      "            case ''\n"
      "{}"
      "            case '*'\n"
      "                break\n"
      "        end\n"
      "        set -a at $word\n"
      "    end\n"
      "    test \"$at\" = \"$argv\"\n"
      "end\n\n"
      "complete -c wafer -f\n",
      parents(program));
  for (const Command* command : all_commands(program)) text += lines(*command);
  return text;
}

}  // namespace wafer::cli
