#include "wafer/report/catalog.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;
using Model = study::KnownModel;

Json to_json(const Model& model) {
  Json json = {{"name", model.name}, {"parameters", model.parameters}, {"seq_len", model.seq_len}};
  if (model.sizes) {
    json["layers"] = model.sizes->layers;
    json["hidden"] = model.sizes->hidden;
    json["heads"] = model.sizes->heads;
    json["vocab"] = model.sizes->vocab;
  }
  json["source"] = model.source;
  return json;
}

Cell count(int64_t value) { return {fmt::format("{}", value), static_cast<double>(value)}; }

std::vector<Cell> cells_of(const Model& model) {
  const auto size = [&](int64_t Model::Sizes::* field) -> Cell {
    if (!model.sizes || (*model.sizes).*field == 0) return "";
    return count((*model.sizes).*field);
  };
  return {model.name,
          count(model.parameters),
          size(&Model::Sizes::layers),
          size(&Model::Sizes::hidden),
          size(&Model::Sizes::heads),
          count(model.seq_len),
          model.source};
}

}  // namespace

Table catalog_table(std::span<const study::KnownModel> models) {
  constexpr auto Right = Align::Right;
  Table table{.columns = {{"model", "name"},
                          {"parameters", "parameters", Right},
                          {"layers", "layers", Right},
                          {"hidden", "hidden", Right},
                          {"heads", "heads", Right},
                          {"seq", "seq_len", Right},
                          {"shape from", "source"}},
              .rows = {}};
  for (const Model& model : models) table.rows.push_back(cells_of(model));
  return table;
}

std::string json(std::span<const study::KnownModel> models) {
  Json array = Json::array();
  for (const Model& model : models) array.push_back(to_json(model));
  return array.dump(2) + "\n";
}

}  // namespace wafer::report
