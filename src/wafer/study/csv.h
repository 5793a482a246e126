#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wafer::study {

/// A table from a CSV file: cells by column name. Quotes, doubled quotes and line breaks within
/// quotes as in RFC 4180; lines end with LF or CRLF; a byte order mark and empty lines are skipped.
class Csv {
 public:
  /// `file` leads every message. Throws InputError with the line: bytes that are not text, no or a
  /// repeated column name, a quote that is not closed, text behind a closed one, a row with more or
  /// fewer cells than the header (all such rows at once).
  static Csv parse(std::string_view text, const std::string& file);
  /// The same of a file. Throws InputError when it cannot be read.
  static Csv load(const std::string& path);

  size_t rows() const { return rows_.size(); }
  const std::string& file() const { return file_; }
  bool has(std::string_view column) const { return columns_.contains(column); }
  /// The cell without blanks around it; empty when there is no such column.
  std::string_view cell(size_t row, std::string_view column) const;
  /// The line on which the row begins, from 1.
  size_t line(size_t row) const { return rows_[row].line; }

 private:
  struct Row {
    size_t line = 0;
    std::vector<std::string> cells;
  };

  void set_header(const Row& header);
  void check_widths(size_t width) const;

  std::string file_;
  std::map<std::string, size_t, std::less<>> columns_;
  std::vector<Row> rows_;

  friend class CsvScanner;
};

}  // namespace wafer::study
