#include <fmt/format.h>

#include "wafer/base/error.h"
#include "wafer/models/spec.h"

namespace wafer::models {
namespace {

// Far beyond any published network, small enough that no count of elements overflows.
constexpr int64_t MostLayers = 10'000;
constexpr int64_t MostHeads = 65'536;
constexpr int64_t MostWidth = 1 << 20;
constexpr int64_t MostFfn = 1 << 23;
constexpr int64_t MostTokens = 1 << 24;
constexpr int64_t MostLabels = INT32_MAX;  // labels and tokens are i32

class Checker {
 public:
  void in_range(const char* what, int64_t value, int64_t most, int64_t least = 1) {
    if (value >= least && value <= most) return;
    problems_.add(fmt::format("{} must be between {} and {}, not {}", what, least, most, value));
  }
  template <typename... Args>
  void require(bool holds, fmt::format_string<Args...> text, Args&&... args) {
    if (!holds) problems_.add(fmt::format(text, std::forward<Args>(args)...));
  }
  bool ok() const { return problems_.empty(); }
  void throw_if_any(const std::string& name) const { problems_.throw_if_any(name); }

 private:
  Problems problems_;
};

void check_counts(Checker& c, const TransformerSpec& s) {
  c.in_range("layers", s.layers, MostLayers);
  c.in_range("hidden", s.hidden, MostWidth);
  c.in_range("heads", s.heads, MostHeads);
  c.in_range("kv_heads", s.kv_heads, MostHeads);
  c.in_range("ffn", s.ffn, MostFfn);
  c.in_range("labels", s.labels, MostLabels);
  c.in_range("token types", s.token_types, MostLabels, 0);
  c.in_range("positions", s.max_positions, MostTokens);
  c.in_range("default sequence", s.default_seq, MostTokens);
  if (!s.patches) c.in_range("vocab", s.vocab, MostLabels);
  if (s.window) c.in_range("sliding window", s.window->size, MostTokens);
  c.require(s.epsilon > 0 && s.epsilon < 1, "the epsilon of norms must be between 0 and 1, not {}",
            s.epsilon);
}

void check_scaling(Checker& c, const RopeScaling& s) {
  using Kind = RopeScaling::Kind;
  c.require(s.factor > 0, "the rotary factor must be positive, not {}", s.factor);
  c.require(s.kind != Kind::Llama3 || (s.low_frequency > 0 && s.high_frequency > s.low_frequency),
            "the rotary frequency bounds must ascend from above 0, not {}, {}", s.low_frequency,
            s.high_frequency);
  c.require(s.kind != Kind::Yarn || (s.beta_slow > 0 && s.beta_fast > s.beta_slow),
            "the rotary beta_slow and beta_fast must ascend from above 0, not {}, {}", s.beta_slow,
            s.beta_fast);
  c.in_range("original rotary positions", s.original_positions, MostTokens, 0);
}

void check_rotary(Checker& c, const Rotary& r, int64_t head_dim) {
  c.require(r.dims > 0 && r.dims % 2 == 0 && r.dims <= head_dim,
            "rotary dimensions must be even and at most the head's {}, not {}", head_dim, r.dims);
  c.require(r.theta > 1, "the rotary base must be above 1, not {}", r.theta);
  c.require(r.scaling.kind != RopeScaling::Kind::Dynamic || r.dims > 2,
            "dynamic rotary scaling needs more than {} rotary dimensions", r.dims);
  check_scaling(c, r.scaling);
}

void check_heads(Checker& c, const TransformerSpec& s) {
  c.require(s.head_dim > 0, "heads {} must divide hidden {}", s.heads, s.hidden);
  if (s.head_dim <= 0) return;
  c.in_range("head_dim", s.head_dim, MostWidth);
  c.in_range("heads times head_dim", s.heads * s.head_dim, MostFfn);
  c.require(s.heads % s.kv_heads == 0, "kv_heads {} must divide heads {}", s.kv_heads, s.heads);
  if (s.naming != Naming::Llama) {
    c.require(s.heads * s.head_dim == s.hidden, "heads {} of width {} do not make hidden {}",
              s.heads, s.head_dim, s.hidden);
    c.require(s.kv_heads == s.heads, "this family has as many kv_heads as heads: {}, not {}",
              s.heads, s.kv_heads);
  }
  if (s.rotary) check_rotary(c, *s.rotary, s.head_dim);
}

void check_patches(Checker& c, const Patches& p) {
  c.in_range("image", p.image, 1 << 16);
  c.in_range("patch", p.patch, 1 << 16);
  c.in_range("channels", p.channels, 1 << 16);
  c.require(p.patch > 0 && p.image >= p.patch, "an image of {} pixels has no patch of {}", p.image,
            p.patch);
  if (!c.ok()) return;
  c.in_range("tokens of an image", p.tokens(), MostTokens);
  c.in_range("values of a patch", p.patch * p.patch * p.channels, INT32_MAX);
}

void check_transformer(Checker& c, const TransformerSpec& s) {
  check_counts(c, s);
  if (s.patches) check_patches(c, *s.patches);
  if (c.ok()) check_heads(c, s);
}

void check_resnet(Checker& c, const ResNetSpec& s) {
  c.in_range("stages", static_cast<int64_t>(s.blocks.size()), 8);
  for (int64_t blocks : s.blocks) c.in_range("blocks of a stage", blocks, MostLayers);
  c.in_range("width", s.width, 1 << 12);
  c.in_range("channels", s.channels, 1 << 16);
  c.in_range("image", s.image, 1 << 16, 32);
  c.in_range("classes", s.classes, MostLabels);
}

}  // namespace

void check(const ModelSpec& spec) {
  Checker c;
  if (const auto* transformer = std::get_if<TransformerSpec>(&spec.network)) {
    check_transformer(c, *transformer);
  } else {
    check_resnet(c, std::get<ResNetSpec>(spec.network));
  }
  c.throw_if_any(spec.name);
}

}  // namespace wafer::models
