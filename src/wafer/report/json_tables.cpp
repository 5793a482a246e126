#include "wafer/report/json_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "wafer/base/error.h"
#include "wafer/base/human.h"
#include "wafer/base/nearest.h"
#include "wafer/report/table.h"

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::pair<std::string, Json>>;

bool has_objects(const Json& value) {
  return !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& v) { return v.is_object(); });
}

bool is_table(const Json& value) { return value.is_structured() && has_objects(value); }

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

/// Rows of different keys, which become a table of all of them.
struct Rows {
  std::string name;
  std::vector<Cells> rows;
  std::vector<int> depths;
};

class Walk {
 public:
  std::vector<Rows> all;

  /// The rows of a list or of an object of objects; `within` is what the row around is called by.
  void table(const std::string& name, const Json& value, const Cells& within, int depth = 0) {
    const size_t at = index_of(name);
    for (const auto& [key, entry] : value.items()) {
      Cells cells = within;
      if (value.is_object()) cells.emplace_back("key", key);
      row(at, entry, std::move(cells), depth);
    }
  }

  /// One row, and the tables within it.
  void row(size_t at, const Json& object, Cells cells, int depth) {
    std::vector<std::pair<std::string, const Json*>> inner;
    flatten("", object, cells, inner);
    const Cells name = name_of(cells);
    all[at].rows.push_back(std::move(cells));
    all[at].depths.push_back(depth);
    const std::string own = all[at].name;
    for (const auto& [path, value] : inner) {
      const bool again = own == path || own.ends_with("." + path);
      if (again) {
        table(own, *value, {}, depth + 1);
      } else {
        const bool top = own == "answer" || own == "rows";
        table(top ? path : joined(own, path), *value, name);
      }
    }
  }

  size_t index_of(const std::string& name) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Rows& r) { return r.name == name; });
    if (found != all.end()) return static_cast<size_t>(found - all.begin());
    all.push_back({.name = name, .rows = {}, .depths = {}});
    return all.size() - 1;
  }

 private:
  static void flatten(const std::string& path, const Json& object, Cells& cells,
                      std::vector<std::pair<std::string, const Json*>>& inner) {
    for (const auto& [key, value] : object.items()) {
      const std::string name = joined(path, key);
      if (is_table(value)) {
        inner.emplace_back(name, &value);
      } else if (value.is_object()) {
        flatten(name, value, cells, inner);
      } else {
        cells.emplace_back(name, value);
      }
    }
  }

  static Cells name_of(const Cells& cells) {
    for (const char* key : {"name", "kind", "id", "key"}) {
      for (const auto& cell : cells) {
        if (cell.first == key) return {cell};
      }
    }
    return {};
  }
};

JsonTable table_of(const Rows& rows) {
  JsonTable table{.name = rows.name, .keys = {}, .rows = {}};
  const bool is_deep =
      std::any_of(rows.depths.begin(), rows.depths.end(), [](int depth) { return depth > 0; });
  if (is_deep) table.keys.emplace_back("depth");
  const auto column_of = [&](const std::string& key) {
    const auto found = std::find(table.keys.begin(), table.keys.end(), key);
    const auto at = static_cast<size_t>(std::distance(table.keys.begin(), found));
    if (at == table.keys.size()) table.keys.push_back(key);
    return at;
  };
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    std::vector<Json> cells;
    if (is_deep) cells.emplace_back(rows.depths[i]);
    for (const auto& [key, value] : rows.rows[i]) {
      const size_t at = column_of(key);
      cells.resize(std::max(cells.size(), at + 1));
      cells[at] = value;
    }
    table.rows.push_back(std::move(cells));
  }
  for (std::vector<Json>& row : table.rows) row.resize(table.keys.size());
  return table;
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Show>
std::string words(const Json& value, Show show) {
  if (value.is_null()) return "";
  if (!value.is_array()) return show(value);
  std::vector<std::string> all;
  for (const Json& entry : value) all.push_back(show(entry));
  return fmt::format("{}", fmt::join(all, "; "));
}

