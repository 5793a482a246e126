#pragma once

#include <string>
#include <string_view>

namespace wafer::cli {

/// Standard output's reader has closed it.
struct ReaderGone {};

/// Writes `text` to standard output. Throws ReaderGone, or CapacityError / InputError when it does
/// not take all of it.
void print_out(std::string_view text);

/// Text that goes to a file part by part: to a new one without a name, which takes the place of the
/// old when all is there, so that no reader sees half and a killed command leaves nothing. A device
/// or pipe is written to directly, "-" is standard output. Each function throws CapacityError when
/// there is no room, InputError when it cannot be written, ReaderGone as print_out().
class OutputFile {
 public:
  explicit OutputFile(std::string target);
  ~OutputFile();  ///< without commit(), the file stays as it was
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void commit();

 private:
  void flush();
  void open_beside();
  void take_place();
  [[noreturn]] void fail(int error) const;

  std::string name_;    ///< as the user gave it
  std::string path_;    ///< of the file to replace; empty where there is none
  std::string beside_;  ///< of the new file, where it has a name
  std::string waiting_;
  int file_ = -1;
};

/// Writes `text` to a file, as OutputFile does.
void write_file(const std::string& path, std::string_view text);

/// Where an answer goes besides or instead of the terminal: files, "-" for standard output, empty
/// where the option was not given.
struct Outputs {
  std::string main = "answer";  ///< the table that CSV has unless `table` names one
  std::string json{}, csv{}, markdown{};
  std::string table{};

  bool any() const;     ///< is any form but text asked for
  bool prints() const;  ///< is one of them printed, in place of text
};

/// Throws InputError where two of the forms would be printed.
void check(const Outputs& outputs);

/// Writes an answer in all the forms that are asked for; `text` where none of them is printed. CSV
/// and Markdown are of the tables of `json` (report/json_tables.h). Throws InputError for a table
/// that it does not have.
void print_answer(const Outputs& outputs, std::string_view json, std::string_view text);

}  // namespace wafer::cli
