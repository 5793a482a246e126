#include "wafer/study/dossier.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "wafer/base/data_dir.h"
#include "wafer/study/fit_kind.h"

namespace wafer::study {
namespace {

constexpr int Halvings = 6, Doublings = 3;

// The machine of a question as a contender writes it.
Contender own_contender(const Question& q) {
  Contender own{.text = q.machine, .machine = q.machine, .systems = q.systems};
  if (q.systems != 1) own.text += fmt::format("x{}", q.systems);
  if (q.mode == Mode::Auto) return own;
  own.mode = q.mode;
  own.text += fmt::format(":{}", name_of(q.mode));
  return own;
}

std::vector<Contender> all_contenders(const Question& question,
                                      const std::vector<Contender>& others) {
  const auto asked = [&](const Contender& c) {
    const Question q = question_for(question, c);
    return std::tuple(q.machine, q.systems, q.mode);
  };
  std::vector<Contender> all = {own_contender(question)};
  for (const Contender& other : others) {
    const bool is_new = std::none_of(all.begin(), all.end(),
                                     [&](const Contender& c) { return asked(c) == asked(other); });
    if (is_new) all.push_back(other);
  }
  return all;
}

BatchCurve curve_of(const CompareRow& row, Workbench& bench) {
  BatchCurve curve{.name = row.contender.text, .points = {}};
  Question q = row.attempt.question;
  for (const int64_t batch : batches_around(q.batch, q.systems)) {
    q.batch = batch;
    curve.points.push_back(attempt(q, bench));
  }
  return curve;
}

Validation evidence_of(const std::vector<CompareRow>& rows, Workbench& bench) {
  const auto files = list_data("validation", ".csv");
  const auto file = files.find("system");
  if (file == files.end()) return {};
  std::set<std::tuple<std::string, std::string_view, Phase>> kinds;
  for (const CompareRow& row : rows) {
    if (!row.attempt.result) continue;
    const Result& r = *row.attempt.result;
    kinds.emplace(r.machine, written(r.mode), r.question.phase);
  }
  std::vector<Measurement> wanted;
  for (Measurement& m : measurements(Csv::load(file->second.string()))) {
    const auto phase = phase_named(m.phase);
    if (m.scored && phase && kinds.contains({m.machine, m.mode, *phase})) {
      wanted.push_back(std::move(m));
    }
  }
  return validate(wanted, "validation/system.csv", bench);
}

}  // namespace

std::vector<int64_t> batches_around(int64_t batch, int64_t systems) {
  std::set<int64_t> all = {batch};
  int64_t less = batch, more = batch;
  for (int i = 0; i < Halvings; ++i) {
    less /= 2;
    const int64_t rounded = less / systems * systems;
    if (rounded > 0) all.insert(rounded);
  }
  for (int i = 0; i < Doublings && more < std::numeric_limits<int64_t>::max() / 4; ++i) {
    more *= 2;
    all.insert(more);
  }
  return {all.begin(), all.end()};
}

Dossier dossier(const Question& question, const std::vector<Contender>& others, Workbench& bench) {
  Dossier d{.result = bench.answer(question),
            .machine = bench.machine(question.machine),
            .rows = compare(question, all_contenders(question, others), bench),
            .curves = {},
            .evidence = {},
            .pipeline = {}};
  if (d.result.mode == Mode::Pipelined) d.pipeline = bench.plan(question);
  for (const CompareRow& row : d.rows) {
    if (row.attempt.result) d.curves.push_back(curve_of(row, bench));
  }
  d.evidence = evidence_of(d.rows, bench);
  return d;
}

}  // namespace wafer::study
