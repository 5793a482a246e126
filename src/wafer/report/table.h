#pragma once

#include <optional>
#include <string>
#include <vector>

namespace wafer::report {

enum class Align : uint8_t { Left, Right };

/// A column: its title for people and its key for programs ("step_seconds").
struct Column {
  std::string title;
  std::string key;
  Align align = Align::Left;
};

/// A cell: its words for people and, where it is a number, its value in SI units for programs.
struct Cell {
  std::string text;
  std::optional<double> value;

  Cell(std::string words) : text(std::move(words)) {}  // NOLINT: words are a cell
  Cell(const char* words) : text(words) {}             // NOLINT
  Cell(std::string words, double number) : text(std::move(words)), value(number) {}
};

/// Rows of cells under columns; each row has as many cells as there are columns.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Aligned columns with a line under their titles; no blanks at the ends of lines.
std::string text(const Table& table);
/// A table of GitHub-flavoured Markdown.
std::string markdown(const Table& table);
/// RFC 4180 with keys as header and values where there are any.
std::string csv(const Table& table);

/// Words as they stand in a line of CSV, quoted where they must be; in one of Markdown.
std::string csv_cell(std::string_view text);
std::string markdown_cell(std::string text);

/// A number as a cell: human() words of `value` in `unit`.
Cell quantity(double value, std::string_view unit);
/// "5.3 %"; with its sign where `is_signed`.
Cell percent(double share, bool is_signed = false);
/// "2 h 14 min", "3.2 days": a long time for people; below ten minutes as quantity().
Cell duration(double seconds);

}  // namespace wafer::report
