#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "wafer/cli/commands.h"
#include "wafer/cli/options.h"
#include "wafer/cli/output.h"
#include "wafer/models/models.h"
#include "wafer/report/table.h"

namespace wafer::cli {
namespace {

using Json = nlohmann::ordered_json;

// Where sizes are not of one kind, as in a ResNet, they are left out.
struct Row {
  std::string name, source;
  int64_t parameters = 0, seq_len = 0;
  const models::TransformerSpec* sizes = nullptr;
};

Row row_of(const models::CatalogEntry& entry) {
  return {.name = entry.spec.name,
          .source = entry.source,
          .parameters = models::parameter_count(models::build(entry.spec, {.train = false})),
          .seq_len = models::sequence_length(entry.spec),
          .sizes = std::get_if<models::TransformerSpec>(&entry.spec.network)};
}

Json to_json(const Row& row) {
  Json json = {{"name", row.name}, {"parameters", row.parameters}, {"seq_len", row.seq_len}};
  if (row.sizes != nullptr) {
    json["layers"] = row.sizes->layers;
    json["hidden"] = row.sizes->hidden;
    json["heads"] = row.sizes->heads;
    json["vocab"] = row.sizes->vocab;
  }
  json["source"] = row.source;
  return json;
}

std::vector<report::Cell> cells_of(const Row& row) {
  const auto size = [&](int64_t models::TransformerSpec::* field) {
    return report::Cell(
        row.sizes == nullptr || row.sizes->*field == 0 ? "" : fmt::format("{}", row.sizes->*field));
  };
  using Spec = models::TransformerSpec;
  return {row.name,
          {fmt::format("{}", row.parameters), static_cast<double>(row.parameters)},
          size(&Spec::layers),
          size(&Spec::hidden),
          size(&Spec::heads),
          {fmt::format("{}", row.seq_len), static_cast<double>(row.seq_len)},
          row.source};
}

void list(const std::string& json_target) {
  const std::vector<models::CatalogEntry> catalog = models::catalog();
  Json json = Json::array();
  constexpr auto Right = report::Align::Right;
  report::Table table{.columns = {{"model", "name"},
                                  {"parameters", "parameters", Right},
                                  {"layers", "layers", Right},
                                  {"hidden", "hidden", Right},
                                  {"heads", "heads", Right},
                                  {"seq", "seq_len", Right},
                                  {"shape from", "source"}},
                      .rows = {}};
  for (const models::CatalogEntry& entry : catalog) {
    const Row row = row_of(entry);
    json.push_back(to_json(row));
    table.rows.push_back(cells_of(row));
  }
  const std::string text = report::text(table) +
                           "\nand gpt:, bert:, llama: with shapes of your own, as "
                           "gpt:layers=24,hidden=2048,heads=16,vocab=50257\n";
  print_answer(json_target, json.dump(2) + "\n", text);
}

}  // namespace

void add_models(CLI::App& app) {
  const auto json = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("models", "the networks that are built in");
  add_json(*command, *json);
  command->footer(
      "Examples:\n"
      "  wafer models\n"
      "  wafer models --json -");
  command->callback([json] { list(*json); });
}

}  // namespace wafer::cli
