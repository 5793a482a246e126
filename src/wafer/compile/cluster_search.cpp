#include "wafer/compile/cluster_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "wafer/base/error.h"

namespace wafer::compile {
namespace {

using plan::Recompute;
using plan::Sharding;

/// The largest micro-batch tried beside a replica's whole share.
constexpr int64_t LargestPower = 256;

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> all;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    all.push_back(d);
    if (d != n / d) all.push_back(n / d);
  }
  std::sort(all.begin(), all.end());
  return all;
}

template <typename T>
std::vector<T> pinned_or(const std::optional<T>& pinned, std::vector<T> free) {
  return pinned ? std::vector<T>{*pinned} : std::move(free);
}

/// Repeated layers, where they form one run: what a pipeline can cut.
int64_t cuttable_layers(const Profile& profile) {
  int64_t layers = 0;
  for (const LayerProfile& l : profile.layers) {
    if (!l.repeated) continue;
    if (layers > 0) return 1;
    layers = static_cast<int64_t>(l.times);
  }
  return std::max<int64_t>(layers, 1);
}

/// Grows a candidate part by part.
class Candidates {
 public:
  Candidates(const ClusterRequest& request, const Profile& profile, int64_t node)
      : r_(request), profile_(profile), node_(node), layers_(cuttable_layers(profile)) {}

  std::vector<ClusterChoice> training() {
    for (Sharding sharding :
         pinned_or(r_.sharding, {Sharding::None, Sharding::Optimizer, Sharding::Full})) {
      for (int64_t tensor : tensors()) {
        for (int64_t pipeline : pinned_or(r_.pipeline, divisors(layers_))) {
          add_spread({.tensor = tensor, .pipeline = pipeline, .sharding = sharding});
        }
      }
    }
    return std::move(all_);
  }

  std::vector<ClusterChoice> forward() {
    for (int64_t tensor : tensors()) {
      const int64_t data = r_.systems / tensor;
      const bool fits = r_.systems % tensor == 0 && data <= r_.batch;
      if (!fits || (r_.data && *r_.data != data)) continue;
      for (int64_t micro : micro_batches(replica_samples(r_.batch, data))) {
        all_.push_back({.parallel = {.tensor = tensor, .data = data}, .micro_batch = micro});
      }
    }
    return std::move(all_);
  }

 private:
  /// Heads are dealt whole. Where nothing pins it, ranks stay in a node in training.
  std::vector<int64_t> tensors() const {
    std::vector<int64_t> all;
    for (int64_t t : divisors(std::max<int64_t>(profile_.heads, 1))) {
      if (r_.systems % t == 0) all.push_back(t);
    }
    return pinned_or(r_.tensor, all);
  }

  void add_spread(plan::Parallelism p) {
    const int64_t ranks = p.tensor * p.pipeline;
    if (r_.systems % ranks != 0 || (!r_.tensor && !stays_in_node(p.tensor))) return;
    p.data = r_.systems / ranks;
    p.fused = r_.fused;
    if ((r_.data && *r_.data != p.data) || p.data > r_.batch) return;
    // Weights that are gathered for each layer are not dealt to tensor ranks or stages as well.
    const bool gathered = p.sharding == Sharding::Full || p.sharding == Sharding::Gradients;
    if (gathered && ranks > 1) return;
    if (!r_.sharding && p.sharding != Sharding::None && p.data == 1) return;
    for (int64_t interleaving : interleavings(p.pipeline)) {
      p.interleaving = interleaving;
      for (bool sequence : sequences(p.tensor)) {
        p.sequence = sequence;
        add_micro_batches(p);
      }
    }
  }

  /// Whether no group of ranks lies over two nodes.
  bool stays_in_node(int64_t tensor) const {
    return r_.systems <= node_ ? tensor <= r_.systems : node_ % tensor == 0;
  }

  std::vector<int64_t> interleavings(int64_t pipeline) const {
    if (pipeline == 1) return pinned_or(r_.interleaving, {1});
    return pinned_or(r_.interleaving, divisors(layers_ / pipeline));
  }

  /// Off where the tensor ranks were asked for and sequence parallelism was not.
  std::vector<bool> sequences(int64_t tensor) const {
    if (r_.sequence) return {*r_.sequence && tensor > 1};
    return tensor > 1 && !r_.tensor ? std::vector<bool>{false, true} : std::vector<bool>{false};
  }

