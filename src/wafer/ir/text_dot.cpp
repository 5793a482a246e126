#include <fmt/format.h>

#include <iterator>
#include <map>
#include <set>

#include "wafer/ir/decompose.h"
#include "wafer/ir/text.h"
#include "wafer/ir/text_common.h"

namespace wafer::ir {
namespace {

/// In double quotes as DOT reads them; \n in the text is a new line.
std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n';
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += control ? ' ' : c;
    }
  }
  return result + '"';
}

std::string_view fill_of(Role role) {
  switch (role) {
    case Role::Parameter:
      return "#cfe2f3";
    case Role::OptimizerState:
      return "#d9d2e9";
    case Role::Data:
      return "#d9ead3";
    case Role::Constant:
      return "#eeeeee";
  }
  return "white";
}

/// Colours of what a reader looks for first: calls, whole kernels, products.
std::string_view fill_of(const Op& op) {
  if (!functions_of(op).empty()) return "#ffd966";
  if (is_composite(op.kind)) return "#f9cb9c";
  if (op.kind == OpKind::DotGeneral || op.kind == OpKind::Convolution) return "#ea9999";
  return "white";
}

/// Parameters and optimizer state: a training step has thousands of them.
bool is_kept(const Input& input) {
  return input.role == Role::Parameter || input.role == Role::OptimizerState;
}

/// One function as a cluster: its layers are clusters in it, its ops boxes. Constants that are one
/// number and parameters are not drawn, but written in the boxes that use them; outputs that take
/// the memory of a parameter are left out.
class FunctionDot {
 public:
  FunctionDot(const Graph& graph, FunctionId id, fmt::memory_buffer& out)
      : graph_(graph), function_(graph.function(id)), prefix_(id.index), out_(out) {
    find_numbers();
  }

  void print() {
    put("  subgraph cluster_{} {{\n    label={};\n", prefix_, dot_quoted("@" + function_.name));
    std::set<int> updates;
    for (size_t i = 0; i < function_.inputs.size(); ++i) {
      const Input& input = function_.inputs[i];
      if (is_kept(input)) {
        kept_[input.value] = input.name;
        updates.insert(input.donated_output);
      } else {
        print_input(i);
      }
    }
    print_ops();
    for (size_t i = 0; i < function_.outputs.size(); ++i) {
      if (!updates.contains(static_cast<int>(i))) print_output(i);
    }
    put("  }}\n");
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
  }

  /// Constants that are one number, and what only spreads them.
  void find_numbers() {
    numbers_.resize(function_.values.size());
    for (const Op& op : function_.ops) {
      if (op.kind == OpKind::Constant) {
        const auto& literal = op.attrs.get<LiteralRef>(AttrKey::Value);
        if (literal->splat) numbers_[op.results[0].index] = attr_text(graph_, literal);
      } else if (op.kind == OpKind::BroadcastInDim) {
        numbers_[op.results[0].index] = numbers_[op.operands[0].index];
      }
    }
  }
  bool is_drawn(const Op& op) const {
    return op.results.empty() || numbers_[op.results[0].index].empty();
  }

  void print_input(size_t i) {
    const Input& input = function_.inputs[i];
    put("    f{}_i{} [shape=ellipse, fillcolor=\"{}\", label={}];\n", prefix_, i,
        fill_of(input.role), dot_quoted(input.name + "\n" + function_.type_of(input.value).text()));
    sources_[input.value] = fmt::format("f{}_i{}", prefix_, i);
  }

  /// Layers in the order in which they first occur; an op outside layers stands alone. Edges come
  /// after all nodes, so that they do not draw a node into a cluster.
  void print_ops() {
    std::map<std::string, std::vector<size_t>> members;
    std::vector<std::string> order;
    for (size_t i = 0; i < function_.ops.size(); ++i) {
      const Op& op = function_.ops[i];
      if (!is_drawn(op)) continue;
      for (ValueId v : op.results) sources_[v] = fmt::format("f{}_o{}", prefix_, i);
      const std::string layer =
          op.layer.empty() ? "" : fmt::format("{} ({})", op.layer, name_of(op.phase));
      std::vector<size_t>& list = members[layer];
      if (list.empty()) order.push_back(layer);
      list.push_back(i);
    }
    for (size_t i = 0; i < order.size(); ++i) print_layer(i, order[i], members[order[i]]);
    for (size_t i = 0; i < function_.ops.size(); ++i) {
      if (is_drawn(function_.ops[i])) print_edges(i);
    }
  }

  void print_layer(size_t index, const std::string& layer, const std::vector<size_t>& ops) {
    if (!layer.empty()) {
      put("    subgraph cluster_{}_{} {{\n      style=dashed; label={};\n", prefix_, index,
          dot_quoted(layer));
    }
    for (size_t i : ops) {
      const Op& op = function_.ops[i];
      put("      f{}_o{} [fillcolor=\"{}\", label={}];\n", prefix_, i, fill_of(op),
          dot_quoted(label_of(op)));
    }
    if (!layer.empty()) put("    }}\n");
  }

  std::string label_of(const Op& op) const {
    std::string label(spelled_kind(op));
    for (FunctionId id : functions_of(op)) label += " @" + graph_.function(id).name;
    for (ValueId v : op.operands) {
      if (!numbers_[v.index].empty()) label += " " + numbers_[v.index];
    }
    label += kept_text(op);
    for (ValueId v : op.results) label += "\n" + function_.type_of(v).text();
    return label;
  }

  /// Names of the parameters that the op takes, or how many there are.
  std::string kept_text(const Op& op) const {
    constexpr int MostNames = 3;
    std::string names;
    int count = 0;
    for (ValueId v : op.operands) {
      const auto found = kept_.find(v);
      if (found == kept_.end()) continue;
      names += "\n" + found->second;
      ++count;
    }
    return count > MostNames ? fmt::format("\n{} parameters", count) : names;
  }

  void print_edges(size_t i) {
    std::set<ValueId> drawn;  // a value used twice has one edge
    for (ValueId v : function_.ops[i].operands) {
      const auto source = sources_.find(v);
      if (source == sources_.end() || !drawn.insert(v).second) continue;
      put("    {} -> f{}_o{};\n", source->second, prefix_, i);
    }
  }

  void print_output(size_t i) {
    const Output& output = function_.outputs[i];
    put("    f{}_r{} [shape=ellipse, label={}];\n", prefix_, i, dot_quoted(output.name));
    const auto source = sources_.find(output.value);
    if (source != sources_.end()) put("    {} -> f{}_r{};\n", source->second, prefix_, i);
  }

  const Graph& graph_;
  const Function& function_;
  uint32_t prefix_;
  fmt::memory_buffer& out_;
  std::vector<std::string> numbers_;        ///< by value; empty: not one number
  std::map<ValueId, std::string> kept_;     ///< names of parameters
  std::map<ValueId, std::string> sources_;  ///< the node that makes a value
};

}  // namespace

std::string print_dot(const Graph& graph) {
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out),
                 "digraph {} {{\n  node [shape=box, style=filled, fillcolor=white, "
                 "fontname=\"Helvetica\"];\n",
                 dot_quoted(graph.name));
  for (size_t i = 0; i < graph.functions.size(); ++i) {
    FunctionDot(graph, FunctionId(i), out).print();
  }
  fmt::format_to(std::back_inserter(out), "}}\n");
  return fmt::to_string(out);
}

}  // namespace wafer::ir
