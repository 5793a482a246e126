#pragma once

#include <string_view>

#include "wafer/study/question.h"

namespace wafer::python {

/// The question that a JSON object asks: "model", and options by the names that the command line
/// has, '_' as good as '-' ({"model": "gpt2", "micro_batch": 8, "dim": {"seq": 128}}). What is null
/// or absent is chosen. Throws InputError with the text of the command line where a name is no
/// option or a value is not of its kind.
study::Question question_of(std::string_view json);

}  // namespace wafer::python
