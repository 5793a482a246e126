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
  Json json = {{"machine", g.machine},
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
  if (g.half) json["half"] = study::name_of(*g.half);
  return json;
}

Json to_json(const std::vector<study::GroupError>& groups) {
  Json json = Json::array();
  for (const study::GroupError& g : groups) json.push_back(to_json(g));
  return json;
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
  return {{"kind", cross.kind},
          {"model_mean", cross.model_mean},
          {"source_mean", cross.source_mean},
          {"by_model", to_json(cross.by_model)},
          {"by_source", to_json(cross.by_source)}};
}

Json to_json(const FitReport& report) {
  const study::Fit& fit = report.fit;
  Json machines = Json::array();
  for (const machine::Machine& m : fit.machines) machines.push_back(machine::name_of(m));
  Json json = {{"machine", machines.at(0)},  {"constants", to_json(fit.constants)},
               {"objective", fit.objective}, {"configurations", fit.measurements},
               {"groups", fit.groups},       {"kind", fit.kind},
               {"machines", machines}};
  if (report.cross) json["cross"] = to_json(*report.cross);
  return json;
}

}  // namespace

std::string json(const ValidationReport& report) {
  Json rows = Json::array();
  for (const study::Comparison& c : report.validation.rows) rows.push_back(to_json(c));
  Json json = {{"file", report.validation.file},
               {"rows", rows},
               {"groups", to_json(report.validation.groups)},
               {"halves", to_json(report.validation.halves)}};
  if (!report.crosses.empty()) json["cross"] = to_json(report.crosses.front());
  for (const study::CrossValidation& cross : report.crosses) {
    json["cross_by_kind"][cross.kind] = to_json(cross);
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json(const std::vector<FitReport>& fits) {
  Json json = fits.empty() ? Json::object() : to_json(fits.front());
  json["kinds"] = Json::array();
  for (const FitReport& fit : fits) json["kinds"].push_back(to_json(fit));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wafer::report
