#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wafer {

/// The directories that hold the project's data (machines/, validation/), the first looked at
/// first: WAFER_DATA_DIR of the environment; ../share/openwafer beside the program (an installed
/// one) or, where this code is in a library (the Python module), data beside that; the source tree
/// that it was built from. A file in an earlier one hides its namesake in a
/// later one, so that a user adds or changes a machine without touching ours.
std::vector<std::filesystem::path> data_dirs();

/// `relative` ("machines/wse2.toml") in the first of `dirs` that has it. Throws InputError naming
/// all places looked at when none has.
std::filesystem::path find_data(const std::filesystem::path& relative,
                                const std::vector<std::filesystem::path>& dirs = data_dirs());

/// The files of folder `kind` ("machines") with `extension` (".toml") in all of `dirs`: path by
/// name without extension, the earlier directory winning. Empty when there is none.
std::map<std::string, std::filesystem::path> list_data(
    const std::filesystem::path& kind, std::string_view extension,
    const std::vector<std::filesystem::path>& dirs = data_dirs());

}  // namespace wafer
