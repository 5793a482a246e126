#include "wafer/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wafer/base/error.h"
#include "wafer/base/human.h"

namespace wafer::report {
namespace {

// Characters, not bytes: a byte of UTF-8 that continues one does not count.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Control characters of a user's file would move the cursor of a terminal.
std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return result;
}

std::string padded(std::string_view text, size_t width, Align align) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return align == Align::Right ? blanks + std::string(text) : std::string(text) + blanks;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

using Line = std::vector<std::string>;

std::vector<size_t> widths_of(const Table& table, const std::vector<Line>& lines) {
  std::vector<size_t> widths;
  for (const Column& column : table.columns) widths.push_back(width_of(column.title));
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of(line[i]));
  }
  return widths;
}

std::vector<Line> lines_of(const Table& table) {
  std::vector<Line> lines;
  for (const std::vector<Cell>& row : table.rows) {
    WAFER_CHECK(row.size() == table.columns.size());
    Line line;
    for (const Cell& cell : row) line.push_back(printable(cell.text));
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string markdown_cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string text(const Table& table) {
  const std::vector<Line> lines = lines_of(table);
  const std::vector<size_t> widths = widths_of(table, lines);
  std::string titles, rule, result;
  for (size_t i = 0; i < widths.size(); ++i) {
    const char* gap = i == 0 ? "" : "  ";
    titles += gap + padded(table.columns[i].title, widths[i], table.columns[i].align);
    rule += gap + std::string(widths[i], '-');
  }
  result = without_trailing_blanks(titles) + "\n" + rule + "\n";
  for (const Line& line : lines) {
    std::string joined;
    for (size_t i = 0; i < line.size(); ++i) {
      joined += (i == 0 ? "" : "  ") + padded(line[i], widths[i], table.columns[i].align);
    }
    result += without_trailing_blanks(joined) + "\n";
  }
  return result;
}

std::string markdown(const Table& table) {
  std::string titles = "|", rule = "|", result;
  for (const Column& column : table.columns) {
    titles += " " + markdown_cell(column.title) + " |";
    rule += column.align == Align::Right ? "---:|" : "---|";
  }
  result = titles + "\n" + rule + "\n";
  for (const Line& line : lines_of(table)) {
    result += "|";
    for (const std::string& cell : line) result += " " + markdown_cell(cell) + " |";
    result += "\n";
  }
  return result;
}

std::string csv(const Table& table) {
  std::string result;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    result += (i == 0 ? "" : ",") + csv_cell(table.columns[i].key);
  }
  result += "\n";
  for (const std::vector<Cell>& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const Cell& cell = row[i];
      result +=
          (i == 0 ? "" : ",") + csv_cell(cell.value ? fmt::format("{}", *cell.value) : cell.text);
    }
    result += "\n";
  }
  return result;
}

Cell quantity(double value, std::string_view unit) { return {human(value, unit), value}; }

Cell percent(double share, bool is_signed) {
  return {is_signed ? fmt::format("{:+.1f} %", 100 * share) : fmt::format("{:.1f} %", 100 * share),
          share};
}

Cell duration(double seconds) {
  if (!(seconds >= 600)) return quantity(seconds, "s");
  const double minutes = std::round(seconds / 60);
  if (minutes < 48 * 60) {
    const double hours = std::floor(minutes / 60);
    return {hours == 0 ? fmt::format("{:.0f} min", minutes)
                       : fmt::format("{:.0f} h {:.0f} min", hours, minutes - 60 * hours),
            seconds};
  }
  const double days = seconds / 86400;
  return {
      days < 730 ? fmt::format("{:.1f} days", days) : fmt::format("{:.1f} years", days / 365.25),
      seconds};
}

}  // namespace wafer::report
