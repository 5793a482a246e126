#include "wafer/report/answer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;

study::Result result() {
  study::Result r;
  r.question = {.model = "bert-large", .batch = 8192};
  r.model = "bert-large";
  r.machine = "wse2";
  r.seq_len = 128;
  r.micro_batch = 2048;
  r.micro_batches = 4;
  r.parameters = 335143938;
  r.epoch = Seconds(9.5);
  r.question.epoch_samples = 67350;
  r.expected_error = 0.078;
  estimate::Answer& a = r.answer;
  a.step = Seconds(1.25);
  a.samples_per_second = 6553.6;
  a.tokens_per_second = 838860.8;
  a.bound = estimate::Bound::LayerOverhead;
  a.hand_over = Seconds(0.25);
  a.memory.weights = Bytes(670e6);
  a.layers.push_back({.name = "layer",
                      .times = 96,
                      .seconds = Seconds(1),
                      .flops = Flops(2e15),
                      .bytes = Bytes(3e9),
                      .bound = estimate::Bound::Compute});
  return r;
}

TEST(AnswerJson, has_the_keys_that_are_promised_in_their_order) {
  const Json json = Json::parse(report::json(result()));
  const std::vector<std::string> promised = {"model",
                                             "machine",
                                             "systems",
                                             "phase",
                                             "mode",
                                             "batch",
                                             "micro_batch",
                                             "seq_len",
                                             "precision",
                                             "samples_per_second",
                                             "tokens_per_second",
                                             "step_seconds",
                                             "model_flops_per_step",
                                             "model_flops_per_second",
                                             "utilization",
                                             "bound",
                                             "epoch_seconds",
                                             "train_seconds",
                                             "energy_joules_per_step",
                                             "expected_error",
                                             "extrapolated",
                                             "memory",
                                             "layers"};
  std::vector<std::string> found;
  for (const auto& [key, value] : json.items()) found.push_back(key);
  ASSERT_GE(found.size(), promised.size());
  found.resize(promised.size());
  EXPECT_EQ(found, promised);
}

TEST(AnswerJson, has_the_values_in_si_units_and_null_for_what_was_not_asked) {
  const Json json = Json::parse(report::json(result()));
  EXPECT_EQ(json["systems"], 1);
  EXPECT_EQ(json["phase"], "train");
  EXPECT_EQ(json["mode"], "streamed");
  EXPECT_EQ(json["precision"], "16bit");
  EXPECT_EQ(json["step_seconds"], 1.25);
  EXPECT_EQ(json["bound"], "layer_overhead");
  EXPECT_EQ(json["epoch_seconds"], 9.5);
  EXPECT_TRUE(json["train_seconds"].is_null());
  EXPECT_EQ(json["expected_error"], 0.078);
  EXPECT_TRUE(json["extrapolated"].is_array());
  EXPECT_EQ(json["memory"]["weights_bytes"], 670e6);
  EXPECT_TRUE(json["memory"].contains("activations_bytes"));
  const Json& layer = json["layers"][0];
  EXPECT_EQ(layer["name"], "layer");
  EXPECT_EQ(layer["seconds"], 1);
  EXPECT_EQ(layer["flops"], 2e15);
  EXPECT_EQ(layer["bytes"], 3e9);
  EXPECT_EQ(layer["bound"], "compute");
}

TEST(AnswerJson, has_the_papers_roofline_where_it_is_asked_for) {
  EXPECT_FALSE(Json::parse(report::json(result())).contains("paper_roofline"));
  EXPECT_TRUE(
      Json::parse(report::json(result(), {.paper_roofline = true})).contains("paper_roofline"));
}

TEST(AnswerText, begins_with_the_rate_and_tells_error_and_extrapolation) {
  study::Result r = result();
  r.extrapolated = {"hidden width 6144: measurements cover 1024 to 4096"};
  const std::string text = report::text(r);
  EXPECT_EQ(text.find("bert-large: 6554 samples/s in training on wse2"), 0u) << text;
  for (const char* part : {"1.25 s, limited by layer_overhead", "7.8 %", "hidden width 6144",
                           "9.5 s of 67350 samples", "4 micro-batches of 2048"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in:\n" << text;
  }
  EXPECT_EQ(text.find("HPEC"), std::string::npos);
  EXPECT_NE(report::text(r, {.paper_roofline = true}).find("HPEC"), std::string::npos);
}

TEST(AnswerText, has_the_latency_of_the_host_on_a_line_of_its_own_where_there_is_any) {
  study::Result r = result();
  EXPECT_EQ(report::text(r).find("host latency"), std::string::npos);
  EXPECT_TRUE(Json::parse(report::json(r))["host_latency_seconds"].is_null());
  r.answer.host_latency = Seconds(0.306);
  EXPECT_NE(report::text(r).find("\nhost latency    306 ms: "), std::string::npos)
      << report::text(r);
  EXPECT_EQ(Json::parse(report::json(r))["host_latency_seconds"], 0.306);
}

TEST(AnswerText, says_that_no_error_is_known) {
  study::Result r = result();
  r.expected_error.reset();
  EXPECT_NE(report::text(r).find("not known"), std::string::npos);
}

TEST(TimeTable, has_shares_of_a_step_that_sum_to_one) {
  double sum = 0;
  const Table table = time_table(result());
  for (const std::vector<Cell>& row : table.rows) sum += row[4].value.value_or(0);
  EXPECT_EQ(table.columns[4].key, "share");
  EXPECT_NEAR(sum, 1, 1e-12);  // layers 1 s and hand-over 0.25 s of 1.25 s
}

}  // namespace
}  // namespace wafer::report
