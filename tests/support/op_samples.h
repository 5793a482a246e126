#pragma once

#include <string>
#include <vector>

#include "wafer/ir/builder.h"

/// One legal op, with the types that its results have by docs/spec/ops.md.
struct OpSample {
  wafer::ir::OpKind kind;
  std::vector<std::string> operands;
  wafer::ir::Attributes attrs;
  std::vector<std::string> results;
};

/// Functions that the samples with sub-graphs refer to.
struct SampleFunctions {
  wafer::ir::FunctionId add;        ///< f32[], f32[] -> f32[]
  wafer::ir::FunctionId below_ten;  ///< i32[], f32[2] -> bool[]
  wafer::ir::FunctionId step;       ///< i32[], f32[2] -> i32[], f32[2]
  wafer::ir::FunctionId twice;      ///< f32[2] -> f32[2]
  wafer::ir::FunctionId negated;    ///< f32[2] -> f32[2]
};

/// Adds them to the graph.
SampleFunctions add_sample_functions(wafer::ir::Graph& graph);

/// At least one of every op kind, element function and AttrKey.
std::vector<OpSample> op_samples(const SampleFunctions& functions);

/// Appends the sample to the builder's function, on inputs of its own.
void emit_sample(wafer::ir::Builder& b, const OpSample& sample);

/// Every sample in one main.
wafer::ir::Graph graph_of_samples();
