#include <nlohmann/json.hpp>

#include "wafer/report/validation.h"

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;

Json maybe(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json to_json(const study::Comparison& c) {
  const study::Measurement& m = c.measurement;
  return {{"id", m.id},
          {"predicted", maybe(c.predicted)},
          {"measured", maybe(m.expect)},
          {"error", maybe(c.error)},
          {"reason", c.reason.empty() ? Json(nullptr) : Json(c.reason)},
          {"quantity", m.predict},
          {"machine", m.machine},
          {"mode", m.mode},
          {"model", m.model},
          {"phase", m.phase},
          {"scored", m.scored},
          {"extrapolated", c.extrapolated}};
}

Json to_json(const study::GroupError& g) {
  return {{"machine", g.machine},
          {"mode", g.mode},
          {"phase", g.phase},
          {"rows", g.rows},
          {"predicted", g.predicted},
          {"mean", g.mean},
          {"by_model", g.by_model},
          {"configurations", g.configurations},
          {"by_configuration", g.by_configuration},
          {"p90", g.p90},
          {"worst", g.worst},
          {"worst_id", g.worst_id},
          {"within_15_percent", g.within_15}};
}

Json to_json(const std::vector<study::FittedConstant>& constants) {
  Json json = Json::object();
  for (const study::FittedConstant& c : constants) json[c.key] = c.value;
  return json;
}

Json to_json(const std::vector<study::Fold>& folds) {
  Json json = Json::array();
  for (const study::Fold& f : folds) {
    json.push_back({{"left_out", f.left_out},
                    {"rows", f.rows},
                    {"mean_error", f.mean_error},
                    {"worst_error", f.worst_error},
                    {"constants", to_json(f.constants)}});
  }
  return json;
}

Json to_json(const study::CrossValidation& cross) {
  return {{"model_mean", cross.model_mean},
          {"source_mean", cross.source_mean},
          {"by_model", to_json(cross.by_model)},
          {"by_source", to_json(cross.by_source)}};
}

}  // namespace

std::string json(const ValidationReport& report) {
  Json rows = Json::array(), groups = Json::array();
  for (const study::Comparison& c : report.validation.rows) rows.push_back(to_json(c));
  for (const study::GroupError& g : report.validation.groups) groups.push_back(to_json(g));
  Json json = {{"file", report.validation.file}, {"rows", rows}, {"groups", groups}};
  if (report.cross) json["cross"] = to_json(*report.cross);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json(const study::Fit& fit, const std::optional<study::CrossValidation>& cross) {
  Json json = {{"machine", fit.machine.name},
               {"constants", to_json(fit.constants)},
               {"objective", fit.objective},
               {"configurations", fit.measurements},
               {"groups", fit.groups}};
  if (cross) json["cross"] = to_json(*cross);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wafer::report
