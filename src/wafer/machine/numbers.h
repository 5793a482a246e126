#pragma once

#include <string>
#include <vector>

#include "wafer/machine/machine.h"

namespace wafer::machine {

/// One number of a machine, as a row of a table.
struct Number {
  std::string key;   ///< in TOML: "router.hop_cycles"
  std::string unit;  ///< "Hz", "B/s"; empty for a plain count
  std::string meaning;
  bool is_list = false;
  std::vector<double> value;  ///< one, unless it is a list
  Mark mark = Mark::Assumed;
  std::string source;
};

/// Every number of a machine, in the order of docs/machines.md.
std::vector<Number> numbers(const Machine& machine);

/// What figures.h derives from them, with its formula as source.
std::vector<Number> figures(const Machine& machine);

}  // namespace wafer::machine
