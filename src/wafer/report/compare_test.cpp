#include "wafer/report/compare.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;

study::CompareRow wafer_row() {
  study::Result r;
  r.question = {.model = "gpt2", .batch = 96, .systems = 4};
  r.model = "gpt2";
  r.machine = "wse3";
  r.answer.step = Seconds(1.5);
  r.answer.samples_per_second = 64;
  r.answer.tokens_per_second = 65536;
  r.answer.energy_per_step = Joules(192);
  r.extrapolated = {"layers 96: measurements cover 18 to 32"};
  return {.contender = {.text = "wse3x4", .machine = "wse3"},
          .attempt = {.question = r.question, .result = r},
          .headroom = study::Headroom{.free = 0.25, .place = "wafer"},
          .effort = study::Effort{.knobs = {}, .lines = 565},
          .ratio = 1};
}

study::CompareRow gpu_row() {
  study::CompareRow row = wafer_row();
  row.contender = {.text = "a100-80gbx8", .machine = "a100-80gb"};
  study::Result& r = *row.attempt.result;
  r.answer.samples_per_second = 32;
  r.answer.cluster = estimate::ClusterParts{};
  r.answer.cluster->parallel = {.tensor = 2, .pipeline = 1, .data = 4};
  r.expected_error = 0.03;
  r.extrapolated = {};
  row.effort = study::Effort{.knobs = {"tensor 2", "data 4"}, .lines = 20507};
  row.ratio = 0.5;
  row.notes = {"zeros are computed"};
  return row;
}

study::CompareRow failed_row() {
  return {.contender = {.text = "h100", .machine = "h100"},
          .attempt = {.question = {.model = "gpt2", .machine = "h100"},
                      .reason = "the model does not fit",
                      .capacity = true}};
}

TEST(CompareTable, has_a_row_a_machine_and_columns_that_some_row_fills) {
  const Table table = compare_table({wafer_row(), gpu_row(), failed_row()});
  EXPECT_EQ(csv(table),
            "name,samples_per_second,ratio,tokens_per_second,step_seconds,energy_joules_per_step,"
            "memory_headroom,parallelism,knobs,lines,expected_error\n"
            "wse3x4,64,1,65536,1.5,192,0.25,1 x 1 x 4,0,565,-\n"
            "a100-80gbx8,32,0.5,65536,1.5,192,0.25,2 x 1 x 4,2,20507,0.03\n"
            "h100,-,-,-,-,-,-,-,-,-,-\n");
}

TEST(CompareTable, has_reasons_and_notes_on_demand) {
  const Table table = compare_table({wafer_row(), gpu_row(), failed_row()}, true);
  EXPECT_EQ(table.columns.back().key, "reason");
  EXPECT_EQ(table.rows[2].back().text, "the model does not fit");
  EXPECT_EQ(table.rows[0].back().text, "-");
}

TEST(CompareText, tells_below_the_table_what_each_answer_rests_on) {
  const std::string text = report::text({wafer_row(), gpu_row(), failed_row()});
  EXPECT_NE(text.find("\nwse3x4\n  expected error not known\n  extrapolated: layers 96"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\na100-80gbx8\n  to be set: tensor 2, data 4\n  zeros are computed\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nh100\n  cannot do it: the model does not fit\n"), std::string::npos)
      << text;
}

TEST(CompareJson, has_the_keys_of_an_estimate_and_those_of_a_comparison) {
  const Json rows = Json::parse(report::json({wafer_row(), gpu_row(), failed_row()}))["rows"];
  EXPECT_EQ(rows[0]["name"], "wse3x4");
  EXPECT_EQ(rows[0]["machine"], "wse3");
  EXPECT_EQ(rows[0]["systems"], 4);
  EXPECT_EQ(rows[0]["energy_joules_per_sample"], 2);  // 192 J / 96
  EXPECT_EQ(rows[0]["extrapolated"].size(), 1U);
  EXPECT_EQ(rows[0]["lines"], 565);
  EXPECT_EQ(rows[1]["parallelism"]["data"], 4);
  EXPECT_EQ(rows[1]["knobs"], (Json{"tensor 2", "data 4"}));
  EXPECT_EQ(rows[1]["ratio"], 0.5);
  EXPECT_EQ(rows[1]["reason"], nullptr);
  EXPECT_EQ(rows[2]["step_seconds"], nullptr);
  EXPECT_EQ(rows[2]["knobs"], nullptr);
  EXPECT_EQ(rows[2]["reason"], "the model does not fit");
  EXPECT_EQ(rows[2]["machine"], "h100");
}

}  // namespace
}  // namespace wafer::report
