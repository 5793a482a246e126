#pragma once

#include <string>

#include "wafer/cli/description.h"

namespace wafer::cli {

// The script that makes a shell complete commands, options, and the words and files that they take.

std::string bash_completion(const Command& program);
std::string zsh_completion(const Command& program);
std::string fish_completion(const Command& program);

}  // namespace wafer::cli
