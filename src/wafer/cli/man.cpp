#include "wafer/cli/man.h"

#include <fmt/format.h>

#include <map>

namespace wafer::cli {
namespace {

// A line of text: hyphens that can be copied, no line that is taken for a request.
std::string escaped(const std::string& text) {
  std::string all;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) all += "\\&";
    if (c == '\\') {
      all += "\\e";
    } else if (c == '-') {
      all += "\\-";
    } else if (c == '\'') {
      all += "\\(aq";
    } else {
      all += c;
    }
    begins = c == '\n';
  }
  return all;
}

std::string as_it_is(const std::string& text) { return ".PP\n.nf\n" + escaped(text) + "\n.fi\n"; }

std::string head(const Argument& a) {
  std::string names =
      fmt::format("\\fB{}\\fR", escaped(fmt::format("{}", fmt::join(a.names, ", "))));
  if (!a.takes_value() || a.type == a.names[0]) return names;
  return names + " \\fI" + escaped(a.type) + "\\fR";
}

std::string entry(const Argument& a) {
  return ".TP\n" + head(a) + (a.required ? " (required)" : "") + "\n" + escaped(a.help) + "\n";
}

// What makes two options of different commands one.
std::string key_of(const Argument& a) {
  return fmt::format("{}\n{}\n{}", fmt::join(a.names, ","), a.type, a.help);
}

/// Options and arguments that more than one command has, in the order of their first.
class Shared {
 public:
  explicit Shared(const Command& program) {
    std::map<std::string, int> seen;
    for (const Command* command : all_commands(program)) {
      for (const auto* list : {&command->places, &command->options}) {
        for (const Argument& a : *list) {
          if (++seen[key_of(a)] == 2) keys_.emplace(key_of(a), false);
        }
      }
    }
    for (const Command* command : all_commands(program)) collect(*command);
  }

  bool has(const Argument& a) const { return keys_.count(key_of(a)) != 0; }
  const std::vector<Argument>& all() const { return all_; }

 private:
  void collect(const Command& command) {
    for (const auto* list : {&command.places, &command.options}) {
      for (Argument a : *list) {
        const auto found = keys_.find(key_of(a));
        if (found == keys_.end() || found->second) continue;
        found->second = true;
        a.required = false;  // not of every command
        all_.push_back(a);
      }
    }
  }

  std::map<std::string, bool> keys_;  ///< and whether it is among all_
  std::vector<Argument> all_;
};

std::string usage(const Command& command) {
  std::string text = command.name;
  if (!command.commands.empty()) text += command.name == "wafer" ? " COMMAND" : " [COMMAND]";
  text += " [OPTIONS]";
  for (const Argument& place : command.places) {
    const std::string& name = place.names[0];
    text += place.required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string section(const Command& command, const Shared& shared) {
  std::string text = fmt::format(".SS {}\n{}.\n", escaped(usage(command)), escaped(command.help));
  std::string common;
  for (const auto* list : {&command.places, &command.options}) {
    for (const Argument& a : *list) {
      if (!shared.has(a)) {
        text += entry(a);
      } else if (a.names.back() != "--help") {
        common += (common.empty() ? "" : ", ") + a.names.back();
      }
    }
  }
  if (!common.empty()) text += ".PP\nShared: " + escaped(common) + ".\n";
  if (!command.footer.empty()) text += as_it_is(command.footer);
  return text;
}

constexpr const char* End = R"(.SH EXIT STATUS
.TP
0
The answer is given.
.TP
2
The input is wrong: standard error says where, and the remedy.
.TP
3
It does not fit the machine, or its files this one.
.TP
70
A fault of the program.
.TP
130
Stopped by the user.
.SH ENVIRONMENT
.TP
\fBWAFER_DATA_DIR\fR
A folder with \fImachines/\fR and \fIvalidation/\fR of your own, which is looked at first.
)";

}  // namespace

std::string man_page(const Command& program) {
  const Shared shared(program);
  std::string text = fmt::format(
      ".TH WAFER 1 \"\" \"openwafer {}\" \"User Commands\"\n"
      ".SH NAME\nwafer \\- {}\n"
      ".SH SYNOPSIS\n.B wafer\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\nEach command answers one kind of question about a network.\n{}.SH "
      "COMMANDS\n",
      WAFER_VERSION, escaped(program.help), as_it_is(program.footer));
  for (const Command* command : all_commands(program)) {
    if (command != &program) text += section(*command, shared);
  }
  text += ".SH SHARED OPTIONS\nWhat several commands take; each says above which.\n";
  for (const Argument& a : shared.all()) text += entry(a);
  return text + End;
}

}  // namespace wafer::cli
