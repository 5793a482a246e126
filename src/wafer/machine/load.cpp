#include "wafer/machine/load.h"

#include <fmt/format.h>

#include <algorithm>

#include "wafer/base/data_dir.h"
#include "wafer/base/error.h"
#include "wafer/base/mapped_file.h"
#include "wafer/base/nearest.h"
#include "wafer/machine/decode.h"
#include "wafer/machine/fields.h"

namespace wafer::machine {
namespace fs = std::filesystem;
namespace {

constexpr const char* Kind = "machines";
constexpr const char* Extension = ".toml";
constexpr size_t LongestFile = 1 << 20;

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

// Where a machine's file lies; a relative path starts from `directory`.
fs::path path_of(const std::string& name_or_path, const fs::path& directory) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(Extension)) {
    return directory / name_or_path;
  }
  const std::map<std::string, fs::path> files = list_data(Kind, Extension);
  const auto found = files.find(name_or_path);
  if (found != files.end()) return found->second;
  const std::string meant = nearest(name_or_path, names());
  throw InputError(fmt::format(
      "no machine \"{}\"{}; there are {}. A file of your own is given by its path, which has a '/' "
      "or ends in .toml",
      name_or_path, meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
      joined(names(), ", ")));
}

Machine load_file(const fs::path& path, std::vector<std::string> chain);

// `chain` holds the files that lead here by their `base`, this one last.
Machine parse_text(std::string_view text, const fs::path& file, std::vector<std::string> chain) {
  const Source source{.text = text, .file = file.string(), .name = file.stem().string()};
  return decode(source, [&](const std::string& base) {
    return load_file(path_of(base, file.parent_path()), std::move(chain));
  });
}

Machine load_file(const fs::path& path, std::vector<std::string> chain) {
  const MappedFile file(path.string());
  if (file.bytes().size() > LongestFile) {
    throw InputError(fmt::format("{}: expected a machine's TOML of at most {} bytes, found {}",
                                 path.string(), LongestFile, file.bytes().size()));
  }
  const std::string here = fs::weakly_canonical(path).string();
  const bool seen = std::find(chain.begin(), chain.end(), here) != chain.end();
  chain.push_back(here);
  if (seen) {
    throw InputError(
        fmt::format("{}: its base leads back to itself ({}); let one of them stand "
                    "without base",
                    path.string(), joined(chain, " -> ")));
  }
  return parse_text(file.bytes(), path, std::move(chain));
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, path] : list_data(Kind, Extension)) all.push_back(name);
  return all;
}

Machine load(const std::string& name_or_path) { return load_file(path_of(name_or_path, ""), {}); }

Machine parse(std::string_view text, const fs::path& file) {
  return parse_text(text, file, {fs::weakly_canonical(file).string()});
}

}  // namespace wafer::machine
