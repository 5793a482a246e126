#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace wafer::cli {

/// A line with a bar on standard error that tells how far a long command is, where that is a
/// terminal; elsewhere and in the first half second nothing. Its destructor wipes the line.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Takes "done, of how many".
  std::function<void(size_t, size_t)> callback();

 private:
  void tell(size_t done, size_t of);

  std::string what_;
  bool is_terminal_;
  bool told_ = false;
  double begin_;
  double last_ = 0;
};

}  // namespace wafer::cli
