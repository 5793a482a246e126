#pragma once

#include <string>
#include <string_view>

#include "wafer/study/question.h"

namespace wafer::study {

/// What a pass of compile/passes.h leaves behind for a question, as text or, for those that make a
/// graph or a plan, as JSON. Throws InputError for an unknown pass (with the nearest), for one that
/// this question does not take, and for JSON of one that has none.
std::string print_after(const Question& question, std::string_view pass, bool as_json);

/// The passes, one a line, with what each does.
std::string list_passes();

}  // namespace wafer::study
