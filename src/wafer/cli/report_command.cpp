#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <set>

#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/cli/question_options.h"
#include "wafer/report/html.h"
#include "wafer/study/dossier.h"

namespace wafer::cli {
namespace {

struct Options {
  study::Question question;
  std::vector<std::string> machines;
  std::string out = "report.html";
  std::string json;
  const CLI::Option* machine = nullptr;
};

/// The machines to compare with. Where --machine is not given, the first of them is the report's.
std::vector<study::Contender> contenders_of(const Options& options, study::Question& question) {
  std::vector<study::Contender> all;
  for (const std::string& word : options.machines) all.push_back(study::contender(word));
  if (!all.empty() && options.machine->count() == 0) {
    question = study::question_for(question, all.front());
  }
  return all;
}

// A word as a shell reads it back.
std::string quoted(const std::string& word) {
  constexpr const char* Plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(Plain) == std::string::npos) return word;
  std::string all = "'";
  for (const char c : word) all += c == '\'' ? "'\\''" : std::string(1, c);
  return all + "'";
}

/// The command as it was given, without where it writes to.
std::string command_of(const CLI::App& command) {
  std::string words = "wafer report";
  std::set<const CLI::Option*> told;  // one given twice stands there twice
  for (const CLI::Option* option : command.parse_order()) {
    const std::string name = option->get_name();
    if (name == "--output" || name == "--json" || name.starts_with("--help")) continue;
    if (!told.insert(option).second) continue;
    std::vector<std::string> values = option->results();
    if (option->get_delimiter() != '\0') values = {fmt::format("{}", fmt::join(values, ","))};
    if (option->get_expected_max() == 0) values = {""};
    for (const std::string& value : values) {
      if (name.starts_with("-")) words += " " + name;
      if (option->get_expected_max() != 0) words += " " + quoted(value);
    }
  }
  return words;
}

void make_report(const Options& options, const std::string& command) {
  OutputFile file(options.out);  // refuses before the work is done
  study::Question question = options.question;
  const std::vector<study::Contender> others = contenders_of(options, question);
  study::Workbench bench;
  const study::Dossier dossier = study::dossier(question, others, bench);
  if (!options.json.empty()) write_file(options.json, report::json(dossier));
  file.write(report::html(dossier, {.command = command, .version = WAFER_VERSION}));
  file.commit();
  if (options.out != "-" && options.json != "-") print_out(options.out + "\n");
}

}  // namespace

void add_report(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("report", "all of an answer on one page, as an HTML file");
  add_question(*command, options->question);
  options->machine = command->get_option("--machine");
  command
      ->add_option("--machines", options->machines,
                   "machines to compare with, separated by commas, as wafer compare\n"
                   "takes them; without --machine the first is the report's own")
      ->type_name("MACHINE[xN][:MODE],...")
      ->delimiter(',');
  add_durations(*command, options->question);
  command->add_option("-o,--output", options->out, "default report.html; '-' prints it")
      ->type_name("FILE.html");
  add_json(*command, options->json);
  command->footer(
      "Examples:\n"
      "  wafer report bert-large --machine wse2 --batch 8192 --seq 128 -o bert.html\n"
      "  wafer report gpt3-13b --machines wse2,wse3x4,a100-80gbx256 --batch 1024\n"
      "  wafer report llama2-7b --machines h100,a100-80gb --phase infer --batch 8\n"
      "The file opens from disk and needs no network; docs/report.md explains it.");
  command->callback([options, command] { make_report(*options, command_of(*command)); });
}

}  // namespace wafer::cli
