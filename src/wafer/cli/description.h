#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wafer::cli {

/// What can stand for an argument, as far as it is known.
struct Candidates {
  std::vector<std::string> words;
  bool files = false;   ///< or the path of a file
  bool list = false;    ///< several, separated by commas
  bool prefix = false;  ///< words end in "=", and a value follows
};

/// An option, or an argument by its place.
struct Argument {
  std::vector<std::string> names;  ///< "-o", "--output"; of a place its name, "MODEL"
  std::string type;                ///< what stands for its value in the help; empty: it takes none
  std::string help;                ///< lines as in the help
  bool required = false;
  bool repeats = false;
  Candidates candidates{};

  bool takes_value() const { return !type.empty(); }
};

struct Command {
  std::string name;  ///< in full: "wafer", "wafer machines show"
  std::string word;  ///< the last of them
  std::string help, footer;
  std::vector<Argument> options, places;
  std::vector<Command> commands;
};

/// All that the command line takes, read from the parser itself, so that completion and manual have
/// each option as the program does. Capitals in the name of a type stand for something ("FILE"),
/// words without capitals for themselves ("train|infer").
Command describe(const CLI::App& app);

/// `command` and all below it, each before its own.
std::vector<const Command*> all_commands(const Command& command);

}  // namespace wafer::cli
