#include "wafer/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace wafer::cli {
namespace {

constexpr double Patience = 0.5;  // seconds

double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

}  // namespace

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), is_terminal_(isatty(STDERR_FILENO) == 1), begin_(now()) {}

ProgressLine::~ProgressLine() {
  if (told_) std::fputs("\r\x1b[K", stderr);
}

std::function<void(size_t, size_t)> ProgressLine::callback() {
  return [this](size_t done, size_t of) { tell(done, of); };
}

void ProgressLine::tell(size_t done, size_t of) {
  if (!is_terminal_ || now() - begin_ < Patience) return;
  told_ = true;
  std::fputs(fmt::format("\r\x1b[K{} {}/{}", what_, done, of).c_str(), stderr);
}

}  // namespace wafer::cli
