#pragma once

#include <span>
#include <string>

#include "wafer/machine/machine.h"

namespace wafer::machine {

/// Machines, one a line: a table of wafers (usable PEs, clock, peak, memory), then one of GPU
/// clusters (GPUs of a node; multiprocessors, peak and memory of a GPU).
std::string print_list(std::span<const Machine> machines);

/// Everything about one machine: each number with value, mark and source, then what follows from
/// them (peak rates, sums).
std::string print_text(const Machine& machine);

/// The same as JSON, in SI units, keys in the order of docs/machines.md.
std::string print_json(const Machine& machine);
/// An array of such objects.
std::string print_json(std::span<const Machine> machines);

}  // namespace wafer::machine
