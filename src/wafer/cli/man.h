#pragma once

#include <string>

#include "wafer/cli/description.h"

namespace wafer::cli {

/// The manual page, for man(1): every command with its options, those that several commands have
/// in common once.
std::string man_page(const Command& program);

}  // namespace wafer::cli
