#include "wafer/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "wafer/base/human.h"
#include "wafer/report/answer.h"
#include "wafer/report/compare.h"
#include "wafer/report/html_charts.h"
#include "wafer/report/html_parts.h"
#include "wafer/report/html_sections.h"
#include "wafer/report/typeset.h"
#include "wafer/report/validation.h"
#include "wafer/report/values.h"

namespace wafer::report {
namespace {

using study::CompareRow;
using study::Dossier;
using study::Result;

std::optional<Section> throughput(const Dossier& d) {
  std::string body;
  for (const Rate& rate : rates_of(d.result)) {
    if (const auto chart = throughput_chart(d, rate)) {
      body += figure(*chart, fmt::format("{} over the batch (samples of a step). Bands are the "
                                         "expected error, where it is known.",
                                         rate.name));
    }
  }
  if (body.empty()) return std::nullopt;
  size_t without = 0;
  for (const study::BatchCurve& curve : d.curves) {
    without += static_cast<size_t>(std::count_if(curve.points.begin(), curve.points.end(),
                                                 [](const auto& a) { return !a.result; }));
  }
  if (without > 0) {
    body += paragraph(fmt::format("{} point{} {} no answer (the batch does not fit or does not "
                                  "divide); the JSON below says why.",
                                  without, without == 1 ? "" : "s", without == 1 ? "has" : "have"),
                      "note");
  }
  return Section{"throughput", "Throughput against batch", body};
}

std::optional<Section> roofline(const Dossier& d) {
  const auto chart = roofline_chart(d);
  if (!chart) return std::nullopt;
  const std::string caption =
      d.result.answer.cluster
          ? "Rate of one GPU over FLOPs a byte through its memory, both logarithmic; peak and "
            "bandwidth as its data sheet has them. What is computed again is no work here."
          : "Rate over FLOPs a byte, both logarithmic. The step stands once under the roof of SRAM "
            "traffic and once under that of the wafer&#8217;s edge; layers stand at their traffic "
            "over the edge.";
  return Section{"roofline", "Roofline", figure(*chart, caption, 400)};
}

/// The table of `wafer compare`, and whether each answer lies beyond what was measured.
Table comparison_table(const std::vector<CompareRow>& rows) {
  Table table = compare_table(rows);
  table.columns.push_back({"extrapolated", "extrapolated"});
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& result = rows[i].attempt.result;
    table.rows[i].emplace_back(!result ? "-" : result->extrapolated.empty() ? "no" : "yes");
  }
  return table;
}

std::optional<Section> comparison(const Dossier& d) {
  if (d.rows.size() < 2) return std::nullopt;
  std::string body;
  if (const auto chart = compare_chart(d.rows)) {
    body += figure(*chart,
                   "Samples/s, and the ratio to the first. Whiskers are the expected error, "
                   "where it is known.");
  }
  body += html_sideways(comparison_table(d.rows), "The same job on each machine");
  std::vector<std::string> lines;
  for (const CompareRow& row : d.rows) {
    const auto say = [&](const std::string& what) {
      lines.push_back(fmt::format("{}: {}", row.contender.text, what));
    };
    if (!row.attempt.result) say("cannot do it: " + row.attempt.reason);
    if (row.effort && !row.effort->knobs.empty()) {
      say(fmt::format("to be set: {}", fmt::join(row.effort->knobs, ", ")));
    }
    for (const std::string& note : row.notes) say(note);
    if (row.attempt.result && row.attempt.result->cost) {
      const Result& r = *row.attempt.result;
      say(fmt::format("cost of {}, at {} an hour{}", words_of(*r.cost),
                      usd(r.question.prices.at(r.question.machine)).text, each_of(r)));
    }
  }
  body += html_list(lines);
  body += paragraph(
      "knobs: settings of the distribution that the user's script states. lines: of "
      "the public code that trains a GPT so, as gigaGPT's README counts them.",
      "note");
  return Section{"comparison", "Comparison", body};
}

std::string trust_of(const CompareRow& row) {
  const Result& r = *row.attempt.result;
  std::string html = fmt::format("<h3>{}</h3>\n", escaped(row.contender.text));
  html += paragraph(
      r.expected_error
          ? fmt::format("Expected error {}: the mean of absolute errors on published measurements "
                        "of this machine, mode and phase that the fit has not seen.",
                        percent(*r.expected_error).text)
          : "The error is not known: no published measurement of this machine, mode and phase "
            "counts.");
  if (r.extrapolated.empty()) return html;
  return html + paragraph("Extrapolated, since:", "warn") + html_list(r.extrapolated);
}

/// Rows of measurements, with the number of their source below.
Table evidence_table(const study::Validation& v, const std::vector<std::string>& sources) {
  constexpr auto Right = Align::Right;
  Table table{.columns = {{"row", "id"},
                          {"machine", "machine"},
                          {"model", "model"},
                          {"seq", "seq_len", Right},
                          {"batch", "batch", Right},
                          {"quantity", "predict"},
                          {"predicted", "predicted", Right},
                          {"measured", "measured", Right},
                          {"error", "error", Right},
                          {"source", "source", Right}},
              .rows = {}};
  const Table whole = row_table(v);  // a row for each that is predicted
  const auto column = [&](std::string_view key) {
    return static_cast<size_t>(std::find_if(whole.columns.begin(), whole.columns.end(),
                                            [&](const Column& c) { return c.key == key; }) -
                               whole.columns.begin());
  };
  const size_t predicted = column("predicted"), measured = column("measured");
  const size_t error = column("error");
  size_t row = 0;
  for (const study::Comparison& c : v.rows) {
    if (!c.predicted) continue;
    const study::Measurement& m = c.measurement;
    const auto count = [](int64_t n) { return quantity(static_cast<double>(n), ""); };
    const std::vector<Cell>& cells = whole.rows.at(row++);
    const bool is_flops = m.predict.find("flops_per_second") != std::string::npos;
    const auto rate = [&](const Cell& cell) {
      if (is_flops && cell.value) return quantity(*cell.value, "FLOP/s");
      return cell.text.ends_with(" /s") ? Cell(grouped(*cell.value) + " /s", *cell.value) : cell;
    };
    std::string what = m.predict;
    if (what.ends_with("_per_second")) what.replace(what.size() - 11, 11, "/s");
    if (is_flops) what = what.substr(0, what.find('_')) + " FLOP/s a GPU";
    std::replace(what.begin(), what.end(), '_', ' ');
    const auto at = std::find(sources.begin(), sources.end(), m.source) - sources.begin();
    table.rows.push_back(
        {fmt::format("row {}", m.id),
         m.question.systems == 1 ? m.machine : fmt::format("{}x{}", m.machine, m.question.systems),
         m.model, m.question.seq ? count(*m.question.seq) : Cell(""), count(m.question.batch), what,
         rate(cells.at(predicted)), rate(cells.at(measured)), cells.at(error),
         fmt::format("[{}]", at + 1)});
  }
  return table;
}

std::vector<std::string> sources_of(const study::Validation& v) {
  std::vector<std::string> all;
  for (const study::Comparison& c : v.rows) {
    if (c.predicted && std::find(all.begin(), all.end(), c.measurement.source) == all.end()) {
      all.push_back(c.measurement.source);
    }
  }
  return all;
}

Section trust(const Dossier& d) {
  std::string body;
  for (const CompareRow& row : d.rows) {
    if (row.attempt.result) body += trust_of(row);
  }
  if (!d.evidence.rows.empty()) {
    body += "<h3>Measurements of these machines, modes and phases</h3>\n";
    const std::vector<std::string> sources = sources_of(d.evidence);
    body += html_of(evidence_table(d.evidence, sources),
                    fmt::format("Scored rows of {}, by their id there", d.evidence.file));
    body += html_list(sources, "ol");
  }
  return {"trust", "How far to trust it", body};
}

Section numbers(const std::string& json, const HtmlOptions& options) {
  std::string body;
  if (!options.command.empty()) {
    body += paragraph("Made by") +
            fmt::format("<pre><code>{}</code></pre>\n", escaped(options.command));
  }
  body += fmt::format(
      "<p><a download=\"report.json\" href=\"data:application/json;base64,{}\">Download every "
      "number "
      "as JSON</a> (SI units; docs/json.md lists the keys). The same lies in this file as the "
      "element with the id <code>answers</code>.</p>\n",
      base64(json));
  return {"numbers", "Numbers", body};
}

std::vector<Section> sections_of(const Dossier& d, const std::string& json,
                                 const HtmlOptions& options) {
  std::vector<Section> all = {summary_section(d)};
  const auto add = [&](std::optional<Section> section) {
    if (section) all.push_back(std::move(*section));
  };
  add(throughput(d));
  add(comparison(d));
  add(time_section(d.result));
  add(map_section(d));
  add(sparsity_section(d.result));
  add(roofline(d));
  add(memory_section(d.result));
  add(trust(d));
  add(numbers(json, options));
  return all;
}

// JSON that can stand in a script element.
std::string for_script(std::string json) {
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;)
    json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace

std::string html(const Dossier& d, const HtmlOptions& options) {
  const Result& r = d.result;
  const std::string title = fmt::format("{} on {}", r.model, machine_words(r));
  const std::string lead =
      fmt::format("{}, {}, batch {} of {} token{}", is_training(r) ? "Training" : "Inference",
                  mode_words(r), grouped(static_cast<double>(r.question.batch)),
                  grouped(static_cast<double>(r.seq_len)), r.seq_len == 1 ? "" : "s");
  const std::string numbers = json(d);
  const std::vector<Section> sections = sections_of(d, numbers, options);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"OpenWafer {}\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{} - OpenWafer report</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<div class=\"sheet\">\n<header>\n<p class=\"eyebrow\">OpenWafer report</p>\n<h1>{}</h1>\n"
      "<p class=\"lead\">{}</p>\n</header>\n",
      escaped(options.version), escaped(title), page_style(), escaped(title), escaped(lead));
  page += navigation(sections) + "<main>\n";
  for (const Section& section : sections) page += html_of(section);
  page += fmt::format(
      "</main>\n<footer>Predicted by OpenWafer {}; nothing here was measured on the machine unless "
      "it says so.</footer>\n</div>\n<script type=\"application/json\" "
      "id=\"answers\">\n{}</script>\n"
      "</body>\n</html>\n",
      escaped(options.version), for_script(numbers));
  return page;
}

}  // namespace wafer::report
