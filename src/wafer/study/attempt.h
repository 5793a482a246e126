#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/machine/machine.h"
#include "wafer/study/question.h"
#include "wafer/study/workbench.h"

namespace wafer::study {

/// A question, and its answer or why there is none.
struct Attempt {
  Question question;
  std::optional<Result> result{};
  std::string reason{};   ///< why there is none; empty where there is one
  bool capacity = false;  ///< it does not fit; else the question is wrong
};

/// Asks. An answer that there is none is one, other faults are thrown.
Attempt attempt(const Question& question, Workbench& bench);
/// The same on a machine at hand.
Attempt attempt(const Question& question, const machine::Machine& machine, Workbench& bench);

/// A machine as it is written in a list: NAME[xN][:MODE], "wse3x4", "a100-80gbx256",
/// "wse2:pipelined", "./mine.tomlx4".
struct Contender {
  std::string text;     ///< as written
  std::string machine;  ///< a name or the path of a TOML file
  std::optional<int64_t> systems{};
  std::optional<Mode> mode{};
};

/// Reads one. What is a machine's name, or the path of a file that exists or ends in ".toml", is
/// not taken apart. Throws InputError for a count or mode that is none; whether there is such a
/// machine is seen when it is asked.
Contender contender(std::string_view text);

/// The question put to a contender: its machine, and systems and mode where it names them.
Question question_for(const Question& question, const Contender& contender);

/// Memory of the place that is fullest, as a share of it.
struct Headroom {
  double free = 0;    ///< 1 is empty, 0 full
  std::string place;  ///< "weight store", "wafer", "PE", "GPU"
};
/// Absent where the answer says of no place how full it is.
std::optional<Headroom> headroom_of(const Result& result);

}  // namespace wafer::study
