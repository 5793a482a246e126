#include "wafer/study/csv.h"

#include <fmt/format.h>

#include "wafer/base/error.h"
#include "wafer/base/mapped_file.h"

namespace wafer::study {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

// Cuts the text into rows of cells.
class CsvScanner {
 public:
  CsvScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  std::vector<Csv::Row> run() {
    const size_t zero = text_.find('\0');
    if (zero != std::string_view::npos) {
      throw InputError(
          fmt::format("{}: expected text (CSV), found a zero byte at byte {}", file_, zero));
    }
    std::vector<Csv::Row> rows;
    while (at_ < text_.size()) {
      Csv::Row row = next_row();
      const bool blank = row.cells.size() == 1 && trimmed(row.cells[0]).empty();
      if (!blank) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  Csv::Row next_row() {
    Csv::Row row;
    row.line = line_;
    row.cells.push_back(next_cell());
    while (at_ < text_.size() && text_[at_] == ',') {
      ++at_;
      row.cells.push_back(next_cell());
    }
    skip_line_end();
    return row;
  }

  std::string next_cell() {
    if (at_ < text_.size() && text_[at_] == '"') return quoted_cell();
    const size_t end = std::min(text_.find_first_of(",\n\r", at_), text_.size());
    const std::string_view cell = text_.substr(at_, end - at_);
    at_ = end;
    return std::string(cell);
  }

  std::string quoted_cell() {
    const size_t opened = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != '"') {
        cell += c;
      } else if (text_.substr(at_ + 1).starts_with('"')) {
        cell += text_[++at_];
      } else {
        ++at_;
        check_cell_end();
        return cell;
      }
    }
    throw InputError(fmt::format("{}:{}: a quote opens here and is never closed", file_, opened));
  }

  void check_cell_end() const {
    if (at_ == text_.size() || std::string_view(",\n\r").find(text_[at_]) != std::string::npos) {
      return;
    }
    throw InputError(
        fmt::format("{}:{}: expected a comma or the end of the line after a closed quote, found "
                    "'{}'; a quote within quotes is written twice",
                    file_, line_, text_[at_]));
  }

  void skip_line_end() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
  size_t line_ = 1;
};

Csv Csv::parse(std::string_view text, const std::string& file) {
  Csv csv;
  csv.file_ = file;
  std::vector<Row> rows = CsvScanner(text, file).run();
  if (rows.empty()) {
    throw InputError(
        fmt::format("{}: expected a first line with the names of columns, found none", file));
  }
  csv.set_header(rows.front());
  const size_t width = rows.front().cells.size();
  rows.erase(rows.begin());
  csv.rows_ = std::move(rows);
  csv.check_widths(width);
  return csv;
}

Csv Csv::load(const std::string& path) {
  const MappedFile file(path);
  return parse(file.bytes(), path);
}

void Csv::set_header(const Row& header) {
  for (size_t i = 0; i < header.cells.size(); ++i) {
    const std::string name(trimmed(header.cells[i]));
    if (!columns_.emplace(name, i).second) {
      throw InputError(
          fmt::format("{}:{}: two columns have the name \"{}\"", file_, header.line, name));
    }
  }
}

void Csv::check_widths(size_t width) const {
  Problems problems;
  for (const Row& row : rows_) {
    if (row.cells.size() == width) continue;
    problems.add(fmt::format("{}:{}: expected {} cells as in the header, found {}", file_, row.line,
                             width, row.cells.size()));
  }
  problems.throw_if_any(fmt::format("{}: rows that do not match the header", file_));
}

std::string_view Csv::cell(size_t row, std::string_view column) const {
  const auto found = columns_.find(column);
  return found == columns_.end() ? std::string_view() : trimmed(rows_[row].cells[found->second]);
}

}  // namespace wafer::study
