#pragma once

namespace wafer::cli {

/// The program `wafer`: carries out the command of `argv` and tells what is wrong on standard
/// error. Returns the exit code: 0, 2 (the input is wrong), 3 (it does not fit), 70 (our fault).
int run(int argc, char** argv);

}  // namespace wafer::cli
