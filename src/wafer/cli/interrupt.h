#pragma once

#include <string>

namespace wafer::cli {

/// Exit code of a command that SIGINT has ended, as shells have it.
inline constexpr int InterruptedExit = 130;

/// The user has pressed Ctrl-C, and what was done till then.
struct Interrupted {
  std::string what;
};

/// While it lives, the first SIGINT is noted and the second ends the program.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether SIGINT has come.
  static bool asked();
};

}  // namespace wafer::cli
