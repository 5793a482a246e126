#include "wafer/importers/recognize.h"

namespace wafer::importers {

ir::Graph recognize_all(const ir::Graph& graph) { return graph; }

}  // namespace wafer::importers
