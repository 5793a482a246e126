#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>

#include "wafer/base/error.h"
#include "wafer/base/nearest.h"
#include "wafer/models/models.h"

namespace wafer::models {
namespace {

constexpr std::array<std::string_view, 3> FreeForms = {"gpt", "bert", "llama"};
constexpr std::array<std::string_view, 4> Required = {"layers", "hidden", "heads", "vocab"};
constexpr std::array<std::string_view, 7> Keys = {"layers", "hidden", "heads",   "vocab",
                                                  "ffn",    "seq",    "kv_heads"};
constexpr std::array<std::string_view, 4> Changeable = {"layers", "vocab", "ffn", "seq"};

constexpr int64_t GptPositions = 2048;    // GPT-3's context
constexpr int64_t BertPositions = 512;    // BERT's
constexpr int64_t LlamaPositions = 2048;  // LLaMA's

using KeyValues = std::map<std::string, int64_t, std::less<>>;

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

template <typename List>
std::vector<std::string> strings(const List& list) {
  return {list.begin(), list.end()};
}

/// " (did you mean X?)" or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
}

int64_t value_of(const std::string& key, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw InputError(fmt::format("{} must be a whole number, not \"{}\"", key, text));
}

void add_pair(KeyValues& values, std::string_view pair) {
  const size_t equals = pair.find('=');
  const std::string key(pair.substr(0, equals));
  if (equals == std::string_view::npos) {
    throw InputError(fmt::format("expected key=value, found \"{}\"", pair));
  }
  if (!contains(Keys, key)) {
    throw InputError(fmt::format("there is no key \"{}\"{}; keys are {}", key,
                                 suggestion(key, strings(Keys)), fmt::join(Keys, ", ")));
  }
  const int64_t value = value_of(key, pair.substr(equals + 1));
  if (!values.emplace(key, value).second) throw InputError(key + " stands twice");
}

KeyValues parse_pairs(std::string_view text) {
  KeyValues values;
  while (true) {
    const size_t comma = text.find(',');
    add_pair(values, text.substr(0, comma));
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

int64_t get_or(const KeyValues& values, std::string_view key, int64_t otherwise) {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : found->second;
}

/// LLaMA's rule: two thirds of 4 * hidden, rounded up to a multiple of 256.
/// **Source:** facebookresearch/llama, model.py (multiple_of of all released sizes).
int64_t llama_ffn(int64_t hidden) { return (8 * hidden / 3 + 255) / 256 * 256; }

void check_required(std::string_view form, const KeyValues& values) {
  std::vector<std::string_view> missing;
  for (std::string_view key : Required) {
    if (!values.contains(key)) missing.push_back(key);
  }
  if (missing.empty()) return;
  throw InputError(fmt::format("needs {}, as {}:layers=12,hidden=768,heads=12,vocab=50257",
                               fmt::join(missing, ", "), form));
}

/// Far too large a number must reach check(), not overflow on the way.
void check_bounds(const KeyValues& values) {
  for (const auto& [key, value] : values) {
    if (value >= 1 && value <= INT32_MAX) continue;
    throw InputError(fmt::format("{} must be between 1 and {}, not {}", key, INT32_MAX, value));
  }
}

void set_sequence(TransformerSpec& spec, int64_t seq) {
  spec.default_seq = seq;
  spec.max_positions = spec.naming == Naming::Bert ? std::max(spec.max_positions, seq) : seq;
  spec.resizable_positions = false;
}

TransformerSpec free_form(std::string_view form, const KeyValues& values) {
  check_required(form, values);
  const int64_t positions = form == "bert"    ? BertPositions
                            : form == "llama" ? LlamaPositions
                                              : GptPositions;
  const Size size{.layers = values.at("layers"),
                  .hidden = values.at("hidden"),
                  .heads = values.at("heads"),
                  .vocab = values.at("vocab"),
                  .positions = positions};
  TransformerSpec spec;
  if (form == "llama") {
    spec = llama(size, get_or(values, "kv_heads", size.heads),
                 get_or(values, "ffn", llama_ffn(size.hidden)));
  } else {
    if (values.contains("kv_heads")) throw InputError("kv_heads is a key of llama: alone");
    spec = form == "bert" ? bert(size) : gpt2(size);
    spec.ffn = get_or(values, "ffn", 4 * size.hidden);
  }
  spec.resizable_positions = true;
  if (values.contains("seq")) set_sequence(spec, values.at("seq"));
  return spec;
}

void change(ModelSpec& spec, const KeyValues& values) {
  auto* transformer = std::get_if<TransformerSpec>(&spec.network);
  if (transformer == nullptr || transformer->patches) {
    throw InputError("the shape of a network on images cannot be changed");
  }
  for (const auto& [key, value] : values) {
    if (!contains(Changeable, key)) {
      throw InputError(
          fmt::format("{} of a published model cannot be changed, only {}; for other "
                      "shapes use gpt:, bert: or llama:",
                      key, fmt::join(Changeable, ", ")));
    }
  }
  transformer->layers = get_or(values, "layers", transformer->layers);
  transformer->vocab = get_or(values, "vocab", transformer->vocab);
  transformer->ffn = get_or(values, "ffn", transformer->ffn);
  if (values.contains("seq")) set_sequence(*transformer, values.at("seq"));
}

ModelSpec named(const std::string& name) {
  std::vector<std::string> names;
  for (CatalogEntry& entry : catalog()) {
    if (entry.spec.name == name) return std::move(entry.spec);
    names.push_back(entry.spec.name);
  }
  if (contains(FreeForms, name)) {
    throw InputError(
        fmt::format("{0} needs a shape, as {0}:layers=12,hidden=768,heads=12,vocab=50257", name));
  }
  throw InputError(
      fmt::format("no model \"{}\"{}; `wafer models` lists them", name, suggestion(name, names)));
}

ModelSpec parse_with_pairs(const std::string& name, std::string_view pairs) {
  const bool is_free = contains(FreeForms, name);
  ModelSpec spec = is_free ? ModelSpec{} : named(name);
  const KeyValues values = parse_pairs(pairs);
  check_bounds(values);
  if (is_free) {
    spec.network = free_form(name, values);
  } else {
    change(spec, values);
  }
  return spec;
}

}  // namespace

ModelSpec parse(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const size_t colon = lower.find(':');
  if (colon == std::string::npos) return named(lower);
  ModelSpec spec;
  try {
    spec = parse_with_pairs(lower.substr(0, colon), std::string_view(lower).substr(colon + 1));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", lower, error.what()));
  }
  spec.name = lower;
  check(spec);
  return spec;
}

}  // namespace wafer::models
