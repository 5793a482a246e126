#include "wafer/cli/interrupt.h"

#include <csignal>

namespace wafer::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

void note(int) {
  noted = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  noted = 0;
  // A shell that started us in the background has it ignored: so it stays.
  if (std::signal(SIGINT, note) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
  if (std::signal(SIGINT, SIG_DFL) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
}

bool InterruptGuard::asked() { return noted != 0; }

}  // namespace wafer::cli
