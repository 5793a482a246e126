#include "wafer/compile/repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace wafer::compile {
namespace {

using ir::Function;
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

/// ops [start, start + length) repeat with some period, at least twice.
struct Stretch {
  size_t start = 0;
  size_t length = 0;
};

/// All maximal stretches with h[i] == h[i + period], long enough to hold two periods.
std::vector<Stretch> stretches_of(const Sequence& s, size_t period) {
  std::vector<Stretch> stretches;
  size_t begin = 0;
  const size_t n = s.hashes.size();
  for (size_t i = 0; i + period <= n; ++i) {
    if (i + period < n && s.hashes[i] == s.hashes[i + period]) continue;
    if (i > begin && i - begin >= period) stretches.push_back({begin, i - begin + period});
    begin = i + 1;
  }
  return stretches;
}

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

/// The run within a stretch that starts at its narrowest cut.
Run aligned(const Stretch& stretch, size_t period, const std::vector<size_t>& widths) {
  Run best;
  size_t best_width = SIZE_MAX;
  for (size_t shift = 0; shift < period && shift + 2 * period <= stretch.length; ++shift) {
    const size_t times = (stretch.length - shift) / period;
    const size_t width = widths[stretch.start + shift];
    if (width < best_width || (width == best_width && times > best.times)) {
      best = {stretch.start + shift, period, times};
      best_width = width;
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

bool has_product(const Function& f, const Sequence& s, const Run& run) {
  for (size_t i = run.start; i < run.start + run.period; ++i) {
    if (is_heavy(f.ops[s.ops[i]].kind)) return true;
  }
  return false;
}

}  // namespace

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

Wire Matcher::wire(size_t instance, ValueId v) const {
  const ir::OpId producer = f_.values[v.index].producer;
  if (!producer.valid()) return {.kind = Wire::Kind::Outside, .value = v};
  const Op& op = f_.op(producer);
  if (op.kind == OpKind::Constant) return {.kind = Wire::Kind::Constant, .op = producer.index};
  const auto result =
      static_cast<size_t>(std::find(op.results.begin(), op.results.end(), v) - op.results.begin());
  const auto at = static_cast<size_t>(s_.position[producer.index]);
  const size_t begin = run_.start + instance * run_.period;
  if (at >= begin && at < begin + run_.period) {
    return {.kind = Wire::Kind::Inside, .op = at - begin, .result = result};
  }
  return {.kind = Wire::Kind::Outside, .value = v};
}

bool Matcher::alike(size_t a, size_t b) const {
  for (size_t i = 0; i < run_.period; ++i) {
    const Op& x = op(a, i);
    const Op& y = op(b, i);
    for (size_t k = 0; k < x.operands.size(); ++k) {
      if (!alike(wire(a, x.operands[k]), wire(b, y.operands[k]))) return false;
    }
  }
  return true;
}

bool Matcher::alike(const Wire& x, const Wire& y) const {
  if (x.kind != y.kind) return false;
  switch (x.kind) {
    case Wire::Kind::Outside:
      return true;
    case Wire::Kind::Inside:
      return x.op == y.op && x.result == y.result;
    case Wire::Kind::Constant:
      return f_.ops[x.op].attrs == f_.ops[y.op].attrs;
  }
  return false;
}

std::optional<Run> best_run(const Function& f, const Sequence& s) {
  const std::vector<size_t> widths = cut_widths(f, s);
  std::optional<Run> best;
  for (size_t period : candidate_periods(f, s)) {
    for (const Stretch& stretch : stretches_of(s, period)) {
      if (best && stretch.length < best->covered()) continue;
      const Run run = wired_alike(f, s, aligned(stretch, period, widths));
      if (run.times < 2 || !has_product(f, s, run)) continue;
      const bool better = !best || run.covered() > best->covered() ||
                          (run.covered() == best->covered() && run.period < best->period);
      if (better) best = run;
    }
  }
  return best;
}

}  // namespace wafer::compile
