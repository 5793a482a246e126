#include "wafer/study/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "wafer/base/error.h"
#include "wafer/machine/load.h"

namespace wafer::study {
namespace {

template <typename Ask>
Attempt attempt_with(const Question& question, Ask ask) {
  Attempt a{.question = question};
  try {
    a.result = ask();
  } catch (const CapacityError& e) {
    a.reason = e.what();
    a.capacity = true;
  } catch (const InputError& e) {
    a.reason = e.what();
  }
  return a;
}

bool is_machine(const std::string& text) {
  if (text.ends_with(".toml")) return true;
  std::error_code unreadable;
  if (text.find('/') != std::string::npos && std::filesystem::exists(text, unreadable)) return true;
  const std::vector<std::string> names = machine::names();
  return std::find(names.begin(), names.end(), text) != names.end();
}

// ":MODE" at the end.
void take_mode(Contender& c) {
  const size_t colon = c.machine.rfind(':');
  if (colon == std::string::npos || is_machine(c.machine)) return;
  const std::string word = c.machine.substr(colon + 1);
  c.mode = mode_named(word);
  if (!c.mode) {
    std::vector<std::string_view> names;
    for (const Mode mode : Modes) names.push_back(name_of(mode));
    throw InputError(fmt::format("{}: expected a mode after \":\", one of {}, found \"{}\"", c.text,
                                 fmt::join(names, ", "), word));
  }
  c.machine.resize(colon);
}

// "xN" at the end.
void take_systems(Contender& c) {
  if (is_machine(c.machine)) return;
  const size_t times = c.machine.rfind('x');
  if (times == std::string::npos || times == 0) return;
  const char* const begin = c.machine.data() + times + 1;
  const char* const end = c.machine.data() + c.machine.size();
  int64_t count = 0;
  const auto [rest, error] = std::from_chars(begin, end, count);
  if (begin == end || rest != end) return;  // an x of its name
  if (error != std::errc() || count < 1) {
    throw InputError(
        fmt::format("{}: expected a whole number from 1 after \"x\", the wafers or GPUs", c.text));
  }
  c.systems = count;
  c.machine.resize(times);
}

}  // namespace

Attempt attempt(const Question& question, Workbench& bench) {
  return attempt_with(question, [&] { return bench.answer(question); });
}

Attempt attempt(const Question& question, const machine::Machine& machine, Workbench& bench) {
  return attempt_with(question, [&] {
    return std::visit([&](const auto& kind) { return bench.answer(question, kind); }, machine);
  });
}

Contender contender(std::string_view text) {
  Contender c{.text = std::string(text), .machine = std::string(text)};
  take_mode(c);
  take_systems(c);
  if (c.machine.empty()) throw InputError("expected the name of a machine, found nothing");
  return c;
}

Question question_for(const Question& question, const Contender& contender) {
  Question q = question;
  q.machine = contender.machine;
  q.systems = contender.systems.value_or(question.systems);
  q.mode = contender.mode.value_or(question.mode);
  return q;
}

std::optional<Headroom> headroom_of(const Result& result) {
  const estimate::Answer& a = result.answer;
  std::optional<Headroom> least;
  const auto consider = [&](Bytes used, Bytes capacity, const char* place) {
    if (!(capacity.value > 0)) return;
    const double free = 1 - used / capacity;
    if (!least || free < least->free) least = {free, place};
  };
  if (a.cluster) {
    consider(a.cluster->gpu_used, a.cluster->gpu_capacity, "GPU");
    return least;
  }
  if (a.resident) {
    consider(a.resident->pe_used, a.resident->pe_capacity, "PE");
    return least;
  }
  if (a.pipelined) return Headroom{1 - a.pipelined->used_share(), "wafer"};  // of its PEs
  const estimate::Memory& m = a.memory;
  consider(m.store_total, m.store_capacity, "weight store");
  consider(m.activations_on_wafer + m.workspace, m.wafer_capacity, "wafer");
  return least;
}

}  // namespace wafer::study
