#include "wafer/study/answer_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "wafer/base/error.h"
#include "wafer/base/nearest.h"

namespace wafer::study {
namespace {

// A value of the answer, or nothing where there is none.
template <auto Get>
Value answer(const Attempt& a) {
  return a.result ? Value(Get(*a.result)) : Value();
}

// The same of what may be absent in an answer.
template <auto Get>
Value maybe(const Attempt& a) {
  if (!a.result) return {};
  const auto value = Get(*a.result);
  return value ? Value(*value) : Value();
}

// The same of what only clusters of GPUs have.
template <auto Get>
Value cluster(const Attempt& a) {
  return a.result && a.result->answer.cluster ? Value(Get(*a.result->answer.cluster)) : Value();
}

// The same of what only wafers with resident weights have.
template <auto Get>
Value resident(const Attempt& a) {
  return a.result && a.result->answer.resident ? Value(Get(*a.result->answer.resident)) : Value();
}

// The same of what only pipelines have.
template <auto Get>
Value pipeline(const Attempt& a) {
  return a.result && a.result->answer.pipelined ? Value(Get(*a.result->answer.pipelined)) : Value();
}

template <typename T>
Value asked(const std::optional<T>& value) {
  return value ? Value(*value) : Value();
}

std::string words(std::string_view text) { return std::string(text); }

std::optional<double> number(const std::optional<Seconds>& value) {
  return value ? std::optional<double>(value->value) : std::nullopt;
}

Value cost_usd(const Attempt& a) {
  return a.result && a.result->cost ? Value(a.result->cost->usd) : Value();
}
Value cost_of(const Attempt& a) {
  return a.result && a.result->cost ? Value(a.result->cost->of) : Value();
}

std::optional<double> samples(const std::optional<Target>& target) {
  return target ? std::optional<double>(target->samples) : std::nullopt;
}

Value model(const Attempt& a) { return a.result ? a.result->model : a.question.model; }
Value machine(const Attempt& a) { return a.result ? a.result->machine : a.question.machine; }
Value mode(const Attempt& a) { return words(name_of(a.result ? a.result->mode : a.question.mode)); }
Value micro_batch(const Attempt& a) {
  return a.result ? Value(a.result->micro_batch) : asked(a.question.micro_batch);
}
Value seq_len(const Attempt& a) {
  return a.result ? Value(a.result->seq_len) : asked(a.question.seq);
}
Value recompute(const Attempt& a) {
  if (a.result) return words(plan::name_of(a.result->recompute));
  return a.question.recompute ? Value(words(plan::name_of(*a.question.recompute))) : Value();
}
Value token_latency(const Attempt& a) {
  if (!a.result || !a.result->answer.resident) return {};
  const auto& decode = a.result->answer.resident->times.decode;
  return decode ? Value(decode->latency().value) : Value();
}
std::optional<double> headroom(const Result& r) {
  const std::optional<Headroom> h = headroom_of(r);
  return h ? std::optional<double>(h->free) : std::nullopt;
}

using R = Result;
using C = estimate::ClusterParts;
using W = estimate::ResidentParts;
using P = estimate::PipelinedParts;
using A = Attempt;

constexpr auto Less = Better::Less, More = Better::More, Neither = Better::Neither;

// Of N:M in words, so that it is not taken for the same share of zeros lying anywhere.
Value sparsity(const A& a) {
  const plan::Sparsity& all = a.question.sparsity;
  return all.structured() ? Value(all.text()) : Value(all.zeros);
}

// One line a key, in the order of columns.
constexpr std::array Keys = {
    AnswerKey{"model", "", Neither, model},
    AnswerKey{"machine", "", Neither, machine},
    AnswerKey{"systems", "", Less, [](const A& a) { return Value(a.question.systems); }},
    AnswerKey{"phase", "", Neither,
              [](const A& a) { return Value(words(name_of(a.question.phase))); }},
    AnswerKey{"mode", "", Neither, mode},
    AnswerKey{"batch", "", Neither, [](const A& a) { return Value(a.question.batch); }},
    AnswerKey{"micro_batch", "", Neither, micro_batch},
    AnswerKey{"seq_len", "", Neither, seq_len},
    AnswerKey{"precision", "", Neither,
              [](const A& a) { return Value(words(name_of(a.question.precision))); }},
    AnswerKey{"sparsity", "", Neither, sparsity},
    AnswerKey{"samples_per_second", "", More,
              answer<[](const R& r) { return r.answer.samples_per_second; }>},
    AnswerKey{"tokens_per_second", "", More,
              answer<[](const R& r) { return r.answer.tokens_per_second; }>},
    AnswerKey{"step_seconds", "s", Less, answer<[](const R& r) { return r.answer.step.value; }>},
    AnswerKey{"model_flops_per_step", "FLOP", Neither,
              answer<[](const R& r) { return r.answer.model_flops_per_step.value; }>},
    AnswerKey{"model_flops_per_second", "FLOP/s", More,
              answer<[](const R& r) { return r.answer.model_flops_per_second.value; }>},
    AnswerKey{"utilization", "", More, answer<[](const R& r) { return r.answer.utilization; }>},
    AnswerKey{"bound", "", Neither,
              answer<[](const R& r) { return words(estimate::name_of(r.answer.bound)); }>},
    AnswerKey{"epoch_seconds", "s", Less, maybe<[](const R& r) { return number(r.epoch); }>},
    AnswerKey{"train_seconds", "s", Less, maybe<[](const R& r) { return number(r.train); }>},
    AnswerKey{"samples_to_target", "", Less, maybe<[](const R& r) { return samples(r.target); }>},
    AnswerKey{"time_to_target_seconds", "s", Less,
              maybe<[](const R& r) { return number(r.time_to_target); }>},
    AnswerKey{"cost_usd", "USD", Less, cost_usd, true},
    AnswerKey{"cost_of", "", Neither, cost_of, true},
    AnswerKey{"energy_joules_per_step", "J", Less,
              answer<[](const R& r) { return r.answer.energy_per_step.value; }>},
    AnswerKey{"energy_joules_per_sample", "J", Less, answer<[](const R& r) {
                return r.answer.energy_per_step.value / static_cast<double>(r.question.batch);
              }>},
    AnswerKey{"expected_error", "", Less, maybe<[](const R& r) { return r.expected_error; }>},
    AnswerKey{"extrapolated", "", Neither, answer<[](const R& r) { return r.extrapolated; }>},
    AnswerKey{"parameters", "", More, answer<[](const R& r) { return r.parameters; }>},
    AnswerKey{"micro_batches", "", Neither, answer<[](const R& r) { return r.micro_batches; }>},
    AnswerKey{"recompute", "", Neither, recompute},
    AnswerKey{"memory_headroom", "", More, maybe<headroom>},
    AnswerKey{"prefill_tokens_per_second", "", More,
              maybe<[](const R& r) { return r.answer.prefill_tokens_per_second; }>},
    AnswerKey{"decode_tokens_per_second", "", More,
              maybe<[](const R& r) { return r.answer.decode_tokens_per_second; }>},
    AnswerKey{"first_token_seconds", "s", Less,
              resident<[](const W& w) { return w.times.prefill.latency().value; }>},
    AnswerKey{"token_latency_seconds", "s", Less, token_latency},
    AnswerKey{"resident.cores", "", Neither, resident<[](const W& w) { return w.placed.mesh; }>},
    AnswerKey{"resident.wafers", "", Less, resident<[](const W& w) { return w.placed.wafers; }>},
    AnswerKey{"hardware_flops_per_second_per_gpu", "FLOP/s", More,
              cluster<[](const C& c) { return c.hardware_flops_per_gpu.value; }>},
    AnswerKey{"host_latency_seconds", "s", Less,
              maybe<[](const R& r) { return number(r.answer.host_latency); }>},
    AnswerKey{"parallelism.tensor", "", Neither,
              cluster<[](const C& c) { return c.parallel.tensor; }>},
    AnswerKey{"parallelism.pipeline", "", Neither,
              cluster<[](const C& c) { return c.parallel.pipeline; }>},
    AnswerKey{"parallelism.data", "", Neither, cluster<[](const C& c) { return c.parallel.data; }>},
    AnswerKey{"parallelism.sharding", "", Neither,
              cluster<[](const C& c) { return words(plan::name_of(c.parallel.sharding)); }>},
    AnswerKey{"parallelism.interleaving", "", Neither,
              cluster<[](const C& c) { return c.parallel.interleaving; }>},
    AnswerKey{"parallelism.sequence", "", Neither,
              cluster<[](const C& c) { return c.parallel.sequence; }>},
    AnswerKey{"pipeline.latency_seconds", "s", Less,
              pipeline<[](const P& p) { return p.latency.value; }>},
    AnswerKey{"pipeline.used_share", "", Neither,
              pipeline<[](const P& p) { return p.used_share(); }>},
};

}  // namespace

std::span<const AnswerKey> answer_keys() { return Keys; }

const AnswerKey& answer_key(std::string_view name, std::string_view option) {
  const auto found =
      std::find_if(Keys.begin(), Keys.end(), [&](const AnswerKey& k) { return k.name == name; });
  if (found != Keys.end()) return *found;
  std::vector<std::string> names;
  for (const AnswerKey& key : Keys) names.emplace_back(key.name);
  const std::string meant = nearest(name, names);
  throw InputError(fmt::format("{}: no key \"{}\" of answers{}; there are {}", option, name,
                               meant.empty() ? "" : fmt::format("; did you mean {}?", meant),
                               fmt::join(names, ", ")));
}

std::optional<double> number_of(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* count = std::get_if<int64_t>(&value)) return static_cast<double>(*count);
  return std::nullopt;
}

}  // namespace wafer::study
