#include "wafer/base/data_dir.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "wafer/base/error.h"

namespace wafer {
namespace fs = std::filesystem;

std::vector<fs::path> data_dirs() {
  std::vector<fs::path> dirs;
  const char* given = std::getenv("WAFER_DATA_DIR");
  if (given != nullptr && *given != '\0') dirs.emplace_back(given);
  std::error_code unknown;  // without /proc, an installed program needs WAFER_DATA_DIR
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (!unknown) {
    dirs.push_back(program.parent_path().parent_path() / "share/openwafer");
  }
  dirs.emplace_back(WAFER_SOURCE_DIR);
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
