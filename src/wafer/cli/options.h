#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "wafer/base/shape.h"
#include "wafer/cli/output.h"

namespace wafer::cli {

// Options whose errors say what was expected. `to` must outlive the parse.

void add_count(CLI::App& app, const std::string& option, int64_t& to, const std::string& help);
void add_count(CLI::App& app, const std::string& option, std::optional<int64_t>& to,
               const std::string& help);
void add_number(CLI::App& app, const std::string& option, double& to, const std::string& help);
void add_number(CLI::App& app, const std::string& option, std::optional<double>& to,
                const std::string& help);
/// `--dim name=value`, any number of times.
void add_dims(CLI::App& app, DimBindings& to);
/// PEs as a count or as WIDTHxHEIGHT.
void add_pes(CLI::App& app, const std::string& option, std::optional<int64_t>& to,
             const std::string& help);
/// `--json FILE`, "-" for standard output.
void add_json(CLI::App& app, std::string& to);
/// `--json`, `--csv` and `--markdown FILE`, "-" for standard output, and `--table NAME`; CSV is of
/// the table `main` where none is named.
void add_outputs(CLI::App& app, Outputs& to, const std::string& main = "answer");
/// The first three alone.
void add_forms(CLI::App& app, Outputs& to);

/// A word out of `all`, by name_of(); `set` gets the value.
template <typename Enum, size_t N, typename Set>
void add_choice(CLI::App& app, const std::string& option, const std::array<Enum, N>& all, Set set,
                const std::string& help);

[[noreturn]] void refuse_choice(const std::string& option, const std::string& expected,
                                const std::string& found);

template <typename Enum, size_t N, typename Set>
void add_choice(CLI::App& app, const std::string& option, const std::array<Enum, N>& all, Set set,
                const std::string& help) {
  std::string names;
  for (const Enum value : all) names += (names.empty() ? "" : "|") + std::string(name_of(value));
  app.add_option_function<std::string>(
         option,
         [all, set, option, names](const std::string& word) {
           for (const Enum value : all) {
             if (name_of(value) == word) return set(value);
           }
           refuse_choice(option, names, word);
         },
         help)
      ->type_name(names);
}

}  // namespace wafer::cli
