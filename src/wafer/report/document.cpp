#include "wafer/report/document.h"

#include <fmt/format.h>

#include <sstream>
#include <vector>

#include "wafer/base/error.h"

namespace wafer::report {
namespace {

constexpr std::string_view Open = "<!-- wafer: ", End = " -->", Close = "<!-- /wafer -->";

const std::string& part_named(const std::string& name,
                              const std::map<std::string, std::string>& parts,
                              const std::string& where) {
  const auto found = parts.find(name);
  if (found != parts.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, text] : parts) names.push_back(known);
  throw InputError(
      fmt::format("{}: no part \"{}\"; there are {}", where, name, fmt::join(names, ", ")));
}

}  // namespace

std::string refreshed(const std::string& document, const std::map<std::string, std::string>& parts,
                      const std::string& file) {
  std::istringstream lines(document);
  std::string result, line;
  size_t number = 0, opened = 0;  // the line of the part that is open, or 0
  while (std::getline(lines, line)) {
    ++number;
    const std::string where = fmt::format("{}:{}", file, number);
    if (line == Close) opened = 0;
    if (opened == 0) result += line + "\n";
    if (!line.starts_with(Open) || !line.ends_with(End) || opened != 0) continue;
    opened = number;
    const size_t length = line.size() - Open.size() - End.size();
    result += part_named(line.substr(Open.size(), length), parts, where);
  }
  if (opened == 0) return result;
  throw InputError(
      fmt::format("{}:{}: a part opens here and no line \"{}\" closes it", file, opened, Close));
}

}  // namespace wafer::report
