#include "wafer/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "wafer/base/human.h"
#include "wafer/report/values.h"

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;
using study::CompareRow;
using study::Result;

/// A column and its cell of a row; absent where the row has none.
struct Wanted {
  Column column;
  std::function<std::optional<Cell>(const CompareRow&)> cell;
};

/// The cell of what a result has.
template <typename Get>
Wanted of_result(const char* title, const char* key, Get get) {
  return {{title, key, Align::Right}, [get](const CompareRow& row) -> std::optional<Cell> {
            return row.attempt.result ? get(*row.attempt.result) : std::nullopt;
          }};
}

/// The same of a rate or time that may be absent.
template <typename Get, typename Show>
Wanted of_number(const char* title, const char* key, Get get, Show show) {
  return of_result(title, key, [=](const Result& r) -> std::optional<Cell> {
    const auto value = get(r);
    return value ? std::optional<Cell>(show(*value)) : std::nullopt;
  });
}

Cell rate(double value) { return quantity(value, ""); }
Cell seconds(Seconds value) { return duration(value.value); }

using Number = std::optional<double>;
using Time = std::optional<Seconds>;

std::vector<Wanted> times() {
  return {
      of_number(
          "samples/s", "samples_per_second",
          [](const Result& r) { return Number(r.answer.samples_per_second); }, rate),
      {{"ratio", "ratio", Align::Right},
       [](const CompareRow& row) -> std::optional<Cell> {
         if (!row.ratio) return std::nullopt;
         return Cell(fmt::format("{:.3g}", *row.ratio), *row.ratio);
       }},
      of_number(
          "tokens/s", "tokens_per_second",
          [](const Result& r) { return Number(r.answer.tokens_per_second); }, rate),
      of_number(
          "prefill tokens/s", "prefill_tokens_per_second",
          [](const Result& r) { return r.answer.prefill_tokens_per_second; }, rate),
      of_number(
          "decode tokens/s", "decode_tokens_per_second",
          [](const Result& r) { return r.answer.decode_tokens_per_second; }, rate),
      of_number(
          "step", "step_seconds", [](const Result& r) { return Time(r.answer.step); }, seconds),
      of_number(
          "epoch", "epoch_seconds", [](const Result& r) { return r.epoch; }, seconds),
      of_number(
          "training", "train_seconds", [](const Result& r) { return r.train; }, seconds),
      of_number(
          "to target", "time_to_target_seconds", [](const Result& r) { return r.time_to_target; },
          seconds),
      of_number(
          "cost", "cost_usd",
          [](const Result& r) { return r.cost ? Number(r.cost->usd) : std::nullopt; }, usd),
      of_number(
          "energy a step", "energy_joules_per_step",
          [](const Result& r) { return Number(r.answer.energy_per_step.value); },
          [](double joules) { return quantity(joules, "J"); }),
  };
}

std::optional<Cell> headroom(const CompareRow& row) {
  if (!row.headroom) return std::nullopt;
  const Cell share = percent(row.headroom->free);
  return Cell(fmt::format("{} of the {}", share.text, row.headroom->place), row.headroom->free);
}

/// Wafers are replicas of each other, whatever their number.
std::optional<Cell> spread(const CompareRow& row) {
  if (!row.attempt.result) return std::nullopt;
  const Result& r = *row.attempt.result;
  const plan::Parallelism p =
      r.answer.cluster ? r.answer.cluster->parallel : plan::Parallelism{.data = r.question.systems};
  return Cell(fmt::format("{} x {} x {}", p.tensor, p.pipeline, p.data));
}

std::optional<Cell> knobs(const CompareRow& row) {
  if (!row.effort) return std::nullopt;
  const size_t count = row.effort->knobs.size();
  return Cell(fmt::format("{}", count), static_cast<double>(count));
}

std::optional<Cell> lines(const CompareRow& row) {
  if (!row.effort || !row.effort->lines) return std::nullopt;
  return Cell(fmt::format("{}", *row.effort->lines), *row.effort->lines);
}

std::vector<Wanted> rest() {
  return {{{"memory free", "memory_headroom", Align::Right}, headroom},
          {{"tensor x pipeline x data", "parallelism"}, spread},
          {{"knobs", "knobs", Align::Right}, knobs},
          {{"lines", "lines", Align::Right}, lines},
          of_number(
              "error", "expected_error", [](const Result& r) { return r.expected_error; },
              [](double share) { return percent(share); })};
}

template <typename List>
std::optional<Cell> joined(const List& list) {
  if (list.empty()) return std::nullopt;
  return Cell(fmt::format("{}", fmt::join(list, "; ")));
}