/// How a key ends, and the unit of its values.
constexpr std::array Units = {std::pair{"flops_per_second", "FLOP/s"},
                              std::pair{"flops_per_second_per_gpu", "FLOP/s"},
                              std::pair{"flops_per_byte", "FLOP/B"},
                              std::pair{"bytes_per_second", "B/s"},
                              std::pair{"flops", "FLOP"},
                              std::pair{"flops_per_step", "FLOP"},
                              std::pair{"bytes", "B"},
                              std::pair{"seconds", "s"},
                              std::pair{"joules_per_step", "J"},
                              std::pair{"joules_per_sample", "J"},
                              std::pair{"joules", "J"},
                              std::pair{"watts", "W"}};

std::string for_people(const std::string& key, const Json& value) {
  if (!value.is_number()) return plain(value);
  const double number = value.get<double>();
  for (const auto& [end, unit] : Units) {
    if (!key.ends_with(end)) continue;
    return std::string_view(unit) == "s" ? duration(number).text : human(number, unit);
  }
  if (value.is_number_integer()) return plain(value);
  return human(number, "") + (key.ends_with("_per_second") ? " /s" : "");
}

Table turned(const Table& table) {
  Table result{.columns = {{table.columns[0].title, table.columns[0].key}}, .rows = {}};
  for (const auto& row : table.rows) {
    result.columns.push_back({row[0].text, row[0].text, Align::Right});
  }
  for (size_t i = 1; i < table.columns.size(); ++i) {
    std::vector<Cell> line = {table.columns[i].title};
    for (const auto& row : table.rows) line.push_back(row[i]);
    result.rows.push_back(std::move(line));
  }
  return result;
}

Table table_for_people(const JsonTable& from) {
  Table table{.columns = {}, .rows = std::vector<std::vector<Cell>>(from.rows.size())};
  for (size_t i = 0; i < from.keys.size(); ++i) {
    const auto column = [&](const auto& row) -> const Json& { return row[i]; };
    const bool is_empty = std::all_of(from.rows.begin(), from.rows.end(), [&](const auto& row) {
      return words(column(row), plain).empty();
    });
    if (is_empty) continue;
    const bool has_numbers = std::any_of(from.rows.begin(), from.rows.end(),
                                         [&](const auto& row) { return column(row).is_number(); });
    const std::string& key = from.keys[i];
    table.columns.push_back({key, key, has_numbers ? Align::Right : Align::Left});
    for (size_t r = 0; r < from.rows.size(); ++r) {
      table.rows[r].emplace_back(
          words(column(from.rows[r]), [&](const Json& v) { return for_people(key, v); }));
    }
  }
  return table;
}

}  // namespace

std::vector<JsonTable> tables_of(const Json& answer) {
  Walk walk;
  if (answer.is_array()) {
    walk.table("rows", answer, {});
  } else {
    walk.row(walk.index_of("answer"), answer, {}, 0);
  }
  std::vector<JsonTable> tables;
  for (const Rows& rows : walk.all) {
    JsonTable table = table_of(rows);
    if (!table.keys.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

const JsonTable& table_named(const std::vector<JsonTable>& tables, std::string_view name,
                             std::string_view option) {
  std::vector<std::string> names;
  for (const JsonTable& table : tables) {
    if (table.name == name) return table;
    names.push_back(table.name);
  }
  const std::string meant = nearest(name, names);
  throw InputError(fmt::format("{}: no table \"{}\"{}; there are {}", option, name,
                               meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
                               fmt::join(names, ", ")));
}

std::string csv(const JsonTable& table) {
  std::string text;
  for (size_t i = 0; i < table.keys.size(); ++i) {
    text += (i == 0 ? "" : ",") + csv_cell(table.keys[i]);
  }
  text += "\n";
  for (const std::vector<Json>& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += (i == 0 ? "" : ",") + csv_cell(words(row[i], plain));
    }
    text += "\n";
  }
  return text;
}

std::string markdown(const JsonTable& table) {
  constexpr size_t FewRows = 6, ManyColumns = 12;
  const Table shown = table_for_people(table);
  const bool is_wide = shown.rows.size() <= FewRows && shown.columns.size() > ManyColumns;
  return markdown(is_wide ? turned(shown) : shown);
}

}  // namespace wafer::report
