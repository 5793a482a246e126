#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "wafer/base/error.h"
#include "wafer/study/coverage.h"

namespace wafer::study {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Coverage& c) {
  Json ranges = Json::object();
  for (const auto& [axis, range] : c.ranges) ranges[axis] = {range.least, range.most};
  return {{"machine", c.machine},
          {"mode", name_of(c.mode)},
          {"phase", name_of(c.phase)},
          {"machine_numbers", c.numbers},
          {"rows", c.rows},
          {"expected_error", c.expected_error},
          {"ranges", ranges},
          {"precision_bits", c.precision_bits},
          {"kernels", c.kernels}};
}

template <typename Enum>
Enum required(std::optional<Enum> value, const Json& text) {
  if (!value) throw InputError(fmt::format("{} is not known", text.dump()));
  return *value;
}

std::optional<Mode> mode_of(const std::string& name) {
  return name == name_of(Mode::Cluster) ? Mode::Cluster : mode_named(name);
}

Coverage from_json(const Json& json) {
  Coverage c;
  json.at("machine").get_to(c.machine);
  c.mode = required(mode_of(json.at("mode").get<std::string>()), json.at("mode"));
  c.phase = required(phase_named(json.at("phase").get<std::string>()), json.at("phase"));
  json.at("machine_numbers").get_to(c.numbers);
  json.at("rows").get_to(c.rows);
  json.at("expected_error").get_to(c.expected_error);
  for (const auto& [axis, range] : json.at("ranges").items()) {
    c.ranges[axis] = {range.at(0).get<double>(), range.at(1).get<double>()};
  }
  json.at("precision_bits").get_to(c.precision_bits);
  json.at("kernels").get_to(c.kernels);
  std::sort(c.precision_bits.begin(), c.precision_bits.end());
  std::sort(c.kernels.begin(), c.kernels.end());
  return c;
}

}  // namespace

std::string print_coverage(const std::vector<Coverage>& all) {
  Json groups = Json::array();
  for (const Coverage& c : all) groups.push_back(to_json(c));
  const Json json = {{"about",
                      "what the scored rows of system.csv cover; written by "
                      "scripts/fit-constants, read by every answer"},
                     {"groups", groups}};
  return json.dump(1) + "\n";
}

std::vector<Coverage> parse_coverage(std::string_view text, const std::string& file) {
  std::vector<Coverage> all;
  try {
    const Json json = Json::parse(text);
    for (const Json& group : json.at("groups")) all.push_back(from_json(group));
  } catch (const nlohmann::json::exception& e) {
    throw InputError(
        fmt::format("{}: expected what scripts/fit-constants writes: {}", file, e.what()));
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", file, e.what()));
  }
  return all;
}

}  // namespace wafer::study
