#pragma once

#include <string>

#include "wafer/report/facts.h"
#include "wafer/report/table.h"
#include "wafer/study/question.h"

namespace wafer::report {

// The parts of an answer's text that only layer-pipelined training has.

/// Rate of the pipeline, delay, PEs in use.
void add_pipelined_facts(const study::Result& result, Facts& facts);

/// Where the time of a step goes.
Table pipelined_times(const study::Result& result);

/// Where the PEs go: a row for kernels that are alike.
Table kernels_table(const study::Result& result);

/// What lies on the wafer.
std::string pipelined_memory(const study::Result& result);

}  // namespace wafer::report
