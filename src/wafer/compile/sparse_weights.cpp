#include "wafer/compile/sparse_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "wafer/base/error.h"

namespace wafer::compile {
namespace {

// "layer/mlp/up"; a kernel may begin with its section's name itself.
std::string full_name(const ParameterGroup& group) {
  if (group.kernel.starts_with(group.section + "/")) return group.kernel;
  return group.section + "/" + group.kernel;
}

bool names(const std::string& pattern, const ir::Function& main, const ParameterGroup& group,
           size_t input) {
  if (group.kernel.empty() || main.type_of(main.inputs[input].value).rank() < 2) return false;
  return plan::matches(pattern, group.kernel) || plan::matches(pattern, full_name(group)) ||
         plan::matches(pattern, main.inputs[input].name);
}

}  // namespace

const plan::WeightSparsity* asked_of(const StreamedRequest& request, const ir::Function& main,
                                     const ParameterGroup& group, size_t input) {
  for (auto w = request.sparsity_of.rbegin(); w != request.sparsity_of.rend(); ++w) {
    if (names(w->pattern, main, group, input)) return &*w;
  }
  return nullptr;
}

void check_patterns(const StreamedRequest& request, const ir::Function& main,
                    const StepAnalysis& analysis) {
  for (const plan::WeightSparsity& w : request.sparsity_of) {
    const bool found =
        std::any_of(analysis.groups.begin(), analysis.groups.end(), [&](const ParameterGroup& g) {
          return std::any_of(g.inputs.begin(), g.inputs.end(),
                             [&](size_t input) { return names(w.pattern, main, g, input); });
        });
    if (found) continue;
    std::set<std::string> kernels;
    std::string parameter;
    for (const ParameterGroup& g : analysis.groups) {
      if (g.kernel.empty()) continue;
      kernels.insert(full_name(g));
      if (parameter.empty() || g.inputs.size() > 1) parameter = main.inputs[g.inputs[0]].name;
    }
    throw InputError(fmt::format(
        "--sparsity-of {}: no weight is called so; there are {}, and parameters by their names, "
        "as {}",
        w.pattern, fmt::join(kernels, ", "), parameter));
  }
}

}  // namespace wafer::compile
