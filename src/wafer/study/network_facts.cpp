#include <algorithm>
#include <map>

#include "wafer/ir/cost.h"
#include "wafer/models/models.h"
#include "wafer/study/network.h"

namespace wafer::study {
namespace {

// Ops that other ops are inside of: their work is counted there.
bool holds_others(ir::OpKind kind) {
  return kind == ir::OpKind::Call || kind == ir::OpKind::While || kind == ir::OpKind::Conditional;
}

std::vector<NetworkFacts::Kind> kinds_of(const ir::Graph& graph) {
  std::map<std::string, NetworkFacts::Kind> by_name;
  const std::vector<double> runs = ir::run_counts(graph);
  for (size_t f = 0; f < graph.functions.size(); ++f) {
    for (const ir::Op& op : graph.functions[f].ops) {
      if (holds_others(op.kind)) continue;
      NetworkFacts::Kind& kind = by_name[std::string(ir::name_of(op.kind))];
      ++kind.ops;
      kind.runs += runs[f];
      kind.flops += runs[f] * ir::cost_of(graph, graph.functions[f], op).total().value;
    }
  }
  std::vector<NetworkFacts::Kind> kinds;
  for (auto& [name, kind] : by_name) {
    kind.name = name;
    kinds.push_back(kind);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.flops > b.flops; });
  return kinds;
}

}  // namespace

NetworkFacts facts_of(const Network& network, int64_t batch) {
  const ir::Graph graph = ir::bind(network.graph, {{std::string(ir::BatchSymbol), batch}});
  const ir::Cost cost = ir::cost_of(graph, graph.main);
  NetworkFacts facts{.parameters = models::parameter_count(graph),
                     .encoder_parameters = std::nullopt,
                     .batch = batch,
                     .flops = cost.total().value,
                     .product_flops = cost.product.value,
                     .bytes = (cost.read + cost.written).value,
                     .ops = 0,
                     .kinds = kinds_of(graph)};
  for (const NetworkFacts::Kind& kind : facts.kinds) facts.ops += kind.ops;
  return facts;
}

}  // namespace wafer::study
