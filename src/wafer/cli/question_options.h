#pragma once

#include <CLI/CLI.hpp>

#include "wafer/study/question.h"

namespace wafer::cli {

/// Adds the model and all options that say what is asked of it, with their defaults in the help.
/// `question` must outlive the parse.
void add_question(CLI::App& command, study::Question& question);

/// Adds the options that ask for the time of an epoch and of a whole training, and for its cost.
void add_durations(CLI::App& command, study::Question& question);

}  // namespace wafer::cli
