#include "wafer/study/samples_to_target.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <vector>

#include "wafer/base/data_dir.h"
#include "wafer/base/error.h"

namespace wafer::study {
namespace {

constexpr const char* Folder = "validation/samples-to-target";

std::optional<double> number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// A cell that has to be a positive number; what is wrong goes to the problems.
double positive(const Csv& csv, size_t row, const char* column, Problems& problems) {
  const std::optional<double> value = number(csv.cell(row, column));
  if (value && *value >= 1) return *value;
  problems.add(fmt::format("line {}, column {}: expected a number from 1, found \"{}\"",
                           csv.line(row), column, csv.cell(row, column)));
  return 1;
}

SamplesToTarget curve_named(const std::string& name) {
  const auto known = list_data(Folder, ".csv");
  const auto found = known.find(name);
  if (found != known.end()) return samples_to_target(Csv::load(found->second.string()));
  if (std::filesystem::exists(name)) return samples_to_target(Csv::load(name));
  std::vector<std::string> names;
  for (const auto& [curve, path] : known) names.push_back(curve);
  throw InputError(
      fmt::format("--samples-to-target: expected a number of samples, a CSV file with the columns "
                  "batch, samples, target and source, or one of {}; found \"{}\"",
                  fmt::join(names, ", "), name));
}

}  // namespace

SamplesToTarget samples_to_target(const Csv& csv) {
  Problems problems;
  for (const char* column : {"batch", "samples", "target", "source"}) {
    if (!csv.has(column)) problems.add(fmt::format("no column {}", column));
  }
  problems.throw_if_any(csv.file() + " is no curve of samples to a target:");
  SamplesToTarget curve;
  for (size_t row = 0; row < csv.rows(); ++row) {
    const auto batch = static_cast<int64_t>(positive(csv, row, "batch", problems));
    const double samples = positive(csv, row, "samples", problems);
    const std::string target(csv.cell(row, "target"));
    if (row == 0) curve.target = target;
    if (target != curve.target) {
      problems.add(fmt::format("line {}: target \"{}\", and before it \"{}\"", csv.line(row),
                               target, curve.target));
    }
    const auto [at, is_new] = curve.points.emplace(
        batch, SamplesToTarget::Point{samples, std::string(csv.cell(row, "source"))});
    if (!is_new) problems.add(fmt::format("line {}: batch {} again", csv.line(row), batch));
  }
  if (curve.points.empty()) problems.add("no line with a batch");
  problems.throw_if_any(csv.file() + " is no curve of samples to a target:");
  return curve;
}

Target target_of(const std::string& name, int64_t batch) {
  if (const std::optional<double> samples = number(name)) {
    if (*samples > 0) return {.samples = *samples, .quality = "", .source = "as asked"};
    throw InputError(
        fmt::format("--samples-to-target: expected a positive number, found {}", name));
  }
  const SamplesToTarget curve = curve_named(name);
  const auto above = curve.points.lower_bound(batch);
  if (above == curve.points.end() || (above == curve.points.begin() && above->first != batch)) {
    throw InputError(fmt::format(
        "--samples-to-target {}: measured for batches from {} to {}, not for {}; change --batch, "
        "or give the number of samples",
        name, curve.points.begin()->first, curve.points.rbegin()->first, batch));
  }
  if (above->first == batch) {
    return {
        .samples = above->second.samples, .quality = curve.target, .source = above->second.source};
  }
  const auto below = std::prev(above);
  const auto at = [](auto point) { return std::log(static_cast<double>(point->first)); };
  const double part = (std::log(static_cast<double>(batch)) - at(below)) / (at(above) - at(below));
  const double low = below->second.samples, high = above->second.samples;
  return {.samples = low * std::pow(high / low, part),
          .quality = curve.target,
          .source = fmt::format("between batches {} and {} of {}", below->first, above->first,
                                below->second.source)};
}

}  // namespace wafer::study
