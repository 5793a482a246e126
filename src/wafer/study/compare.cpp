#include "wafer/study/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "wafer/base/error.h"
#include "wafer/study/cost.h"

namespace wafer::study {
namespace {

// Lines of code: see Effort.
constexpr int LinesOnWafers = 565, LinesOfReplicas = 639, LinesOfMegatron = 20507;

bool is_cluster(const machine::Machine& machine) {
  return std::holds_alternative<machine::GpuCluster>(machine);
}

// The question without what only the other kind of machine knows.
CompareRow row_for(const Question& question, const Contender& contender, Workbench& bench) {
  CompareRow row{.contender = contender, .attempt = {.question = {}}};
  Question q = question_for(question, contender);
  if (!is_cluster(bench.machine(q.machine))) {
    q.cluster = {};
  } else {
    q.mode = contender.mode.value_or(Mode::Auto);
    if (is_sparse(q)) {
      row.notes.push_back(q.sparsity.structured()
                              ? "zeros are computed: sparse tensor cores are not modelled"
                              : "zeros are computed: GPUs gain nothing by them");
    }
    q.sparsity = {};
    q.sparsity_of.clear();
  }
  row.attempt = attempt(q, bench);
  return row;
}

std::vector<std::string> knobs_of_cluster(const Result& r) {
  const plan::Parallelism& p = r.answer.cluster->parallel;
  std::vector<std::string> knobs;
  const auto degree = [&](const char* name, int64_t value) {
    if (value != 1) knobs.push_back(fmt::format("{} {}", name, value));
  };
  degree("tensor", p.tensor);
  degree("pipeline", p.pipeline);
  degree("data", p.data);
  degree("interleaving", p.interleaving);
  if (p.sequence) knobs.emplace_back("sequence parallel");
  if (p.sharding != plan::Sharding::None) {
    knobs.push_back(fmt::format("sharding {}", plan::name_of(p.sharding)));
  }
  if (r.micro_batches != 1) knobs.push_back(fmt::format("micro-batch {}", r.micro_batch));
  if (r.recompute != plan::Recompute::None) {
    knobs.push_back(fmt::format("recompute {}", plan::name_of(r.recompute)));
  }
  return knobs;
}

std::vector<std::string> knobs_of_wafer(const Question& q) {
  std::vector<std::string> knobs;
  if (q.micro_batch) knobs.push_back(fmt::format("micro-batch {}", *q.micro_batch));
  if (q.recompute) knobs.push_back(fmt::format("recompute {}", plan::name_of(*q.recompute)));
  return knobs;
}

std::optional<int> lines_of(const Result& r) {
  if (r.question.phase != Phase::Train || !is_gpt(r.question.model)) return std::nullopt;
  if (!r.answer.cluster) return LinesOnWafers;
  const plan::Parallelism& p = r.answer.cluster->parallel;
  if (p.tensor > 1 || p.pipeline > 1) return LinesOfMegatron;
  const bool sharded = p.sharding != plan::Sharding::None;
  return sharded ? std::nullopt : std::optional<int>(LinesOfReplicas);
}

[[noreturn]] void refuse_all(const std::vector<CompareRow>& rows) {
  const std::string& first = rows[0].attempt.reason;
  bool capacity = false, same = true;
  std::string all = "no machine can do it:";
  for (const CompareRow& row : rows) {
    capacity = capacity || row.attempt.capacity;
    same = same && row.attempt.reason == first;
    all += fmt::format("\n  {}: {}", row.contender.text, row.attempt.reason);
  }
  const std::string& what = same ? first : all;
  if (capacity) throw CapacityError(what);
  throw InputError(what);
}

}  // namespace

std::vector<CompareRow> compare(const Question& question, const std::vector<Contender>& machines,
                                Workbench& bench) {
  if (machines.empty()) throw InputError("expected at least one machine to compare, found none");
  std::vector<std::string> names;
  for (const Contender& contender : machines) names.push_back(contender.machine);
  check_prices(question.prices, names);
  std::vector<CompareRow> rows;
  for (const Contender& contender : machines) rows.push_back(row_for(question, contender, bench));
  const auto first = std::find_if(rows.begin(), rows.end(),
                                  [](const CompareRow& row) { return row.attempt.result; });
  if (first == rows.end()) refuse_all(rows);
  const double base = first->attempt.result->answer.samples_per_second;
  for (CompareRow& row : rows) {
    if (!row.attempt.result) continue;
    const Result& r = *row.attempt.result;
    row.headroom = headroom_of(r);
    row.effort = Effort{
        .knobs = r.answer.cluster ? knobs_of_cluster(r) : knobs_of_wafer(row.attempt.question),
        .lines = lines_of(r)};
    row.ratio = r.answer.samples_per_second / base;
  }
  return rows;
}

}  // namespace wafer::study
