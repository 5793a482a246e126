#include "wafer/compile/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "wafer/base/error.h"
#include "wafer/compile/sections.h"
#include "wafer/ir/convolution.h"

namespace wafer::compile {
namespace {

using ir::AttrKey;
using ir::ElementFn;
using ir::Function;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using Kind = PassStep::Kind;

constexpr size_t None = SIZE_MAX;

/// An activation: a tensor in memory, or element-wise ops on such that have not run yet. Views
/// share one; null stands for what depends on parameters and constants only.
struct Tensor {
  double elements = 0;
  bool shared = false;                  ///< split over tensor ranks
  bool pending = false;                 ///< ops on `sources` that have not run
  bool linear = true;                   ///< their gradient needs no operand
  bool kept = false;                    ///< counted as kept for the backward pass
  const LayerProfile* maker = nullptr;  ///< the layer whose product made it, and
  size_t product = None;                ///< which of its steps that is
  size_t column = 0;                    ///< and which of its matrices
  std::vector<std::shared_ptr<Tensor>> sources;
};
using TensorPtr = std::shared_ptr<Tensor>;

double count(const Function& f, ValueId v) { return static_cast<double>(f.type_of(v).elements()); }

double dim(const Function& f, ValueId v, size_t d) {
  return static_cast<double>(f.type_of(v).shape[d].value());
}

TensorPtr tensor(double elements, bool shared) {
  auto t = std::make_shared<Tensor>();
  t->elements = elements;
  t->shared = shared;
  return t;
}

std::string name_of(const Op& op) {
  return op.scope.empty() ? std::string(ir::name_of(op.kind)) : op.scope;
}

/// Follows one function's ops and writes their steps into a layer.
class Follower {
 public:
  Follower(const ir::Graph& graph, LayerProfile& layer) : graph_(graph), layer_(layer) {}

  std::vector<TensorPtr> run(const Function& f, const std::vector<TensorPtr>& inputs) {
    std::vector<TensorPtr> values(f.values.size());
    for (size_t i = 0; i < inputs.size(); ++i) values[f.inputs[i].value.index] = inputs[i];
    for (const Op& op : f.ops) follow(f, op, values);
    std::vector<TensorPtr> outputs;
    for (const ir::Output& o : f.outputs) {
      const TensorPtr& t = values[o.value.index];
      if (t) finish(t, "residual");
      outputs.push_back(t);
    }
    return outputs;
  }

  /// Runs what is pending, as one pass: its operands are read, its result is written.
  void finish(const TensorPtr& t, const std::string& name) {
    if (!t->pending) return;
    PassStep step{.name = name,
                  .kind = t->linear ? Kind::Linear : Kind::Nonlinear,
                  .elements = t->elements,
                  .read = 0,
                  .operands = static_cast<int>(t->sources.size()),
                  .shared = t->shared};
    for (const TensorPtr& source : t->sources) {
      step.read += source->elements;
      if (!t->linear) keep(source);
    }
    layer_.steps.emplace_back(std::move(step));
    t->pending = false;
    t->sources.clear();
  }

  void follow(const Function& f, const Op& op, std::vector<TensorPtr>& values) {
    std::vector<TensorPtr> operands;
    for (ValueId v : op.operands) operands.push_back(values[v.index]);
    const bool active = std::any_of(operands.begin(), operands.end(),
                                    [](const TensorPtr& t) { return t != nullptr; });
    if (!active) return;
    if (op.kind == OpKind::Call) {
      const Function& callee = graph_.function(op.attrs.get<ir::FunctionId>(AttrKey::Body));
      const std::vector<TensorPtr> results = run(callee, operands);
      for (size_t i = 0; i < results.size(); ++i) values[op.results[i].index] = results[i];
      return;
    }
    const TensorPtr result = result_of(f, op, operands);
    for (ValueId r : op.results) values[r.index] = result;
  }

