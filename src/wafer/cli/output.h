#pragma once

#include <string>
#include <string_view>

namespace wafer::cli {

/// Standard output's reader has closed it.
struct ReaderGone {};

/// Writes `text` to standard output. Throws ReaderGone, or CapacityError / InputError when it does
/// not take all of it.
void print_out(std::string_view text);

/// Writes `text` to a file: first to a new one beside it, which then takes its place, so that no
/// reader sees half. A device or pipe is written to directly, "-" is standard output. Throws
/// CapacityError when there is no room and InputError when it cannot be written.
void write_file(const std::string& path, std::string_view text);

/// What `--json` says: print JSON alone ("-"), write it to a file and print text, or only text.
/// `target` is empty where the option was not given.
void print_answer(const std::string& target, std::string_view json, std::string_view text);

}  // namespace wafer::cli
