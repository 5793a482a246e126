#include "wafer/report/validation.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;

study::Comparison row(const std::string& id, std::optional<double> predicted, double measured) {
  study::Comparison c;
  c.measurement = {.id = id,
                   .machine = "wse2",
                   .mode = "streamed",
                   .model = "gpt2",
                   .phase = "train",
                   .predict = "samples_per_second",
                   .expect = measured,
                   .scored = true,
                   .question = {.model = "gpt2", .batch = 112}};
  c.predicted = predicted;
  if (predicted) c.error = *predicted / measured - 1;
  if (!predicted) c.reason = "mode pipelined: not modelled in this version";
  return c;
}

ValidationReport report() {
  ValidationReport r;
  r.validation.file = "m.csv";
  r.validation.rows = {row("7", 550, 500), row("8", 550, 400), row("9", std::nullopt, 300)};
  r.validation.groups = study::group_errors(r.validation.rows);
  return r;
}

TEST(ValidationJson, has_a_row_for_every_measurement) {
  const Json json = Json::parse(report::json(report()));
  ASSERT_EQ(json["rows"].size(), 3u);
  EXPECT_EQ(json["rows"][0]["id"], "7");
  EXPECT_EQ(json["rows"][0]["predicted"], 550);
  EXPECT_EQ(json["rows"][0]["measured"], 500);
  EXPECT_NEAR(json["rows"][0]["error"], 0.1, 1e-12);
  EXPECT_TRUE(json["rows"][0]["reason"].is_null());
  EXPECT_TRUE(json["rows"][2]["predicted"].is_null());
  EXPECT_EQ(json["rows"][2]["reason"], "mode pipelined: not modelled in this version");
  EXPECT_EQ(json["groups"][0]["rows"], 3);
  EXPECT_EQ(json["groups"][0]["predicted"], 2);
  EXPECT_FALSE(json.contains("cross"));
}

TEST(ValidationText, shows_errors_with_their_sign_and_names_what_is_not_predicted) {
  const std::string text = report::text(report());
  EXPECT_NE(text.find("+10.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("+37.5 %"), std::string::npos);
  EXPECT_NE(text.find("mode pipelined: not modelled in this version  9"), std::string::npos);
}

TEST(ValidationReports, have_the_halves_of_a_kind_apart) {
  ValidationReport r = report();
  study::GroupError fitted{.machine = "h100", .phase = "infer", .half = study::Half::Fitted};
  fitted.rows = fitted.predicted = 6;
  fitted.mean = 0.11;
  study::GroupError held = fitted;
  held.half = study::Half::Held;
  held.mean = 0.15;
  r.validation.halves = {fitted, held};
  const Json json = Json::parse(report::json(r));
  EXPECT_EQ(json["halves"][0]["half"], "fitted");
  EXPECT_EQ(json["halves"][1]["half"], "held");
  EXPECT_EQ(json["halves"][1]["mean"], 0.15);
  EXPECT_FALSE(json["groups"][0].contains("half"));
  const std::string text = report::text(r);
  EXPECT_NE(text.find("11.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("held"), std::string::npos);
  EXPECT_NE(parts(r, {}).at("halves").find("| held |"), std::string::npos);
}

TEST(RepeatTable, shows_how_far_measurements_of_one_configuration_are_apart) {
  const Table table = repeat_table(report().validation);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][6].text, "1.250");  // 500 / 400
  EXPECT_EQ(table.rows[0][7].text, "7, 8");
}

TEST(Parts, are_there_for_every_mark_of_a_document) {
  ValidationReport r = report();
  EXPECT_FALSE(parts(r, {}).contains("k-without-model"));
  r.crosses.push_back({.kind = "k", .by_model = {}, .by_source = {}});
  for (const char* name :
       {"rows", "groups", "halves", "not-predicted", "repeats", "k-without-model",
        "k-without-source", "k-mean-without-model", "k-mean-without-source"}) {
    EXPECT_TRUE(parts(r, {}).contains(name)) << name;
  }
}

}  // namespace
}  // namespace wafer::report
