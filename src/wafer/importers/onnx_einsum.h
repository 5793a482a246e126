#pragma once

#include <string>

#include "wafer/importers/fold.h"

namespace wafer::importers {

/// The result of an Einsum equation ("bhsd,bhtd->bhst") of one or two operands. "..." may stand for
/// leading dimensions; a letter twice in one operand is refused. Throws InputError.
Term einsum(Folder& f, const std::string& equation, const Terms& operands);

}  // namespace wafer::importers
