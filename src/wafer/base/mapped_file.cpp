#include "wafer/base/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "wafer/base/error.h"

namespace wafer {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw InputError(fmt::format("{}: cannot be read: {}", path, std::strerror(error)));
}

/// Closes the descriptor, which the mapping does not need.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  // Without O_NONBLOCK a pipe or device given as a file would wait for its other end.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0) fail(path, errno);
  struct stat info{};
  if (fstat(file.value, &info) != 0) fail(path, errno);
  if (!S_ISREG(info.st_mode)) throw InputError(path + ": is not a regular file");
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return;
  void* const start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (start == MAP_FAILED) fail(path, errno);
  bytes_ = {static_cast<const char*>(start), size};
}

MappedFile::~MappedFile() {
  // munmap wants the pointer that mmap gave, which was not const.
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace wafer
