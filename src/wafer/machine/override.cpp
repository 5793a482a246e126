#include <fmt/format.h>

#include <vector>

#include "wafer/base/error.h"
#include "wafer/base/nearest.h"
#include "wafer/machine/fields.h"
#include "wafer/machine/load.h"

namespace wafer::machine {
namespace {

struct Override {
  std::string_view key;
  double value;
  const std::string& source;

  // Throws InputError when the field cannot hold the value.
  template <typename T>
  void apply(const Field& field, Sourced<T>& number) const {
    if constexpr (List<T>) {
      throw InputError(
          fmt::format("{}: a list cannot be set to one number; write it in a file of your own that "
                      "starts with base = \"...\"",
                      key));
    } else {
      const std::string problem = refuse(field, value, Whole<T>);
      if (!problem.empty()) throw InputError(fmt::format("{}: {}", key, problem));
      set(number.value, value);
      number.mark = Mark::Assumed;
      number.source = source;
    }
  }
};

[[noreturn]] void refuse_key(std::string_view key, const std::string& machine,
                             const std::vector<std::string>& known) {
  const std::string meant = nearest(key, known);
  throw InputError(
      fmt::format("{} has no number \"{}\"{}; `wafer machines show {}` lists them", machine, key,
                  meant.empty() ? "" : fmt::format("; did you mean {}?", meant), machine));
}

}  // namespace

Machine overridden(Machine machine, std::string_view key, double value, const std::string& source) {
  const Override change{.key = key, .value = value, .source = source};
  std::visit(
      [&](auto& kind) {
        bool found = false;
        std::vector<std::string> known;
        visit_numbers(kind, [&](const Field& field, auto& number) {
          known.emplace_back(field.key);
          if (key != field.key) return;
          found = true;
          change.apply(field, number);
        });
        if (!found) refuse_key(key, kind.name, known);
        for (const std::string& problem : contradictions(kind)) throw InputError(problem);
        kind.calibrated = false;
      },
      machine);
  return machine;
}

}  // namespace wafer::machine
