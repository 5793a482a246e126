#include "wafer/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "wafer/base/error.h"

namespace wafer::cli {
namespace {

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

int write_and_close(int file, std::string_view text) {
  const int error = write_all(file, text);
  const bool closed = close(file) == 0;
  return error == 0 && !closed ? errno : error;
}

// There, and neither a regular file nor a directory.
bool is_device(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

void write_directly(const std::string& path, std::string_view text) {
  // A pipe that nobody reads fails at once instead of waiting; one that is read then blocks.
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENXIO) {
    throw InputError(path + ": cannot be written: a pipe that no process reads");
  }
  if (file < 0) fail(path, errno);
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  const int error = write_and_close(file, text);
  if (error != 0) fail(path, error);
}

/// Permissions of the file that is replaced; of a new one what the user's mask leaves.
mode_t mode_for(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) == 0) return info.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// Readers see the old file or the new one, never a part. A link stays and its target is replaced.
void replace_file(const std::string& name, std::string_view text) {
  std::error_code absent;
  const std::filesystem::path target = std::filesystem::canonical(name, absent);
  const std::string path = absent ? name : target.string();
  std::string beside = path + ".XXXXXX";
  const int file = mkostemp(beside.data(), O_CLOEXEC);
  if (file < 0) fail(path, errno);
  fchmod(file, mode_for(path));
  int error = write_and_close(file, text);
  if (error == 0 && rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(beside.c_str());
  fail(path, error);
}

}  // namespace

void print_out(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) throw ReaderGone();
  if (error != 0) fail("standard output", error);
}

void write_file(const std::string& path, std::string_view text) {
  if (path == "-") return print_out(text);
  if (is_device(path)) return write_directly(path, text);
  replace_file(path, text);
}

void print_answer(const std::string& target, std::string_view json, std::string_view text) {
  if (!target.empty()) write_file(target, json);
  if (target != "-") print_out(text);
}

}  // namespace wafer::cli
