#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "wafer/machine/machine.h"

namespace wafer::machine {

struct Source {
  std::string_view text;  ///< TOML
  std::string file;       ///< leads every message
  std::string name;       ///< of the machine
};

/// The machine that a TOML text describes. `load_base` makes the machine that its key `base` names.
/// Throws InputError with all problems of this text at once; what `load_base` throws passes
/// through.
Machine decode(const Source& source, const std::function<Machine(const std::string&)>& load_base);

}  // namespace wafer::machine