  void add_micro_batches(const plan::Parallelism& p) {
    const int64_t share = replica_samples(r_.batch, p.data);
    for (int64_t micro : micro_batches(share)) {
      const int64_t count = divided_up(share, micro);
      if (p.interleaving > 1 && count % p.pipeline != 0) continue;
      std::vector<Recompute> policies = {Recompute::None, Recompute::Full};
      if (!p.fused) policies.insert(policies.begin() + 1, Recompute::Selective);
      for (Recompute policy : pinned_or(r_.recompute, policies)) {
        all_.push_back({.parallel = p, .micro_batch = micro, .recompute = policy});
      }
    }
  }

  /// Powers of two, each made smaller where as many micro-batches of that size hold the share.
  std::vector<int64_t> micro_batches(int64_t share) const {
    const auto only = [share](int64_t m) {
      return m <= share ? std::vector<int64_t>{m} : std::vector<int64_t>{};
    };
    if (r_.micro_batch) return only(*r_.micro_batch);
    if (profile_.fixed) return only(profile_.unit);
    std::vector<int64_t> all;
    for (int64_t m = 1; m <= std::min(share, LargestPower); m *= 2) {
      const int64_t even = divided_up(share, divided_up(share, m));
      if (all.empty() || all.back() != even) all.push_back(even);
    }
    if (all.back() != share) all.push_back(share);
    return all;
  }

  const ClusterRequest& r_;
  const Profile& profile_;
  const int64_t node_;
  const int64_t layers_;
  std::vector<ClusterChoice> all_;
};

void check_positive(Problems& problems, const char* option, std::optional<int64_t> value) {
  if (value && *value < 1) {
    problems.add(fmt::format("{} must be at least 1, not {}", option, *value));
  }
}

/// "--tp 2 x --dp 4", of what is pinned.
std::string pins(const ClusterRequest& r) {
  std::vector<std::string> words;
  if (r.tensor) words.push_back(fmt::format("--tp {}", *r.tensor));
  if (r.pipeline) words.push_back(fmt::format("--pp {}", *r.pipeline));
  if (r.data) words.push_back(fmt::format("--dp {}", *r.data));
  return fmt::format("{}", fmt::join(words, " x "));
}

}  // namespace

void check(const ClusterRequest& r, const Profile& profile, int64_t) {
  Problems problems;
  check_positive(problems, "--systems", r.systems);
  check_positive(problems, "--batch", r.batch);
  check_positive(problems, "--tp", r.tensor);
  check_positive(problems, "--pp", r.pipeline);
  check_positive(problems, "--dp", r.data);
  check_positive(problems, "--interleaving", r.interleaving);
  check_positive(problems, "--micro-batch", r.micro_batch);
  problems.throw_if_any("the request contradicts itself:");
  const int64_t tensor = r.tensor.value_or(1), pipeline = r.pipeline.value_or(1);
  const int64_t layers = cuttable_layers(profile);
  const int64_t pinned = tensor * pipeline * r.data.value_or(1);
  const bool all = r.tensor && r.pipeline && r.data;
  if (all ? pinned != r.systems : r.systems % pinned != 0) {
    problems.add(fmt::format("{} {} the {} GPUs of --systems", pins(r),
                             all ? fmt::format("are {} GPUs, not", pinned) : "do not divide",
                             r.systems));
  }
  if (profile.heads > 0 && profile.heads % tensor != 0) {
    problems.add(
        fmt::format("--tp {} does not divide the {} attention heads", tensor, profile.heads));
  }
  if (layers % pipeline != 0) {
    problems.add(fmt::format("--pp {} does not divide the {} equal layers", pipeline, layers));
  } else if (r.interleaving && (layers / pipeline) % *r.interleaving != 0) {
    problems.add(fmt::format("--interleaving {} does not divide the {} layers of a stage",
                             *r.interleaving, layers / pipeline));
  }
  if (r.interleaving && *r.interleaving > 1 && r.pipeline && pipeline == 1) {
    problems.add(fmt::format("--interleaving {} needs a pipeline: --pp is 1", *r.interleaving));
  }
  if (r.sequence.value_or(false) && r.tensor && tensor == 1) {
    problems.add("--sequence-parallel needs tensor ranks: --tp is 1");
  }
  if (r.data && *r.data > r.batch) {
    problems.add(
        fmt::format("--dp {} is more replicas than the {} samples of --batch", *r.data, r.batch));
  }
  problems.throw_if_any("the request does not suit the cluster or the network:");
}

std::vector<ClusterChoice> candidates(const ClusterRequest& request, const Profile& profile,
                                      int64_t node) {
  return Candidates(request, profile, node).training();
}

std::vector<ClusterChoice> serving_candidates(const ClusterRequest& request, const Profile& profile,
                                              int64_t node) {
  return Candidates(request, profile, node).forward();
}

}  // namespace wafer::compile
