#include "wafer/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "wafer/base/error.h"
#include "wafer/report/json_tables.h"

namespace wafer::cli {
namespace {

constexpr size_t MostWaiting = 1 << 16;  // bytes, before they are written

[[noreturn]] void fail(const std::string& name, int error) {
  const std::string what = fmt::format("{}: cannot be written: {}", name, std::strerror(error));
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) throw CapacityError(what);
  throw InputError(what);
}

// 0, or the error that stopped it.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

// There, and neither a regular file nor a directory.
bool is_device(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

// A pipe that nobody reads fails at once instead of waiting; one that is read then blocks.
int open_device(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENXIO) {
    throw InputError(path + ": cannot be written: a pipe that no process reads");
  }
  if (file >= 0) fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return file;
}

/// Permissions of the file that is replaced; of a new one what the user's mask leaves.
mode_t mode_for(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0) return info.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// A file without a name in the folder of `path`, or -1.
int open_nameless(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (access("/proc/self/fd", F_OK) != 0) return -1;  // it would never get a name
  return open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

// Gives such a file a name that is not taken; empty, with errno, where that fails.
std::string name_file(int file, const std::string& path) {
  const std::string self = fmt::format("/proc/self/fd/{}", file);
  for (int i = 0; i < 1000; ++i) {
    const std::string name = fmt::format("{}.{}-{}", path, getpid(), i);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
    if (errno != EEXIST) break;
  }
  return "";
}

// The table that is named, or else the main one, or else the first.
const report::JsonTable& chosen(const std::vector<report::JsonTable>& tables,
                                const Outputs& outputs) {
  if (!outputs.table.empty()) return report::table_named(tables, outputs.table, "--table");
  for (const report::JsonTable& table : tables) {
    if (table.name == outputs.main) return table;
  }
  return tables.at(0);
}

std::string all_in_markdown(const std::vector<report::JsonTable>& tables) {
  std::string text;
  for (const report::JsonTable& table : tables) {
    text +=
        fmt::format("{}## {}\n\n{}", text.empty() ? "" : "\n", table.name, report::markdown(table));
  }
  return text;
}

void write_tables(const Outputs& outputs, std::string_view json) {
  const std::vector<report::JsonTable> tables =
      report::tables_of(nlohmann::ordered_json::parse(json));
  const report::JsonTable& one = chosen(tables, outputs);
  if (!outputs.csv.empty()) write_file(outputs.csv, report::csv(one));
  if (outputs.markdown.empty()) return;
  const bool all = outputs.table.empty() && tables.size() > 1;
  write_file(outputs.markdown, all ? all_in_markdown(tables) : report::markdown(one));
}

}  // namespace

OutputFile::OutputFile(std::string target) : name_(std::move(target)) {
  if (name_ == "-") {
    file_ = STDOUT_FILENO;
    return;
  }
  if (is_device(name_)) {
    file_ = open_device(name_);
  } else {
    open_beside();
  }
  if (file_ < 0) fail(errno);
}

OutputFile::~OutputFile() {
  if (file_ > STDERR_FILENO) close(file_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

void OutputFile::open_beside() {
  std::error_code absent;
  const std::filesystem::path target = std::filesystem::canonical(name_, absent);
  path_ = absent ? name_ : target.string();  // a link stays and its target is replaced
  if (std::filesystem::is_directory(path_, absent)) fail(EISDIR);
  file_ = open_nameless(path_);
  if (file_ >= 0) return;
  std::string beside = path_ + ".XXXXXX";
  file_ = mkostemp(beside.data(), O_CLOEXEC);
  if (file_ >= 0) beside_ = beside;
}

void OutputFile::write(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= MostWaiting) flush();
}

void OutputFile::flush() {
  const int error = write_all(file_, waiting_);
  if (error == EPIPE && name_ == "-") throw ReaderGone();
  if (error != 0) fail(error);
  waiting_.clear();
}

void OutputFile::commit() {
  flush();
  if (name_ == "-") return;
  if (!path_.empty()) take_place();
  const int file = std::exchange(file_, -1);
  if (close(file) != 0) fail(errno);
}

void OutputFile::take_place() {
  fchmod(file_, mode_for(path_));
  if (beside_.empty()) beside_ = name_file(file_, path_);
  if (beside_.empty() || rename(beside_.c_str(), path_.c_str()) != 0) fail(errno);
  beside_.clear();
}

void OutputFile::fail(int error) const {
  cli::fail(name_ == "-" ? "standard output" : name_, error);
}

void print_out(std::string_view text) { write_file("-", text); }

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

bool Outputs::any() const { return !json.empty() || !csv.empty() || !markdown.empty(); }

bool Outputs::prints() const { return json == "-" || csv == "-" || markdown == "-"; }

void check(const Outputs& outputs) {
  if (!outputs.table.empty() && outputs.csv.empty() && outputs.markdown.empty()) {
    throw InputError("--table names a table of --csv or --markdown; give one of them");
  }
  const int printed =
      int{outputs.json == "-"} + int{outputs.csv == "-"} + int{outputs.markdown == "-"};
  if (printed < 2) return;
  throw InputError(
      "only one of --json, --csv and --markdown can be printed ('-'); give the others a file");
}

void print_answer(const Outputs& outputs, std::string_view json, std::string_view text) {
  if (!outputs.json.empty()) write_file(outputs.json, json);
  if (!outputs.csv.empty() || !outputs.markdown.empty()) write_tables(outputs, json);
  if (!outputs.prints()) print_out(text);
}

}  // namespace wafer::cli
