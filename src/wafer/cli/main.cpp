#include "wafer/cli/run.h"

int main(int argc, char** argv) { return wafer::cli::run(argc, argv); }
