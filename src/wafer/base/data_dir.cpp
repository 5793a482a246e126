#include "wafer/base/data_dir.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "wafer/base/error.h"

namespace wafer {
namespace fs = std::filesystem;
namespace {

// The file that this code was loaded from, where that is a library and no program.
fs::path this_library(const fs::path& program) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&data_dirs), &info) == 0) return {};
  std::error_code unreadable;
  const fs::path file = fs::canonical(info.dli_fname, unreadable);
  return unreadable || file == program ? fs::path() : file;
}

}  // namespace

std::vector<fs::path> data_dirs() {
  std::vector<fs::path> dirs;
  const char* given = std::getenv("WAFER_DATA_DIR");
  if (given != nullptr && *given != '\0') dirs.emplace_back(given);
  std::error_code unknown;  // without /proc, an installed program needs WAFER_DATA_DIR
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (const fs::path library = this_library(program); !library.empty()) {
    dirs.push_back(library.parent_path() / "data");
  } else if (!unknown) {
    dirs.push_back(program.parent_path().parent_path() / "share/openwafer");
  }
  if (constexpr std::string_view Source = WAFER_SOURCE_DIR; !Source.empty()) {
    dirs.emplace_back(Source);
  }
  return dirs;
}

fs::path find_data(const fs::path& relative, const std::vector<fs::path>& dirs) {
  Problems places;
  for (const fs::path& dir : dirs) {
    const fs::path path = dir / relative;
    std::error_code unreadable;
    if (fs::is_regular_file(path, unreadable)) return path;
    places.add(path.string());
  }
  places.throw_if_any(
      fmt::format("no file {}; set WAFER_DATA_DIR to the directory that holds it. Looked at:",
                  relative.string()));
  throw InputError(fmt::format("no file {}: no data directory was given", relative.string()));
}

std::map<std::string, fs::path> list_data(const fs::path& kind, std::string_view extension,
                                          const std::vector<fs::path>& dirs) {
  std::map<std::string, fs::path> found;
  for (const fs::path& dir : dirs) {
    std::error_code absent;
    for (const fs::directory_entry& entry : fs::directory_iterator(dir / kind, absent)) {
      if (entry.path().extension() != extension) continue;
      found.emplace(entry.path().stem().string(), entry.path());
    }
  }
  return found;
}

}  // namespace wafer
