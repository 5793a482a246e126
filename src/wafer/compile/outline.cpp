#include "wafer/compile/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "wafer/base/error.h"

namespace wafer::compile {
namespace {

using ir::AttrKey;
using ir::Function;
using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

uint64_t mix(uint64_t seed, uint64_t x) {
  seed ^= x + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2);
  return seed * 0xff51afd7ed558ccdULL;
}

uint64_t hash_of(std::string_view text) {
  uint64_t h = 1469598103934665603ULL;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

uint64_t hash_of(const TensorType& type) { return hash_of(type.text()); }

uint64_t hash_of(const ir::Literal& literal) {
  uint64_t h = mix(hash_of(literal.type), (literal.splat ? 2 : 0) + (literal.elided ? 1 : 0));
  for (double x : literal.floats)
    h = mix(h, hash_of(std::string_view(reinterpret_cast<const char*>(&x), sizeof x)));
  for (int64_t x : literal.integers) h = mix(h, static_cast<uint64_t>(x));
  return h;
}

struct AttrHasher {
  uint64_t operator()(bool x) const { return x ? 11 : 13; }
  uint64_t operator()(int64_t x) const { return static_cast<uint64_t>(x) * 17; }
  uint64_t operator()(double x) const { return hash_of(fmt::format("{}", x)); }
  uint64_t operator()(const std::string& x) const { return hash_of(x); }
  uint64_t operator()(const ir::Ints& xs) const {
    uint64_t h = xs.size();
    for (int64_t x : xs) h = mix(h, static_cast<uint64_t>(x));
    return h;
  }
  uint64_t operator()(const ir::DimPairs& x) const { return mix((*this)(x.lhs), (*this)(x.rhs)); }
  uint64_t operator()(ir::ElementFn x) const { return static_cast<uint64_t>(x) + 101; }
  uint64_t operator()(ir::FunctionId x) const { return x.index + 1009ULL; }
  uint64_t operator()(const std::vector<ir::FunctionId>& xs) const {
    uint64_t h = 7;
    for (ir::FunctionId x : xs) h = mix(h, x.index);
    return h;
  }
  uint64_t operator()(const ir::LiteralRef& x) const { return hash_of(*x); }
};

/// What an op is, without which values it reads (constants count by their content).
uint64_t structure_of(const Function& f, const Op& op) {
  uint64_t h = mix(static_cast<uint64_t>(op.kind), static_cast<uint64_t>(op.phase));
  for (const auto& [key, value] : op.attrs) {
    h = mix(mix(h, static_cast<uint64_t>(key)), std::visit(AttrHasher(), value));
  }
  for (ValueId v : op.operands) h = mix(h, hash_of(f.type_of(v)));
  for (ValueId v : op.results) h = mix(h, hash_of(f.type_of(v)));
  return h;
}

/// The ops of main without constants, which are read by content wherever they stand.
struct Sequence {
  std::vector<uint32_t> ops;      ///< indices into main.ops
  std::vector<uint64_t> hashes;   ///< structure, of each
  std::vector<int64_t> position;  ///< of each op of main in `ops`, -1 for a constant
};

Sequence sequence_of(const Function& f) {
  Sequence s;
  s.position.assign(f.ops.size(), -1);
  for (uint32_t i = 0; i < f.ops.size(); ++i) {
    if (f.ops[i].kind == OpKind::Constant) continue;
    s.position[i] = static_cast<int64_t>(s.ops.size());
    s.ops.push_back(i);
    s.hashes.push_back(structure_of(f, f.ops[i]));
  }
  return s;
}

/// ops [start, start + period * times) of the sequence repeat with `period`.
struct Run {
  size_t start = 0;
  size_t period = 0;
  size_t times = 0;
  size_t covered() const { return period * times; }
};

bool is_heavy(OpKind kind) { return kind == OpKind::DotGeneral || kind == OpKind::Convolution; }

/// Distances between neighbouring products of equal structure: the only periods that matter.
std::set<size_t> candidate_periods(const Function& f, const Sequence& s) {
  std::map<uint64_t, size_t> last;
  std::map<size_t, size_t> votes;
  for (size_t i = 0; i < s.ops.size(); ++i) {
    if (!is_heavy(f.ops[s.ops[i]].kind)) continue;
    const auto [at, fresh] = last.try_emplace(s.hashes[i], i);
    if (!fresh) ++votes[i - at->second], at->second = i;
  }
  // A layer may hold several equal products (q, k, v): sums of neighbouring gaps are periods too.
  std::map<uint64_t, std::vector<size_t>> places;
  for (size_t i = 0; i < s.ops.size(); ++i) {
    if (is_heavy(f.ops[s.ops[i]].kind)) places[s.hashes[i]].push_back(i);
  }
  for (const auto& [hash, at] : places) {
    for (size_t skip = 2; skip <= 8; ++skip) {
      for (size_t i = 0; i + skip < at.size(); ++i) ++votes[at[i + skip] - at[i]];
    }
  }
  std::vector<std::pair<size_t, size_t>> ranked;
  for (const auto& [period, count] : votes) ranked.push_back({count, period});
  std::sort(ranked.rbegin(), ranked.rend());
  std::set<size_t> periods;
  constexpr size_t MostPeriods = 64;
  for (size_t i = 0; i < ranked.size() && i < MostPeriods; ++i) periods.insert(ranked[i].second);
  return periods;
}

/// All maximal stretches with h[i] == h[i + period], long enough to hold two periods.
std::vector<Run> runs_of(const Sequence& s, size_t period) {
  std::vector<Run> runs;
  size_t begin = 0;
  const size_t n = s.hashes.size();
  for (size_t i = 0; i + period <= n; ++i) {
    const bool equal = i + period < n && s.hashes[i] == s.hashes[i + period];
    if (equal) continue;
    const size_t length = i - begin + period;  // ops that take part
    if (i > begin && length >= 2 * period) runs.push_back({begin, period, length / period});
    begin = i + 1;
  }
  return runs;
}

/// How an operand of an op in one instance is found; equal in every instance but for the first.
struct Wire {
  enum class Kind : uint8_t { Constant, Inside, Carried, Outside } kind = Kind::Outside;
  size_t op = 0;       ///< Inside, Carried: position in the period; Constant: index in main.ops
  size_t result = 0;   ///< which result of it
  ValueId value = {};  ///< Outside, Carried
};

class Matcher {
 public:
  Matcher(const Function& f, const Sequence& s, const Run& run) : f_(f), s_(s), run_(run) {}

  Wire wire(size_t instance, ValueId v) const {
    const ir::OpId producer = f_.values[v.index].producer;
    if (!producer.valid()) return {.kind = Wire::Kind::Outside, .value = v};
    const Op& op = f_.op(producer);
    if (op.kind == OpKind::Constant) return {.kind = Wire::Kind::Constant, .op = producer.index};
    const size_t result = static_cast<size_t>(std::find(op.results.begin(), op.results.end(), v) -
                                              op.results.begin());
    const auto at = static_cast<size_t>(s_.position[producer.index]);
    const size_t begin = run_.start + instance * run_.period;
    if (at >= begin && at < begin + run_.period) {
      return {.kind = Wire::Kind::Inside, .op = at - begin, .result = result};
    }
    if (instance > 0 && at < begin && at >= begin - run_.period) {
      return {.kind = Wire::Kind::Carried,
              .op = at + run_.period - begin,
              .result = result,
              .value = v};
    }
    return {.kind = Wire::Kind::Outside, .value = v};
  }

  const Op& op(size_t instance, size_t i) const {
    return f_.ops[s_.ops[run_.start + instance * run_.period + i]];
  }

  /// Instances a and b wire alike: what is inside is inside in both, constants are equal.
  bool alike(size_t a, size_t b) const {
    for (size_t i = 0; i < run_.period; ++i) {
      const Op& x = op(a, i);
      const Op& y = op(b, i);
      for (size_t k = 0; k < x.operands.size(); ++k) {
        if (!alike(wire(a, x.operands[k]), wire(b, y.operands[k]))) return false;
      }
    }
    return true;
  }

 private:
  bool alike(const Wire& x, const Wire& y) const {
    const bool x_out = x.kind == Wire::Kind::Carried || x.kind == Wire::Kind::Outside;
    const bool y_out = y.kind == Wire::Kind::Carried || y.kind == Wire::Kind::Outside;
    if (x_out || y_out) return x_out && y_out;
    if (x.kind != y.kind) return false;
    if (x.kind == Wire::Kind::Inside) return x.op == y.op && x.result == y.result;
    return f_.ops[x.op].attrs == f_.ops[y.op].attrs;
  }

  const Function& f_;
  const Sequence& s_;
  const Run& run_;
};

/// How many activations cross each cut before a position of the sequence: few at a layer's edge.
std::vector<size_t> cut_widths(const Function& f, const Sequence& s) {
  std::vector<int64_t> last_use(f.values.size(), -1);
  for (size_t i = 0; i < s.ops.size(); ++i) {
    for (ValueId v : f.ops[s.ops[i]].operands) last_use[v.index] = static_cast<int64_t>(i);
  }
  for (const ir::Output& out : f.outputs)
    last_use[out.value.index] = static_cast<int64_t>(s.ops.size());
  std::vector<int64_t> delta(s.ops.size() + 2, 0);
  for (size_t i = 0; i < s.ops.size(); ++i) {
    for (ValueId v : f.ops[s.ops[i]].results) {
      const int64_t last = last_use[v.index];
      if (last <= static_cast<int64_t>(i)) continue;
      ++delta[i + 1];
      --delta[static_cast<size_t>(last) + 1];
    }
  }
  std::vector<size_t> widths(s.ops.size() + 1, 0);
  int64_t width = 0;
  for (size_t i = 0; i <= s.ops.size(); ++i) widths[i] = static_cast<size_t>(width += delta[i]);
  return widths;
}

/// Moves the start of a run, within what repeats, to the narrowest cut.
Run aligned(const Run& run, size_t length, const std::vector<size_t>& widths) {
  Run best = run;
  size_t best_times = 0;
  size_t best_width = SIZE_MAX;
  for (size_t shift = 0; shift < run.period && shift + 2 * run.period <= length; ++shift) {
    const size_t times = (length - shift) / run.period;
    const size_t width = widths[run.start + shift];
    if (width < best_width || (width == best_width && times > best_times)) {
      best = {run.start + shift, run.period, times};
      best_width = width;
      best_times = times;
    }
  }
  return best;
}

/// The longest stretch of instances of `run` that wire alike.
Run wired_alike(const Function& f, const Sequence& s, const Run& run) {
  const Matcher matcher(f, s, run);
  Run best{run.start, run.period, 1};
  size_t first = 0;
  for (size_t i = 1; i <= run.times; ++i) {
    if (i < run.times && matcher.alike(i - 1, i)) continue;
    if (i - first > best.times) best = {run.start + first * run.period, run.period, i - first};
    first = i;
  }
  return best;
}

bool has_parameter_product(const Function& f, const Sequence& s, const Run& run) {
  for (size_t i = run.start; i < run.start + run.period; ++i) {
    if (is_heavy(f.ops[s.ops[i]].kind)) return true;
  }
  return false;
}

std::optional<Run> best_run(const Function& f, const Sequence& s) {
  const std::vector<size_t> widths = cut_widths(f, s);
  std::optional<Run> best;
  for (size_t period : candidate_periods(f, s)) {
    for (const Run& run : runs_of(s, period)) {
      if (best && run.covered() + run.period <= best->covered()) continue;
      const size_t stretch = [&] {
        size_t end = run.start;
        while (end + period < s.hashes.size() && s.hashes[end] == s.hashes[end + period]) ++end;
        return end - run.start + period;
      }();
      const Run candidate = wired_alike(f, s, aligned(run, stretch, widths));
      if (candidate.times < 2 || !has_parameter_product(f, s, candidate)) continue;
      const bool better =
          !best || candidate.covered() > best->covered() ||
          (candidate.covered() == best->covered() && candidate.period < best->period);
      if (better) best = candidate;
    }
  }
  return best;
}

/// Rewrites main so that the run's instances are calls of a new function.
class Rewriter {
 public:
  Rewriter(Graph& graph, const Sequence& s, const Run& run)
      : graph_(graph), f_(graph.entry()), s_(s), run_(run), matcher_(f_, s, run) {}

  void rewrite() {
    collect_inputs();
    collect_outputs();
    const ir::FunctionId callee = make_function();
    replace(callee);
  }

 private:
  /// Operand slots (op in period, operand index) that read from outside; equal slots in all
  /// instances share an input.
  void collect_inputs() {
    std::map<std::vector<ValueId>, size_t> seen;
    for (size_t i = 0; i < run_.period; ++i) {
      for (size_t k = 0; k < matcher_.op(0, i).operands.size(); ++k) {
        if (wire_kind(i, k) != Wire::Kind::Outside) continue;
        std::vector<ValueId> column;
        for (size_t n = 0; n < run_.times; ++n) column.push_back(matcher_.op(n, i).operands[k]);
        const auto [at, fresh] = seen.try_emplace(column, inputs_.size());
        if (fresh) inputs_.push_back(column);
        slot_input_[{i, k}] = at->second;
      }
    }
  }

  Wire::Kind wire_kind(size_t i, size_t k) const {
    const Wire w = matcher_.wire(0, matcher_.op(0, i).operands[k]);
    return w.kind == Wire::Kind::Carried ? Wire::Kind::Outside : w.kind;
  }

  /// Results that anything outside their own instance reads.
  void collect_outputs() {
    std::set<ValueId> used_outside;
    for (const ir::Output& out : f_.outputs) used_outside.insert(out.value);
    for (uint32_t reader = 0; reader < f_.ops.size(); ++reader) {
      for (ValueId v : f_.ops[reader].operands) {
        const ir::OpId producer = f_.values[v.index].producer;
        if (producer.valid() && instance_of(producer.index) != instance_of(reader))
          used_outside.insert(v);
      }
    }
    for (size_t i = 0; i < run_.period; ++i) {
      for (size_t r = 0; r < matcher_.op(0, i).results.size(); ++r) {
        for (size_t n = 0; n < run_.times; ++n) {
          if (used_outside.count(matcher_.op(n, i).results[r]) == 0) continue;
          outputs_.push_back({i, r});
          break;
        }
      }
    }
  }

  int64_t instance_of(uint32_t op) const {
    const int64_t at = s_.position[op];
    if (at < static_cast<int64_t>(run_.start)) return -1;
    const auto n = (static_cast<size_t>(at) - run_.start) / run_.period;
    return n < run_.times ? static_cast<int64_t>(n) : -1;
  }

  ir::FunctionId make_function() {
    Function body;
    body.name = fmt::format("repeated_{}", graph_.functions.size());
    std::map<ValueId, ValueId> map;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      input_values_.push_back(body.add_input(fmt::format("in{}", i), f_.type_of(inputs_[i][0])));
    }
    for (size_t i = 0; i < run_.period; ++i) {
      Op copy = matcher_.op(0, i);
      copy.layer.clear();
      for (size_t k = 0; k < copy.operands.size(); ++k) {
        copy.operands[k] = body_operand(body, map, i, k, copy.operands[k]);
      }
      const std::vector<ValueId> old_results = copy.results;
      std::vector<TensorType> types;
      for (ValueId v : old_results) types.push_back(f_.type_of(v));
      const ir::OpId id = body.append(std::move(copy), types);
      for (size_t r = 0; r < old_results.size(); ++r) map[old_results[r]] = body.op(id).results[r];
    }
    for (const auto& [i, r] : outputs_) {
      body.outputs.push_back(
          {fmt::format("out{}", body.outputs.size()), map.at(matcher_.op(0, i).results[r])});
    }
    callee_ = std::move(body);
    return ir::FunctionId(graph_.functions.size());
  }

  ValueId body_operand(Function& body, std::map<ValueId, ValueId>& map, size_t i, size_t k,
                       ValueId v) {
    if (wire_kind(i, k) == Wire::Kind::Outside) return input_values_[slot_input_.at({i, k})];
    const auto found = map.find(v);
    if (found != map.end()) return found->second;
    const Op& constant = f_.op(f_.values[v.index].producer);
    WAFER_CHECK(constant.kind == OpKind::Constant);
    const ir::OpId id = body.append(constant, {f_.type_of(v)});
    return map[v] = body.op(id).results[0];
  }

  void replace(ir::FunctionId callee) {
    const Function old = f_;
    Function fresh;
    fresh.name = old.name;
    std::vector<ValueId> map(old.values.size());
    for (const ir::Input& in : old.inputs) {
      const ValueId v = fresh.add_input(in.name, old.type_of(in.value), in.role);
      fresh.inputs.back().frozen = in.frozen;
      fresh.inputs.back().donated_output = in.donated_output;
      map[in.value.index] = v;
    }
    for (uint32_t i = 0; i < old.ops.size(); ++i) {
      const int64_t n = instance_of(i);
      if (n < 0) {
        copy_op(old, i, fresh, map);
      } else if ((static_cast<size_t>(s_.position[i]) - run_.start) % run_.period ==
                 run_.period - 1) {
        call_instance(old, static_cast<size_t>(n), callee, fresh, map);
      }
    }
    for (const ir::Output& out : old.outputs)
      fresh.outputs.push_back({out.name, map[out.value.index]});
    graph_.entry() = std::move(fresh);
    graph_.functions.push_back(std::move(callee_));
  }

  static void copy_op(const Function& old, uint32_t i, Function& fresh, std::vector<ValueId>& map) {
    Op copy = old.ops[i];
    std::vector<TensorType> types;
    for (ValueId& v : copy.operands) v = map[v.index];
    for (ValueId v : copy.results) types.push_back(old.type_of(v));
    const ir::OpId id = fresh.append(std::move(copy), types);
    for (size_t r = 0; r < types.size(); ++r)
      map[old.ops[i].results[r].index] = fresh.op(id).results[r];
  }

  void call_instance(const Function& old, size_t n, ir::FunctionId callee, Function& fresh,
                     std::vector<ValueId>& map) {
    const uint32_t first = s_.ops[run_.start + n * run_.period];
    Op call{.kind = OpKind::Call,
            .operands = {},
            .results = {},
            .attrs = {{AttrKey::Body, callee}},
            .phase = old.ops[first].phase,
            .layer = fmt::format("layer.{}", n),
            .scope = {},
            .location = old.ops[first].location};
    for (const std::vector<ValueId>& column : inputs_)
      call.operands.push_back(map[column[n].index]);
    std::vector<ValueId> results;
    std::vector<TensorType> types;
    for (const auto& [i, r] : outputs_) {
      results.push_back(old.ops[s_.ops[run_.start + n * run_.period + i]].results[r]);
      types.push_back(old.type_of(results.back()));
    }
    const ir::OpId id = fresh.append(std::move(call), types);
    for (size_t r = 0; r < results.size(); ++r) map[results[r].index] = fresh.op(id).results[r];
  }

  Graph& graph_;
  Function& f_;
  const Sequence& s_;
  const Run run_;
  Matcher matcher_;
  std::vector<std::vector<ValueId>> inputs_;  ///< of each input, the value in each instance
  std::map<std::pair<size_t, size_t>, size_t> slot_input_;
  std::vector<std::pair<size_t, size_t>> outputs_;  ///< (op in period, result)
  std::vector<ValueId> input_values_;
  Function callee_;
};

}  // namespace

Graph outline(const Graph& graph) {
  Graph result = graph;
  while (true) {
    const Sequence s = sequence_of(result.entry());
    const std::optional<Run> run = best_run(result.entry(), s);
    if (!run) return result;
    Rewriter(result, s, *run).rewrite();
  }
}

}  // namespace wafer::compile