std::vector<Wanted> words() {
  return {{{"extrapolated", "extrapolated"},
           [](const CompareRow& row) -> std::optional<Cell> {
             return row.attempt.result ? joined(row.attempt.result->extrapolated) : std::nullopt;
           }},
          {{"notes", "notes"}, [](const CompareRow& row) { return joined(row.notes); }},
          {{"reason", "reason"}, [](const CompareRow& row) -> std::optional<Cell> {
             if (row.attempt.result) return std::nullopt;
             return Cell(row.attempt.reason);
           }}};
}

void append(std::vector<Wanted>& all, std::vector<Wanted> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

std::string indented(std::string words) {
  for (size_t at = 0; (at = words.find('\n', at)) != std::string::npos; at += 3) {
    words.replace(at, 1, "\n  ");
  }
  return "  " + words + "\n";
}

std::string remarks_of(const CompareRow& row) {
  std::string text;
  if (!row.attempt.result) text += indented("cannot do it: " + row.attempt.reason);
  if (row.effort && !row.effort->knobs.empty()) {
    text += indented(fmt::format("to be set: {}", fmt::join(row.effort->knobs, ", ")));
  }
  for (const std::string& note : row.notes) text += indented(note);
  if (row.attempt.result && !row.attempt.result->expected_error) {
    text += indented("expected error not known");
  }
  if (row.attempt.result) {
    for (const std::string& why : row.attempt.result->extrapolated) {
      text += indented("extrapolated: " + why);
    }
  }
  return text.empty() ? "" : "\n" + row.contender.text + "\n" + text;
}

// What the costs are of, which may differ by machine.
std::string cost_text(const std::vector<CompareRow>& rows) {
  std::string text;
  for (const CompareRow& row : rows) {
    if (!row.attempt.result || !row.attempt.result->cost) continue;
    const std::string words = words_of(*row.attempt.result->cost);
    if (text.find(words) == std::string::npos) text += (text.empty() ? "" : ", or ") + words;
  }
  if (text.empty()) return "";
  return "\ncost: of " + text + " on all systems, at the prices given.";
}

Json json_of_row(const CompareRow& row) {
  Json json = {{"name", row.contender.text}};
  for (const study::AnswerKey& key : study::answer_keys()) {
    set_key(json, key.name, json_of(key.of(row.attempt)));
  }
  json["memory_headroom_place"] = row.headroom ? Json(row.headroom->place) : Json(nullptr);
  json["ratio"] = row.ratio ? Json(*row.ratio) : Json(nullptr);
  json["knobs"] = row.effort ? Json(row.effort->knobs) : Json(nullptr);
  json["lines"] = row.effort && row.effort->lines ? Json(*row.effort->lines) : Json(nullptr);
  json["notes"] = row.notes;
  json["reason"] = row.attempt.result ? Json(nullptr) : Json(row.attempt.reason);
  return json;
}

}  // namespace

Table compare_table(const std::vector<CompareRow>& rows, bool whole) {
  std::vector<Wanted> all = times();
  append(all, rest());
  if (whole) append(all, words());
  Table table{.columns = {{"machine", "name"}}, .rows = {}};
  for (const CompareRow& row : rows) table.rows.push_back({row.contender.text});
  for (const Wanted& wanted : all) {
    std::vector<std::optional<Cell>> cells;
    for (const CompareRow& row : rows) cells.push_back(wanted.cell(row));
    if (std::none_of(cells.begin(), cells.end(), [](const auto& c) { return c; })) continue;
    table.columns.push_back(wanted.column);
    for (size_t i = 0; i < rows.size(); ++i) table.rows[i].push_back(cells[i].value_or("-"));
  }
  return table;
}

std::string text(const std::vector<CompareRow>& rows) {
  std::string result = text(compare_table(rows));
  for (const CompareRow& row : rows) result += remarks_of(row);
  const bool has_lines = std::any_of(rows.begin(), rows.end(), [](const CompareRow& row) {
    return row.effort && row.effort->lines;
  });
  result += cost_text(rows);
  result +=
      "\nknobs: settings of the distribution that the user's script states; 0 where the compiler "
      "chooses.\n";
  if (has_lines) {
    result +=
        "lines: of the public code that trains a GPT so: gigaGPT, nanoGPT, Megatron-LM, as "
        "gigaGPT's README counts them.\n";
  }
  return result;
}

std::string json(const std::vector<CompareRow>& rows) {
  Json all = Json::array();
  for (const CompareRow& row : rows) all.push_back(json_of_row(row));
  return Json{{"rows", all}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wafer::report