 private:
  TensorPtr result_of(const Function& f, const Op& op, const std::vector<TensorPtr>& operands) {
    switch (op.kind) {
      case OpKind::DotGeneral:
        return dot(f, op, operands);
      case OpKind::Convolution:
        return convolution(f, op, operands);
      case OpKind::Attention:
        return attention(f, op, operands);
      case OpKind::LayerNorm:
      case OpKind::RmsNorm:
      case OpKind::BatchNorm:
        return norm(op, operands[0], Kind::Norm);
      case OpKind::Softmax:
        return norm(op, operands[0], Kind::Softmax);
      case OpKind::CrossEntropy:
        return loss(op, operands[0], count(f, op.results[0]));
      case OpKind::Gather:
        return lookup(op, operands, count(f, op.results[0]));
      case OpKind::Reshape:
      case OpKind::Transpose:
      case OpKind::Convert:
        return operands[0];
      case OpKind::Slice:
      case OpKind::BroadcastInDim:
        return part(operands[0], count(f, op.results[0]), op);
      case OpKind::Elementwise:
        return elementwise(f, op, operands);
      case OpKind::Gelu:
        return pending(operands, false, count(f, op.results[0]));
      case OpKind::Concatenate:
      case OpKind::Pad:
      case OpKind::Reverse:
        return pending(operands, true, count(f, op.results[0]));
      default:
        return pass(f, op, operands);
    }
  }

  static void set_maker(Tensor& t, const LayerProfile* maker, size_t product, size_t column) {
    t.maker = maker;
    t.product = product;
    t.column = column;
  }

  void keep(const TensorPtr& t) {
    if (t->kept) return;
    t->kept = true;
    (t->shared ? layer_.kept.shared : layer_.kept.whole) += t->elements;
  }

  /// Element-wise ops wait until somebody reads their result, and then run as one.
  TensorPtr pending(const std::vector<TensorPtr>& operands, bool linear, double elements) {
    TensorPtr result = tensor(elements, false);
    result->pending = true;
    result->linear = linear;
    size_t active = 0;
    for (const TensorPtr& t : operands) {
      if (!t) continue;
      ++active;
      result->shared = result->shared || t->shared;
      result->linear = result->linear && t->linear;
      for (const TensorPtr& source : t->pending ? t->sources : std::vector<TensorPtr>{t}) {
        const auto& known = result->sources;
        if (std::find(known.begin(), known.end(), source) == known.end()) {
          result->sources.push_back(source);
        }
      }
      set_maker(*result, t->maker, t->product, t->column);
    }
    if (active != 1) result->product = None;
    return result;
  }

  TensorPtr elementwise(const Function& f, const Op& op, const std::vector<TensorPtr>& operands) {
    const auto active = static_cast<size_t>(std::count_if(
        operands.begin(), operands.end(), [](const TensorPtr& t) { return t != nullptr; }));
    const auto fn = op.attrs.get<ElementFn>(AttrKey::Fn);
    const TensorPtr& first = operands[0] ? operands[0] : operands.back();
    if (fn == ElementFn::Add && active == 1 && first && !first->pending && is_product(first)) {
      std::get<ProductStep>(layer_.steps[first->product]).bias = true;
      return first;  // a product adds its bias before it writes its result
    }
    const bool sum = fn == ElementFn::Add || fn == ElementFn::Subtract || fn == ElementFn::Negate;
    const bool scaled = (fn == ElementFn::Multiply || fn == ElementFn::Divide) && active == 1;
    return pending(operands, sum || scaled, count(f, op.results[0]));
  }

  bool is_product(const TensorPtr& t) const { return t->maker == &layer_ && t->product != None; }

  /// A slice, or a smaller tensor broadcast: what is read of it.
  TensorPtr part(const TensorPtr& whole, double elements, const Op& op) {
    if (elements == whole->elements) return whole;
    finish(whole, name_of(op));
    TensorPtr result = tensor(std::min(elements, whole->elements), whole->shared);
    set_maker(*result, whole->maker, whole->product, whole->column);
    return result;
  }

