#include "wafer/importers/huggingface.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "wafer/base/error.h"
#include "wafer/base/mapped_file.h"
#include "wafer/base/nearest.h"
#include "wafer/importers/huggingface_families.h"

namespace wafer::importers {
namespace {

using nlohmann::json;

constexpr size_t LargestConfig = 16 << 20;  // bytes; published ones have some thousand

json parse_object(std::string_view text, const std::string& file) {
  if (text.size() > LargestConfig) {
    throw InputError(fmt::format("{}: {} bytes are no config.json; at most {} are read", file,
                                 text.size(), LargestConfig));
  }
  try {
    json object = json::parse(text);
    if (object.is_object()) return object;
  } catch (const json::exception& error) {  // out_of_range too: 1e999
    throw InputError(fmt::format("{}: not JSON: {}", file, error.what()));
  }
  throw InputError(file + ": expected a JSON object of configuration keys");
}

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
}

/// The family of model_type; throws at once, since all other keys depend on it.
const Family& find_family(const Fields& config, const std::string& file) {
  std::vector<std::string> known;
  for (const Family& family : families()) known.emplace_back(family.model_type);
  const std::string type = config.text("model_type", "");
  for (const Family& family : families()) {
    if (type == family.model_type) return family;
  }
  throw InputError(fmt::format("{}: key model_type: expected one of {}, found {}{}", file,
                               fmt::join(known, ", "), config.found("model_type"),
                               suggestion(type, known)));
}

/// The first known name of `architectures`; the family's own where there is none.
const Architecture& find_architecture(const Fields& config, const Family& family) {
  const std::vector<std::string> names = config.texts("architectures");
  std::vector<std::string> known;
  for (const Architecture& a : family.architectures) {
    if (std::find(names.begin(), names.end(), a.name) != names.end()) return a;
    known.emplace_back(a.name);
  }
  if (!names.empty()) {
    config.problem("architectures",
                   fmt::format("expected one of {}, found {}{}", fmt::join(known, ", "),
                               config.found("architectures"), suggestion(names.front(), known)));
  }
  return family.architectures.front();
}

/// Classes of a classifier: of id2label, else num_labels, else two.
int64_t read_labels(const Fields& config) {
  if (const auto labels = config.object("id2label")) return static_cast<int64_t>(labels->size());
  return config.integer_or_null("num_labels", 2);
}

}  // namespace

models::ModelSpec parse_huggingface(std::string_view text, const std::string& file) {
  const json object = parse_object(text, file);
  Problems problems;
  const Fields config(object, "", problems);
  const Family& family = find_family(config, file);
  models::TransformerSpec spec = family.read(config);
  const Architecture& architecture = find_architecture(config, family);
  spec.head = architecture.head;
  spec.pooler = architecture.pooler;
  spec.labels = read_labels(config);
  problems.throw_if_any(file);
  models::ModelSpec model{.name = file, .network = spec};
  models::check(model);
  return model;
}

models::ModelSpec read_huggingface(const std::filesystem::path& path) {
  const std::filesystem::path file =
      std::filesystem::is_directory(path) ? path / "config.json" : path;
  const MappedFile mapped(file.string());
  return parse_huggingface(mapped.bytes(), file.string());
}

ir::Graph import_huggingface(const std::filesystem::path& path,
                             const models::BuildOptions& options) {
  return models::build(read_huggingface(path), options);
}

}  // namespace wafer::importers
