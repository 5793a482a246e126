#include "wafer/importers/onnx_dims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "wafer/base/error.h"
#include "wafer/importers/known_element.h"

namespace wafer::importers {
namespace {

// Names that exporters and their users give to the batch and to the sequence.
constexpr std::array<std::string_view, 10> BatchNames = {
    "batch", "batch_size", "batchsize", "batch_dim", "b", "bs", "bsz", "n", "num_batch", "batches"};
constexpr std::array<std::string_view, 15> SequenceNames = {
    "seq",          "seq_len",     "seqlen",
    "seq_length",   "sequence",    "sequence_length",
    "sequence_len", "max_seq_len", "tokens",
    "num_tokens",   "s",           "t",
    "length",       "src_len",     "input_sequence_length"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(names.begin(), names.end(), lower) != names.end();
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void check_size(const std::string& name, int64_t value, int64_t least) {
  constexpr int64_t Most = int64_t{1} << 40;
  if (value >= least && value <= Most) return;
  throw InputError(fmt::format("dimension {}: expected {} to 2^40, found {}", name, least, value));
}

}  // namespace

OnnxDims::OnnxDims(const OnnxOptions& options, bool open_batch)
    : options_(options), open_batch_(open_batch) {
  if (options.batch) check_size("batch", *options.batch, 1);
  if (options.seq) check_size("seq", *options.seq, 1);
  // Zero has a use: a cache before the first token.
  for (const auto& [name, value] : options.dims) check_size(name, value, 0);
}

Shape OnnxDims::shape_of(const OnnxValueInfo& input) {
  Shape shape;
  for (size_t d = 0; d < input.shape.size(); ++d) shape.push_back(dim_of(input, d));
  return shape;
}

Dim OnnxDims::dim_of(const OnnxValueInfo& input, size_t d) {
  const OnnxDim& dim = input.shape[d];
  if (dim.has_value && dim.value > 0) {
    check_size(fmt::format("{} of input {}", d, input.name), dim.value, 1);
    return Dim(dim.value);
  }
  const std::string own = fmt::format("{}.{}", input.name, d);
  if (dim.param.empty()) met_.insert(own);
  const std::string name = dim.param.empty() ? own : std::string(trimmed(dim.param));
  std::optional<Dim> value;
  if (!dim.param.empty()) {
    value = evaluate(name);
  } else if (options_.dims.count(own) != 0) {
    value = Dim(options_.dims.at(own));
  } else if (d == 0) {
    value = batch();
  }
  if (value) return *value;
  places_[name].push_back(fmt::format("dimension {} of input {}", d, input.name));
  return Dim(1);
}

std::optional<Dim> OnnxDims::batch() {
  if (!open_batch_) {
    return options_.batch ? std::optional<Dim>(Dim(*options_.batch)) : std::nullopt;
  }
  batch_is_open_ = true;
  return Dim::symbol(std::string(ir::BatchSymbol));
}

std::optional<Dim> OnnxDims::value_of(const std::string& name) {
  met_.insert(name);
  const auto found = options_.dims.find(name);
  if (found != options_.dims.end()) return Dim(found->second);
  if (is_one_of(BatchNames, name)) return batch();
  if (is_one_of(SequenceNames, name) && options_.seq) return Dim(*options_.seq);
  return std::nullopt;
}

std::optional<Dim> OnnxDims::evaluate(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 200) return std::nullopt;  // bounds the recursion
  if (const auto n = number(text)) return Dim(*n);
  if (const auto value = value_of(std::string(text))) return value;
  // The last sum splits first, so that a - b - c is (a - b) - c.
  for (std::string_view operators : {"+-", "*"}) {
    const size_t at = text.find_last_of(operators);
    if (at == std::string_view::npos || at == 0) continue;
    const auto a = evaluate(text.substr(0, at));
    const auto b = evaluate(text.substr(at + 1));
    if (!a || !b) return std::nullopt;
    const ir::ElementFn fn = text[at] == '+'   ? ir::ElementFn::Add
                             : text[at] == '-' ? ir::ElementFn::Subtract
                                               : ir::ElementFn::Multiply;
    return apply_to_dims(fn, {*a, *b}, DType::I64);
  }
  return std::nullopt;
}

void OnnxDims::throw_if_unbound(const std::string& file) const {
  Problems problems;
  for (const auto& [name, places] : places_) {
    const size_t shown = std::min<size_t>(places.size(), 3);
    const std::string more =
        places.size() > shown ? fmt::format(" and {} more", places.size() - shown) : "";
    problems.add(fmt::format("{}: {}{}", name,
                             fmt::join(places.begin(), places.begin() + shown, ", "), more));
  }
  problems.throw_if_any(file +
                        ": dimensions without a value; give each with --dim NAME=VALUE (or --seq "
                        "for the sequence, --batch for the batch):");
  throw_if_unmet(file);
}

void OnnxDims::throw_if_unmet(const std::string& file) const {
  for (const auto& [name, value] : options_.dims) {
    if (met_.count(name) != 0) continue;
    throw InputError(fmt::format("--dim {}: no input of {} has a dimension of that name; {}", name,
                                 file,
                                 met_.empty() ? std::string("all of its dimensions are fixed")
                                              : fmt::format("open are {}", fmt::join(met_, ", "))));
  }
}

}  // namespace wafer::importers