  TensorPtr norm(const Op& op, const TensorPtr& x, Kind kind) {
    finish(x, name_of(op));
    keep(x);
    layer_.steps.emplace_back(PassStep{.name = name_of(op),
                                       .kind = kind,
                                       .elements = x->elements,
                                       .read = x->elements,
                                       .operands = 1,
                                       .shared = x->shared});
    return tensor(x->elements, x->shared);
  }

  TensorPtr loss(const Op& op, const TensorPtr& logits, double rows) {
    finish(logits, name_of(op));
    layer_.steps.emplace_back(PassStep{.name = name_of(op),
                                       .kind = Kind::Loss,
                                       .elements = logits->elements,
                                       .read = logits->elements,
                                       .operands = 1,
                                       .shared = logits->shared});
    return tensor(rows, false);
  }

  TensorPtr lookup(const Op& op, const std::vector<TensorPtr>& operands, double elements) {
    if (operands[0]) finish(operands[0], name_of(op));
    layer_.steps.emplace_back(PassStep{.name = name_of(op),
                                       .kind = Kind::Lookup,
                                       .elements = elements,
                                       .read = elements,
                                       .operands = 1});
    return tensor(elements, operands[0] && operands[0]->shared);
  }

  /// Any other op: reads what it is given and writes what it makes.
  TensorPtr pass(const Function& f, const Op& op, const std::vector<TensorPtr>& operands) {
    PassStep step{.name = name_of(op), .kind = Kind::Linear, .operands = 0};
    for (const TensorPtr& t : operands) {
      if (!t) continue;
      finish(t, name_of(op));
      step.read += t->elements;
      ++step.operands;
      step.shared = step.shared || t->shared;
    }
    for (ValueId r : op.results) step.elements += count(f, r);
    const TensorPtr result = tensor(step.elements, step.shared);
    layer_.steps.emplace_back(std::move(step));
    return result;
  }

  TensorPtr attention(const Function& f, const Op& op, const std::vector<TensorPtr>& operands) {
    AttentionStep step{.name = name_of(op),
                       .batch_heads = dim(f, op.operands[0], 0) * dim(f, op.operands[0], 1),
                       .batch_kv_heads = dim(f, op.operands[1], 0) * dim(f, op.operands[1], 1),
                       .queries = dim(f, op.operands[0], 2),
                       .keys = dim(f, op.operands[1], 2),
                       .depth = dim(f, op.operands[0], 3),
                       .value_depth = dim(f, op.operands[2], 3),
                       .causal = op.attrs.get_or<bool>(AttrKey::Causal, false)};
    for (size_t i = 0; i < 3; ++i) {
      const TensorPtr& t = operands[i];
      if (!t) continue;
      if (is_product(t)) {
        std::get<ProductStep>(layer_.steps[t->product]).grains[t->column] =
            i == 2 ? step.value_depth : step.depth;
      }
      finish(t, name_of(op));
      keep(t);
      step.shared = step.shared || t->shared;
    }
    const bool shared = step.shared;
    layer_.steps.emplace_back(std::move(step));
    return tensor(count(f, op.results[0]), shared);
  }

  TensorPtr dot(const Function& f, const Op& op, const std::vector<TensorPtr>& operands) {
    double k = 1, batch = 1;
    for (int64_t d : op.attrs.get<ir::DimPairs>(AttrKey::Contract).lhs) {
      k *= dim(f, op.operands[0], static_cast<size_t>(d));
    }
    for (int64_t d : op.attrs.get_or<ir::DimPairs>(AttrKey::Batch, {}).lhs) {
      batch *= dim(f, op.operands[0], static_cast<size_t>(d));
    }
    const size_t left = operands[0] ? 0 : 1;
    const double m = count(f, op.operands[left]) / (batch * k);
    const double n = count(f, op.operands[1 - left]) / (batch * k);
    const plan::Product shape{.m = m, .n = n, .k = k, .batch = batch};
    if (operands[0] && operands[1]) return local(op, shape, operands);
    return weighted(op, shape, operands[left]);
  }

