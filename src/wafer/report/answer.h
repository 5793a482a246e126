#pragma once

#include <string>

#include "wafer/report/table.h"
#include "wafer/study/question.h"

namespace wafer::report {

struct AnswerOptions {
  bool paper_roofline = false;  ///< also HPEC 2024's own count
};

/// An answer for people: the rate first, what it rests on, where the time goes, memory, rooflines.
std::string text(const study::Result& result, const AnswerOptions& options = {});

/// An answer for programs, in SI units; docs/json.md lists the keys.
std::string json(const study::Result& result, const AnswerOptions& options = {});

/// Where the time of a step goes: a row a kind of layer and phase, then what no layer has; on a
/// cluster a row for each kind of work of a GPU.
Table time_table(const study::Result& result);

}  // namespace wafer::report
