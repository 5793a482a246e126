#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/machine/machine.h"

namespace wafer::machine {

/// Names of the machines in the data directories (machines/*.toml), sorted.
std::vector<std::string> names();

/// A machine by name ("wse2"), or by the path of a user's own file: what has a '/' or ends in
/// ".toml". The format is in docs/machines.md. Throws InputError that tells every problem of the
/// file with file:line:column, key, what was expected and found, and the remedy.
Machine load(const std::string& name_or_path);

/// The machine that `text` describes. `file` gives its name, leads its messages and is what a
/// relative `base` starts from. Throws as `load` does.
Machine parse(std::string_view text, const std::filesystem::path& file);

/// `machine` with another value for the number of TOML key `key` ("clock_hz", "lanes.f16"), marked
/// assumed, and no longer calibrated. Throws InputError for an unknown key (naming the nearest),
/// for a key that holds a list, and for a value that a file could not hold either.
Machine overridden(Machine machine, std::string_view key, double value,
                   const std::string& source = "set for this run");

}  // namespace wafer::machine
