#pragma once

#include <array>
#include <string>
#include <string_view>

#include "wafer/compile/analysis.h"

namespace wafer::compile {

struct Pass {
  std::string_view name;
  std::string_view does;
};

/// The way of a network from its graph to a streamed plan, in order. The first three make graphs,
/// the next two look at them, the last writes the plan.
inline constexpr std::array<Pass, 6> StreamedPasses = {{
    {"import", "the forward graph, from a model file or built in code"},
    {"outline", "a file's floats take the precision asked for; identical layers become calls"},
    {"training_step", "gradients and optimizer are added (training only)"},
    {"layers", "main is cut into layers and sections, and what crosses between them is found"},
    {"kernels", "each layer is cut into kernels: one heavy op and the light ones behind it"},
    {"plan", "micro-batch, recompute and the home of activations are chosen, the tree is written"},
}};

/// What the passes `layers` and `kernels` found, of one sample.
std::string print_layers(const ir::Graph& graph, const StepAnalysis& analysis);
std::string print_kernels(const StepAnalysis& analysis);

}  // namespace wafer::compile
