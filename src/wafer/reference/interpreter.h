#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wafer/ir/graph.h"
#include "wafer/reference/tensor.h"

namespace wafer::reference {

/// How float types are computed.
enum class Precision : uint8_t {
  F64,    ///< all in double, unrounded, whatever their type
  Typed,  ///< each op's result rounded to its type; sums of types below 32 bits run in f32, as does
          ///< what a product's `accumulate` names
};

/// Both limits guard against graphs that would never end: exceeded, they throw CapacityError.
struct Options {
  Precision precision = Precision::F64;
  int64_t max_elements = int64_t{1} << 28;  ///< alive at once, in all values together
  double max_operations = 1e11;  ///< elements made and multiply-adds, over the whole evaluation
};

/// The outputs of the graph's main for these inputs (in the order of its inputs), computed op by op
/// in the plainest way: the oracle of numeric tests. Composites are computed by their decomposition
/// (ir/decompose.h); collectives as by the only replica; rng as random.h says.
/// Throws InputError for graphs that do not verify, inputs that do not match, unbound dimensions
/// (ir::bind), elided constants, collectives over more than one replica and custom calls, with op
/// and location.
std::vector<Tensor> evaluate(const ir::Graph& graph, std::span<const Tensor> inputs,
                             const Options& options = {});

/// The results, of types `results`, of one op of `graph`; to fold constants.
std::vector<Tensor> evaluate_op(const ir::Graph& graph, const ir::Op& op,
                                std::span<const TensorType> results,
                                std::span<const Tensor> operands, const Options& options = {});

}  // namespace wafer::reference
