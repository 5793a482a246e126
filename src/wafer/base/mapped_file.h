#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace wafer {

/// A file seen as bytes without reading it: only the pages that are looked at come from disk, so
/// that the tensors of a large model cost nothing until used. Move-only; views into bytes() live as
/// long as the object that holds the mapping.
class MappedFile {
 public:
  MappedFile() = default;
  /// Throws InputError when `path` cannot be opened or is not a regular file.
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace wafer
