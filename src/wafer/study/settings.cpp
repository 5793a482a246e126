#include "wafer/study/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wafer/base/error.h"
#include "wafer/study/axis.h"

namespace wafer::study {
namespace {

using Kind = Setting::Kind;

int64_t whole(double value) { return static_cast<int64_t>(value); }

template <typename T>
T expect(std::optional<T> value, const char* name, const char* expected, const std::string& found) {
  if (value) return *value;
  throw InputError(fmt::format("{}: expected {}, found \"{}\"", name, expected, found));
}

std::optional<plan::Sharding> sharding_named(std::string_view name) {
  for (const plan::Sharding s : Shardings) {
    if (plan::name_of(s) == name) return s;
  }
  return std::nullopt;
}

std::optional<bool> switch_named(std::string_view name) {
  if (name == "on") return true;
  return name == "off" ? std::optional<bool>(false) : std::nullopt;
}

void set_model(Question& q, const std::string& word) {
  if (word.empty()) throw InputError("model: expected a name or a file, found nothing");
  q.model = word;
}

void set_phase(Question& q, const std::string& word) {
  q.phase = expect(phase_named(word), "phase", "train or infer", word);
}

void set_mode(Question& q, const std::string& word) {
  q.mode = expect(mode_named(word), "mode", "auto, streamed, pipelined or resident", word);
}

void set_cores(Question& q, const std::string& word) { q.cores = cores_of(word, "--axis cores"); }

void set_precision(Question& q, const std::string& word) {
  q.precision =
      expect(precision_named(word), "precision", "16bit, f16, bf16, cb16, f32 or tf32", word);
}

void set_sparsity(Question& q, const std::string& word) {
  q.sparsity = sparsity_in(word, "sparsity");
}

void set_recompute(Question& q, const std::string& word) {
  q.recompute = expect(recompute_named(word), "recompute", "none, selective or full", word);
}

void set_sharding(Question& q, const std::string& word) {
  q.cluster.sharding =
      expect(sharding_named(word), "sharding", "none, optimizer, gradients or full", word);
}

void set_sequence(Question& q, const std::string& word) {
  q.cluster.sequence = expect(switch_named(word), "sequence-parallel", "on or off", word);
}

// One line a setting; a new option of the question gets a line here.
constexpr std::array Settings = {
    Setting{"model", Kind::Model, nullptr, set_model},
    Setting{"machine", Kind::Machine},
    Setting{"systems", Kind::Count, [](Question& q, double v) { q.systems = whole(v); }},
    Setting{"phase", Kind::Word, nullptr, set_phase},
    Setting{"mode", Kind::Word, nullptr, set_mode},
    Setting{"cores", Kind::Word, nullptr, set_cores},
    Setting{"batch", Kind::Count, [](Question& q, double v) { q.batch = whole(v); }},
    Setting{"seq", Kind::Count, [](Question& q, double v) { q.seq = whole(v); }},
    Setting{"precision", Kind::Word, nullptr, set_precision},
    Setting{"sparsity", Kind::Number, [](Question& q, double v) { q.sparsity = v; }, set_sparsity},
    Setting{"micro-batch", Kind::Count, [](Question& q, double v) { q.micro_batch = whole(v); }},
    Setting{"recompute", Kind::Word, nullptr, set_recompute},
    Setting{"region", Kind::Count, [](Question& q, double v) { q.region = whole(v); }},
    Setting{"epoch-samples", Kind::Number, [](Question& q, double v) { q.epoch_samples = v; }},
    Setting{"tokens", Kind::Number, [](Question& q, double v) { q.tokens = v; }},
    Setting{"host-latency", Kind::Number, [](Question& q, double v) { q.host_latency = v; }},
    Setting{"tp", Kind::Count, [](Question& q, double v) { q.cluster.tensor = whole(v); }},
    Setting{"pp", Kind::Count, [](Question& q, double v) { q.cluster.pipeline = whole(v); }},
    Setting{"dp", Kind::Count, [](Question& q, double v) { q.cluster.data = whole(v); }},
    Setting{"interleaving", Kind::Count,
            [](Question& q, double v) { q.cluster.interleaving = whole(v); }},
    Setting{"sequence-parallel", Kind::Word, nullptr, set_sequence},
    Setting{"sharding", Kind::Word, nullptr, set_sharding},
    Setting{"length-variation", Kind::Number,
            [](Question& q, double v) { q.cluster.length_variation = v; }},
};

}  // namespace

const Setting* setting_named(std::string_view name) {
  std::string hyphened(name);
  std::replace(hyphened.begin(), hyphened.end(), '_', '-');
  const auto found = std::find_if(Settings.begin(), Settings.end(),
                                  [&](const Setting& s) { return hyphened == s.name; });
  return found == Settings.end() ? nullptr : &*found;
}

void set_word(const Setting& setting, Question& question, const std::string& word,
              std::string_view lead) {
  try {
    setting.word(question, word);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}{}", lead, e.what()));
  }
}

std::vector<std::string> axis_names() {
  std::vector<std::string> names;
  for (const Setting& s : Settings) names.emplace_back(s.name);
  return names;
}

}  // namespace wafer::study
