#pragma once

#include <string>
#include <utility>
#include <vector>

namespace wafer::report {

/// Lines of a name and what is said of it; the names aligned.
class Facts {
 public:
  void add(const std::string& name, const std::string& words) { rows_.push_back({name, words}); }

  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

}  // namespace wafer::report
