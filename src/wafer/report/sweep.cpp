#include "wafer/report/sweep.h"

#include <fmt/format.h>

#include "wafer/report/table.h"
#include "wafer/report/values.h"

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;

// "a | b" of `words`, each with `mark` before and `last` after all.
template <typename Words>
std::string joined(const std::vector<study::SweepColumn>& columns, const char* mark,
                   const char* last, Words words) {
  std::string line;
  for (size_t i = 0; i < columns.size(); ++i) line += (i == 0 ? "" : mark) + words(i);
  return line + last;
}

}  // namespace

SweepWriter::SweepWriter(SweepFormat format, std::vector<study::SweepColumn> columns)
    : format_(format), columns_(std::move(columns)) {}

std::string SweepWriter::begin() const {
  switch (format_) {
    case SweepFormat::Csv:
      return joined(columns_, ",", "\n", [&](size_t i) { return csv_cell(columns_[i].name); });
    case SweepFormat::Json:
      return "[\n";
    case SweepFormat::JsonLines:
      return "";
    case SweepFormat::Markdown:
      break;
  }
  return "| " + joined(columns_, " | ", " |\n|", [&](size_t i) { return columns_[i].name; }) +
         joined(columns_, "|", "|\n", [](size_t) { return std::string("---"); });
}

std::string SweepWriter::end() const {
  if (format_ != SweepFormat::Json) return "";
  return first_ ? "]\n" : "\n]\n";
}

std::string SweepWriter::row(const study::SweepRow& row) {
  const bool first = first_;
  first_ = false;
  switch (format_) {
    case SweepFormat::Csv:
      return joined(columns_, ",", "\n",
                    [&](size_t i) { return csv_cell(csv_word(row.values[i])); });
    case SweepFormat::Json:
      return (first ? "" : ",\n") + json(row);
    case SweepFormat::JsonLines:
      return json(row) + "\n";
    case SweepFormat::Markdown:
      break;
  }
  return markdown(row);
}

std::string SweepWriter::json(const study::SweepRow& row) const {
  Json object = Json::object();
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].of_machine) {
      object[columns_[i].name] = json_of(row.values[i]);
    } else {
      set_key(object, columns_[i].name, json_of(row.values[i]));
    }
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string SweepWriter::markdown(const study::SweepRow& row) const {
  return "| " + joined(columns_, " | ", " |\n", [&](size_t i) {
           return markdown_cell(cell_of(row.values[i], columns_[i].unit).text);
         });
}

std::string text(const study::SweepCounts& c) {
  std::string text = fmt::format("{} points: {} answered", c.points, c.answered);
  if (c.no_room > 0) text += fmt::format(", {} do not fit", c.no_room);
  if (c.refused > 0) text += fmt::format(", {} refused", c.refused);
  return text + "\n";
}

}  // namespace wafer::report
