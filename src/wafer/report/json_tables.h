#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace wafer::report {

/// A table within an answer in JSON. Cells are null, a number, true or false, words, or a list of
/// those; each row has as many as there are keys.
struct JsonTable {
  std::string name;  ///< where it stands: "layers", "kinds.cross.by_model"
  std::vector<std::string> keys;
  std::vector<std::vector<nlohmann::ordered_json>> rows;
};

/// All tables of an answer, so that CSV and Markdown have the keys and values of its JSON:
///   * what is no table of its own is one row of "answer"; key b of an object a is column "a.b";
///   * a list of objects is a table with the name of its key, of a whole answer "rows";
///   * an object of objects alone is one too, with the names in column "key";
///   * a table within a row begins with what the row is called by (name, kind, id or key);
///   * a list that holds itself again ("body" in "body") is one table with a column "depth".
std::vector<JsonTable> tables_of(const nlohmann::ordered_json& answer);

/// The table of a name. Throws InputError with the names that there are, led by `option`.
const JsonTable& table_named(const std::vector<JsonTable>& tables, std::string_view name,
                             std::string_view option);

/// RFC 4180 with numbers as JSON has them, nothing for null, "; " between words of a list.
std::string csv(const JsonTable& table);
/// GitHub-flavoured Markdown with values for people, in the units that keys end in. Columns without
/// a value are left out; a table of few rows and many columns is turned on its side.
std::string markdown(const JsonTable& table);

}  // namespace wafer::report
