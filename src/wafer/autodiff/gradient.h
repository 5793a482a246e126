#pragma once

#include <string>
#include <vector>

#include "wafer/ir/graph.h"

namespace wafer::autodiff {

struct GradientOptions {
  /// The output to differentiate: a float scalar.
  std::string output = "loss";
  /// Inputs (of main) to get gradients of; empty: every float parameter that is not frozen.
  std::vector<std::string> inputs;
};

/// The forward graph and its reverse-mode gradient as one graph. Outputs: those of `forward`, then
/// "grad.NAME" for each differentiated input, in the order of the inputs and of their types (zeros
/// where the output does not depend on it). Backward ops have Phase::Backward and the layer, scope
/// and location of the op whose gradient they compute.
///
/// The gradient of a call is made once for each function: call sites run the function
/// "NAME.forward", whose outputs are those of NAME and then its residuals ("residual.0", ...: the
/// values that its backward needs and that the caller does not have), and later the function
/// "NAME.backward", which takes the cotangents of NAME's outputs ("grad.OUTPUT"), then the values
/// it needs (named as the input, output or residual of NAME.forward that they are), and returns the
/// gradients of NAME's inputs ("grad.INPUT"). Where call sites need gradients of different inputs
/// or outputs, the variants carry ".2", ".3", ... behind the name.
///
/// docs/spec/autodiff.md has the rules and conventions. Throws InputError when the output is not a
/// float scalar, when an input is not there or not float, and for ops on the way that have no
/// gradient rule (while, conditional, custom_call), by name and location, all of them at once.
ir::Graph differentiate(const ir::Graph& forward, const GradientOptions& options = {});

}  // namespace wafer::autodiff
