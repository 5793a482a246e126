#include <fmt/format.h>

#include <map>

#include "wafer/cli/completion.h"

namespace wafer::cli {
namespace {

// Words that bash has split at '=' and ':' are passed over with what follows them.
constexpr const char* Driver = R"(
_wafer() {
  local cur=${COMP_WORDS[COMP_CWORD]} command=wafer asked= place=0 i word
  local commands options valued places
  COMPREPLY=()
  _wafer_command "$command"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == [=:] ]]; then
      ((++i))
      ((i == COMP_CWORD)) && return
    elif [[ " $valued " == *" $word "* ]]; then
      ((++i))
      [[ ${COMP_WORDS[i]} == "=" ]] && ((i < COMP_CWORD)) && ((++i))
      ((i == COMP_CWORD)) && asked=$word
    elif [[ " $commands " == *" $word "* ]]; then
      command+=" $word"
      _wafer_command "$command"
    elif [[ $word != -* ]]; then
      ((++place))
    fi
  done
  [[ $cur == [=:] ]] && { [[ $asked ]] || return; cur=; }
  if [[ ! $asked && $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    return
  fi
  local words= files= list= prefix= before=
  if [[ ! $asked ]]; then
    words=$commands
    asked=$(set -- $places; echo "${@:place+1:1}")
  fi
  [[ $asked ]] && _wafer_values "$command $asked"
  [[ $list && $cur == *,* ]] && before=${cur%,*},
  mapfile -t COMPREPLY < <(
    compgen -P "$before" -W "$words" -- "${cur#"$before"}"
    [[ $files ]] && compgen -P "$before" -f -- "${cur#"$before"}")
  [[ $files ]] && compopt -o filenames 2>/dev/null
  [[ $prefix ]] && compopt -o nospace 2>/dev/null
  return 0
}

complete -F _wafer wafer
)";

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string facts_of(const Command& command) {
  std::vector<std::string> commands, options, valued, places;
  for (const Command& below : command.commands) commands.push_back(below.word);
  for (const Argument& option : command.options) {
    for (const std::string& name : option.names) {
      options.push_back(name);
      if (option.takes_value()) valued.push_back(name);
    }
  }
  for (const Argument& place : command.places) places.push_back(place.names[0]);
  return fmt::format(
      "    \"{}\")\n      commands=\"{}\"\n      options=\"{}\"\n      valued=\"{}\"\n"
      "      places=\"{}\" ;;\n",
      command.name, joined(commands), joined(options), joined(valued), joined(places));
}

std::string assignments(const Candidates& c) {
  if (c.words.empty() && !c.files) return "";
  return fmt::format("words=\"{}\" files={} list={} prefix={}", joined(c.words), c.files ? "1" : "",
                     c.list ? "1" : "", c.prefix ? "1" : "");
}

// Arguments with the same candidates stand in one pattern.
std::string values_of(const std::vector<const Command*>& commands) {
  std::map<std::string, std::string> patterns;
  for (const Command* command : commands) {
    for (const auto* arguments : {&command->options, &command->places}) {
      for (const Argument& argument : *arguments) {
        const std::string assign = assignments(argument.candidates);
        if (assign.empty()) continue;
        for (const std::string& name : argument.names) {
          std::string& pattern = patterns[assign];
          pattern += fmt::format("{}\"{} {}\"", pattern.empty() ? "    " : " | \\\n    ",
                                 command->name, name);
        }
      }
    }
  }
  std::string text;
  for (const auto& [assign, pattern] : patterns) {
    text += fmt::format("{})\n      {} ;;\n", pattern, assign);
  }
  return text;
}

}  // namespace

std::string bash_completion(const Command& program) {
  std::string facts;
  for (const Command* command : all_commands(program)) facts += facts_of(*command);
  return fmt::format(
      "# Makes bash complete what wafer takes; written by: wafer completion bash\n\n"
      "_wafer_command() {{\n  case $1 in\n{}  esac\n}}\n\n"
      "_wafer_values() {{\n  case $1 in\n{}  esac\n}}\n{}",
      facts, values_of(all_commands(program)), Driver);
}

}  // namespace wafer::cli
