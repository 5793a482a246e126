#include <nlohmann/json.hpp>

#include "wafer/report/answer.h"
#include "wafer/report/compare.h"
#include "wafer/report/html.h"
#include "wafer/report/validation.h"
#include "wafer/report/values.h"
#include "wafer/study/answer_keys.h"

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;

Json curve_json(const study::BatchCurve& curve) {
  Json points = Json::array();
  for (const study::Attempt& a : curve.points) {
    Json point = Json::object();
    for (const study::AnswerKey& key : study::answer_keys()) {
      set_key(point, key.name, json_of(key.of(a)));
    }
    point["reason"] = a.result ? Json(nullptr) : Json(a.reason);
    points.push_back(std::move(point));
  }
  return {{"name", curve.name}, {"points", std::move(points)}};
}

/// Rows as `wafer validate` writes them, and what the page tells of each besides.
Json evidence_json(const study::Validation& evidence) {
  Json rows = Json::parse(json(ValidationReport{.validation = evidence, .crosses = {}})).at("rows");
  for (size_t i = 0; i < rows.size(); ++i) {
    const study::Measurement& m = evidence.rows[i].measurement;
    rows[i]["systems"] = m.question.systems;
    rows[i]["batch"] = m.question.batch;
    rows[i]["seq_len"] = m.question.seq ? Json(*m.question.seq) : Json(nullptr);
    rows[i]["source"] = m.source;
  }
  return rows;
}

}  // namespace

std::string json(const study::Dossier& d) {
  Json throughput = Json::array();
  for (const study::BatchCurve& curve : d.curves) throughput.push_back(curve_json(curve));
  const Json all = {{"answer", Json::parse(json(d.result))},
                    {"comparison", Json::parse(json(d.rows))},
                    {"throughput", std::move(throughput)},
                    {"validation", {{"rows", evidence_json(d.evidence)}}}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wafer::report
