#include "wafer/cli/options.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "wafer/base/error.h"

namespace wafer::cli {
namespace {

template <typename Number>
bool read(const std::string& word, Number& to) {
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, to);
  return error == std::errc() && rest == end;
}

int64_t read_count(const std::string& option, const std::string& word) {
  int64_t value = 0;
  if (read(word, value)) return value;
  // 3e6 is as good as 3000000.
  double number = 0;
  if (read(word, number) && std::abs(number) < 9e15 && number == std::floor(number)) {
    return static_cast<int64_t>(number);
  }
  throw InputError(
      fmt::format("{}: expected a whole number below 2^63, found \"{}\"", option, word));
}

int64_t read_pes(const std::string& option, const std::string& word) {
  const size_t times = word.find('x');
  int64_t count = 0;
  if (read(word, count)) return count;
  constexpr int64_t Most = 1'000'000;  // of an edge
  int64_t width = 0, height = 0;
  const bool is_pair = times != std::string::npos && read(word.substr(0, times), width) &&
                       read(word.substr(times + 1), height);
  if (is_pair && width >= 1 && height >= 1 && width <= Most && height <= Most) {
    return width * height;
  }
  throw InputError(
      fmt::format("{}: expected PEs as a count or as WIDTHxHEIGHT, found \"{}\"", option, word));
}

double read_number(const std::string& option, const std::string& word) {
  double value = 0;
  if (read(word, value)) return value;
  throw InputError(fmt::format("{}: expected a number, found \"{}\"", option, word));
}

template <typename Target, typename Read>
void add(CLI::App& app, const std::string& option, Target& to, Read reader, const char* type,
         const std::string& help) {
  app.add_option_function<std::string>(
         option, [&to, reader, option](const std::string& word) { to = reader(option, word); },
         help)
      ->type_name(type);
}

void read_dim(DimBindings& to, const std::string& word) {
  const size_t equals = word.find('=');
  int64_t value = 0;
  if (equals == 0 || equals == std::string::npos || !read(word.substr(equals + 1), value) ||
      value < 1) {
    throw InputError(
        fmt::format("--dim: expected name=value with a whole number from 1, as in --dim seq=128, "
                    "found \"{}\"",
                    word));
  }
  to[word.substr(0, equals)] = value;
}

}  // namespace

void add_count(CLI::App& app, const std::string& option, int64_t& to, const std::string& help) {
  add(app, option, to, read_count, "N", help);
}

void add_count(CLI::App& app, const std::string& option, std::optional<int64_t>& to,
               const std::string& help) {
  add(app, option, to, read_count, "N", help);
}

void add_pes(CLI::App& app, const std::string& option, std::optional<int64_t>& to,
             const std::string& help) {
  add(app, option, to, read_pes, "N|WxH", help);
}

void add_number(CLI::App& app, const std::string& option, double& to, const std::string& help) {
  add(app, option, to, read_number, "X", help);
}

void add_number(CLI::App& app, const std::string& option, std::optional<double>& to,
                const std::string& help) {
  add(app, option, to, read_number, "X", help);
}

void add_dims(CLI::App& app, DimBindings& to) {
  app.add_option_function<std::vector<std::string>>(
         "--dim",
         [&to](const std::vector<std::string>& words) {
           for (const std::string& word : words) read_dim(to, word);
         },
         "a symbolic dimension of a model file; may be given many times")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
}

void add_forms(CLI::App& app, Outputs& to) {
  app.add_option("--json", to.json, "write JSON to a file; '-' prints it, and nothing else")
      ->type_name("FILE");
  app.add_option("--csv", to.csv, "the same as CSV: keys of JSON, SI units")->type_name("FILE");
  app.add_option("--markdown", to.markdown, "the same as tables of Markdown")->type_name("FILE");
  app.parse_complete_callback([&to] { check(to); });
}

void add_outputs(CLI::App& app, Outputs& to, const std::string& main) {
  to.main = main;
  add_forms(app, to);
  app.add_option("--table", to.table,
                 "which table of the answer: a key of its JSON, or answer for what is\n"
                 "in no table; default for CSV " +
                     main + ", for Markdown all")
      ->type_name("NAME");
}

void add_json(CLI::App& app, std::string& to) {
  app.add_option("--json", to, "write JSON to a file; '-' prints it, and nothing else")
      ->type_name("FILE");
}

void refuse_choice(const std::string& option, const std::string& expected,
                   const std::string& found) {
  throw InputError(fmt::format("{}: expected {}, found \"{}\"", option, expected, found));
}

}  // namespace wafer::cli