  TensorPtr local(const Op& op, const plan::Product& shape,
                  const std::vector<TensorPtr>& operands) {
    bool shared = false;
    for (const TensorPtr& t : operands) {
      finish(t, name_of(op));
      keep(t);
      shared = shared || t->shared;
    }
    layer_.steps.emplace_back(ProductStep{.name = name_of(op),
                                          .shape = shape,
                                          .weight = false,
                                          .shared = shared,
                                          .columns = {shape.n},
                                          .grains = {0}});
    return tensor(shape.batch * shape.m * shape.n, shared);
  }

  TensorPtr weighted(const Op& op, const plan::Product& shape, const TensorPtr& x) {
    finish(x, name_of(op));
    keep(x);
    Split split = Split::None;
    if (layer_.repeated) split = x->shared ? Split::Rows : Split::Columns;
    // Outside layers only a matrix wider than its rows, a vocabulary, is dealt to ranks.
    if (!layer_.repeated && !x->shared && shape.n > shape.k) split = Split::Columns;
    const bool shared = split == Split::Columns || (split == Split::None && x->shared);
    TensorPtr result = tensor(shape.batch * shape.m * shape.n, shared);
    ProductStep* joined = split == Split::Columns ? product_of(x, shape) : nullptr;
    if (joined != nullptr) {
      joined->shape.n += shape.n;
      joined->columns.push_back(shape.n);
      joined->grains.push_back(0);
      set_maker(*result, &layer_, readers_.at(x.get()), joined->columns.size() - 1);
      return result;
    }
    if (split == Split::Columns) readers_[x.get()] = layer_.steps.size();
    set_maker(*result, &layer_, layer_.steps.size(), 0);
    layer_.steps.emplace_back(ProductStep{
        .name = name_of(op), .shape = shape, .split = split, .columns = {shape.n}, .grains = {0}});
    inputs_.push_back(x);  // readers_ knows it by its address
    return result;
  }

  /// The product that reads the same operand, which this one can be a part of.
  ProductStep* product_of(const TensorPtr& x, const plan::Product& shape) {
    const auto found = readers_.find(x.get());
    if (found == readers_.end()) return nullptr;
    auto& step = std::get<ProductStep>(layer_.steps[found->second]);
    const bool alike = step.shape.k == shape.k && step.shape.m == shape.m && shape.batch == 1 &&
                       step.shape.batch == 1;
    return alike ? &step : nullptr;
  }

  TensorPtr convolution(const Function& f, const Op& op, const std::vector<TensorPtr>& operands) {
    WAFER_CHECK(operands[0] != nullptr, "a convolution reads an activation");
    const auto spec = ir::convolution_spec(op.attrs, f.type_of(op.operands[0]).rank());
    const double features = dim(f, op.operands[1], spec.kernel.batch);
    const plan::Product shape{.m = count(f, op.results[0]) / features,
                              .n = features,
                              .k = count(f, op.operands[1]) / features};
    return weighted(op, shape, operands[0]);
  }

  const ir::Graph& graph_;
  LayerProfile& layer_;
  std::map<const Tensor*, size_t> readers_;
  std::vector<TensorPtr> inputs_;
};

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
    std::vector<TensorPtr> values(main_.values.size());
    for (const ir::Input& input : main_.inputs) {
      if (input.role != ir::Role::Data) continue;
      values[input.value.index] = tensor(count(main_, input.value), false);
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

  void follow(size_t i, std::vector<TensorPtr>& values) {
    const size_t s = section_of_[i];
    if (s == None) return;
    const Op& op = main_.ops[i];
    if (sections_[s].repeated && i != sections_[s].ops[0]) {  // as the first one
      for (ValueId r : op.results) values[r.index] = tensor(count(main_, r), false);
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
