#pragma once

#include <memory>
#include <string>
#include <vector>

#include "wafer/study/sweep.h"

namespace wafer::report {

/// How the rows of a sweep are written: RFC 4180; a JSON array with a row a line; JSON lines; a
/// table of Markdown.
enum class SweepFormat : uint8_t { Csv, Json, JsonLines, Markdown };

/// Writes the rows of a sweep one after another. All formats have the same columns; JSON nests key
/// "a.b" of an answer as key b of an object a.
class SweepWriter {
 public:
  SweepWriter(SweepFormat format, std::vector<study::SweepColumn> columns);

  /// What stands before the first row and after the last.
  std::string begin() const;
  std::string end() const;
  /// The next row.
  std::string row(const study::SweepRow& row);

 private:
  std::string json(const study::SweepRow& row) const;
  std::string markdown(const study::SweepRow& row) const;

  SweepFormat format_;
  std::vector<study::SweepColumn> columns_;
  bool first_ = true;
};

/// What was done, in a sentence: points, and how many have no answer.
std::string text(const study::SweepCounts& counts);

}  // namespace wafer::report
