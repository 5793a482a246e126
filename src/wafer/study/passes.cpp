#include "wafer/study/passes.h"

#include <fmt/format.h>

#include "wafer/autodiff/training_step.h"
#include "wafer/base/error.h"
#include "wafer/base/nearest.h"
#include "wafer/compile/passes.h"
#include "wafer/ir/text.h"
#include "wafer/study/workbench.h"

namespace wafer::study {
namespace {

void check_pass(std::string_view pass) {
  std::vector<std::string> names;
  for (const compile::Pass& p : compile::StreamedPasses) names.emplace_back(p.name);
  for (const std::string& name : names) {
    if (name == pass) return;
  }
  const std::string meant = nearest(pass, names);
  throw InputError(fmt::format("no pass \"{}\"{}; there are {}", pass,
                               meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
                               fmt::join(names, ", ")));
}

std::string print(const ir::Graph& graph, bool as_json) {
  return as_json ? ir::print_json(graph) : ir::print_text(graph);
}

std::string print_plan(const Question& question, bool as_json) {
  const plan::Plan plan = Workbench().plan(question);
  return as_json ? plan::print_json(plan) : plan::print_text(plan);
}

std::string print_analysis(const Question& q, ir::Graph step, int64_t tokens, bool layers) {
  const compile::StreamedCompiler compiler(std::move(step), tokens, dtype_of(q.precision));
  return layers ? compiler.layers_text() : compiler.kernels_text();
}

}  // namespace

std::string print_after(const Question& question, std::string_view pass, bool as_json) {
  check(question);
  check_pass(pass);
  const bool is_analysis = pass == "layers" || pass == "kernels";
  if (is_analysis && as_json) {
    throw InputError(fmt::format("pass {} has no JSON: use --format text", pass));
  }
  if (pass == "plan") return print_plan(question, as_json);
  const Network network = open_network(network_request(question));
  if (pass == "import") return print(network.graph, as_json);
  ir::Graph graph = prepared(network, dtype_of(question.precision));
  if (pass == "outline") return print(graph, as_json);
  if (question.phase == Phase::Train) {
    graph = autodiff::training_step(graph);
  } else if (pass == "training_step") {
    throw InputError("pass training_step does nothing with --phase infer");
  }
  if (pass == "training_step") return print(graph, as_json);
  return print_analysis(question, std::move(graph), network.tokens_per_sample, pass == "layers");
}

std::string list_passes() {
  std::string list;
  for (const compile::Pass& p : compile::StreamedPasses) {
    list += fmt::format("  {:14} {}\n", p.name, p.does);
  }
  return list;
}

}  // namespace wafer::study
