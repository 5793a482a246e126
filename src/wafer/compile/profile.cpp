#include "wafer/compile/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "wafer/base/error.h"
#include "wafer/compile/follower.h"
#include "wafer/compile/sections.h"

namespace wafer::compile {
namespace {

using ir::Function;
using ir::Op;
using ir::ValueId;

constexpr size_t None = SIZE_MAX;

/// The graph's layers in order, each followed once.
class Profiler {
 public:
  explicit Profiler(const ir::Graph& bound)
      : graph_(bound), main_(bound.entry()), sections_(find_sections(bound)) {}

  std::vector<LayerProfile> run() {
    section_of_.assign(main_.ops.size(), None);
    layers_.resize(sections_.size());
    for (size_t s = 0; s < sections_.size(); ++s) {
      for (uint32_t i : sections_[s].ops) section_of_[i] = s;
      layers_[s].name = sections_[s].name;
      layers_[s].times = sections_[s].layers();
      layers_[s].repeated = sections_[s].repeated;
      followers_.emplace_back(graph_, layers_[s]);
    }
    set_stages();
    std::vector<ActivationPtr> values(main_.values.size());
    for (const ir::Input& input : main_.inputs) {
      if (input.role != ir::Role::Data) continue;
      values[input.value.index] = activation(count(main_, input.value), false);
    }
    for (size_t i = 0; i < main_.ops.size(); ++i) follow(i, values);
    count_parameters();
    return std::move(layers_);
  }

 private:
  void set_stages() {
    const auto repeated = [](const LayerProfile& l) { return l.repeated; };
    const auto first = std::find_if(layers_.begin(), layers_.end(), repeated);
    for (auto l = layers_.begin(); l != layers_.end(); ++l) {
      if (!l->repeated) l->stage = l < first ? plan::Stage::First : plan::Stage::Last;
    }
  }

  void follow(size_t i, std::vector<ActivationPtr>& values) {
    const size_t s = section_of_[i];
    if (s == None) return;
    const Op& op = main_.ops[i];
    if (sections_[s].repeated && i != sections_[s].ops[0]) {  // as the first one
      for (ValueId r : op.results) values[r.index] = activation(count(main_, r), false);
      return;
    }
    for (ValueId v : op.operands) {  // what another section left pending runs there
      const ir::OpId producer = main_.values[v.index].producer;
      if (!values[v.index] || !producer.valid()) continue;
      const size_t made_in = section_of_[producer.index];
      if (made_in != None && made_in != s) followers_[made_in].finish(values[v.index], "sum");
    }
    followers_[s].follow(main_, op, values);
    if (!op.results.empty()) {
      layers_[s].passed_on = std::max(layers_[s].passed_on, count(main_, op.results[0]));
    }
  }

  void count_parameters() {
    std::vector<bool> is_parameter(main_.values.size(), false);
    for (const ir::Input& input : main_.inputs) {
      if (input.role == ir::Role::Parameter) is_parameter[input.value.index] = true;
    }
    for (size_t s = 0; s < sections_.size(); ++s) {
      if (!sections_[s].repeated) continue;
      for (ValueId v : main_.ops[sections_[s].ops[0]].operands) {
        if (is_parameter[v.index]) layers_[s].parameters += count(main_, v);
      }
    }
  }

  const ir::Graph& graph_;
  const Function& main_;
  const std::vector<Section> sections_;
  std::vector<size_t> section_of_;
  std::vector<LayerProfile> layers_;
  std::vector<Follower> followers_;
};

/// Samples that one run of a graph with a fixed batch takes: the leading dimension of its data.
int64_t fixed_batch(const Function& main) {
  for (const ir::Input& input : main.inputs) {
    const Shape& shape = main.type_of(input.value).shape;
    if (input.role == ir::Role::Data && !shape.empty()) return shape[0].value();
  }
  return 1;
}

void check_symbols(const ir::Graph& graph) {
  Problems problems;
  for (const std::string& s : ir::unbound_symbols(graph)) {
    if (s != ir::BatchSymbol) {
      problems.add(fmt::format("dimension {} is not bound: --dim {}=VALUE", s, s));
    }
  }
  problems.throw_if_any("the graph has unbound dimensions:");
}

}  // namespace

Flops LayerProfile::products() const {
  Flops sum;
  for (const Step& step : steps) {
    if (const auto* p = std::get_if<ProductStep>(&step)) sum += p->shape.flops();
  }
  return sum;
}

Flops LayerProfile::attention() const {
  Flops sum;
  for (const Step& step : steps) {
    if (const auto* a = std::get_if<AttentionStep>(&step)) sum += a->flops();
  }
  return sum;
}

double Profile::repeated() const {
  double sum = 0;
  for (const LayerProfile& l : layers) sum += l.repeated ? l.times : 0;
  return sum;
}

Profile profile(const ir::Graph& forward, int64_t tokens_per_sample) {
  check_symbols(forward);
  Profile result;
  result.tokens = tokens_per_sample;
  result.fixed = ir::unbound_symbols(forward).empty();
  const ir::Graph bound = ir::bind(forward, {{std::string(ir::BatchSymbol), 1}});
  if (result.fixed) result.unit = fixed_batch(bound.entry());
  for (const ir::Input& input : bound.entry().inputs) {
    if (input.role == ir::Role::Parameter) result.parameters += count(bound.entry(), input.value);
  }
  if (result.parameters == 0) throw InputError("the graph has no parameters");
  result.layers = Profiler(bound).run();
  for (const LayerProfile& layer : result.layers) {
    for (const Step& step : layer.steps) {
      const auto* a = std::get_if<AttentionStep>(&step);
      if (a == nullptr) continue;
      const auto heads = static_cast<int64_t>(a->batch_heads) / result.unit;
      result.heads = result.heads == 0 ? heads : std::min(result.heads, heads);
      result.generates = result.generates || a->causal;
    }
  }
  return result;
}

}  // namespace wafer::compile
