#pragma once

#include <optional>
#include <vector>

#include "wafer/ir/op.h"

namespace wafer::importers {

/// Equal .. GreaterEqual, IsFinite, IsNan: the result is a bool.
bool is_predicate(ir::ElementFn fn);
/// Whether a bool or integer is not zero, whatever the symbols are.
bool is_true(const Dim& x);

/// fn of integers or bools, some of them perhaps symbolic: a value that holds for every positive
/// value of the symbols, or nothing.
std::optional<Dim> apply_to_dims(ir::ElementFn fn, const std::vector<Dim>& x, DType dtype);
/// fn of floats in double precision; nothing for functions that folding does not know.
std::optional<double> apply_to_reals(ir::ElementFn fn, const std::vector<double>& x);
/// A predicate of floats, as 0 or 1.
std::optional<Dim> compare_reals(ir::ElementFn fn, const std::vector<double>& x);
/// x as an integer or bool of that type (or to become a float, where it must be static).
std::optional<Dim> convert_dim(const Dim& x, DType dtype);

}  // namespace wafer::importers
