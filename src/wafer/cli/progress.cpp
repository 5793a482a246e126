#include "wafer/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace wafer::cli {
namespace {

constexpr double Patience = 0.5;   // seconds, before the line appears
constexpr double Interval = 0.05;  // seconds, between two of them
constexpr size_t Width = 24;       // characters of the bar

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
  if (!is_terminal_) return;
  const double time = now();
  if (time - begin_ < Patience || time - last_ < Interval) return;
  last_ = time;
  told_ = true;
  const size_t full = of == 0 ? Width : Width * std::min(done, of) / of;
  std::fputs(
      fmt::format("\r\x1b[K{} [{:#<{}}{:.<{}}] {}/{}", what_, "", full, "", Width - full, done, of)
          .c_str(),
      stderr);
}

}  // namespace wafer::cli
