#include "wafer/study/validate.h"

#include <gtest/gtest.h>

namespace wafer::study {
namespace {

Validation validated(const std::string& rows) {
  Workbench bench;
  const Csv csv = Csv::parse(
      "id,machine,mode,model,phase,batch,seq_len,predict,expect,scored\n" + rows, "m.csv");
  return validate(measurements(csv), "m.csv", bench);
}

std::string reason_of(const std::string& row) { return validated(row + "\n").rows.at(0).reason; }

// A comparison of a measured 100 with what is predicted for it.
Comparison row(const std::string& id, const std::string& model, int64_t batch, double predicted,
               double measured = 100) {
  Comparison c;
  c.measurement = {.id = id,
                   .machine = "wse2",
                   .mode = "streamed",
                   .model = model,
                   .phase = "train",
                   .predict = "samples_per_second",
                   .expect = measured,
                   .scored = true,
                   .question = {.model = model, .batch = batch}};
  c.predicted = predicted;
  c.error = predicted / measured - 1;
  return c;
}

TEST(Validate, predicts_a_row_in_the_unit_of_its_measurement) {
  const Validation v = validated(
      "a,wse2,streamed,bert-base,train,1024,128,samples_per_second,5000,1\n"
      "b,wse2,,bert-base,train,1024,128,step_seconds,0.2,0\n");
  ASSERT_TRUE(v.rows[0].predicted && v.rows[1].predicted);
  EXPECT_NEAR(*v.rows[0].predicted * *v.rows[1].predicted, 1024, 1e-6);
  EXPECT_NEAR(*v.rows[0].error, *v.rows[0].predicted / 5000 - 1, 1e-12);
}

TEST(Validate, keeps_every_row_and_says_why_one_is_not_predicted) {
  EXPECT_EQ(reason_of("a,wse2,,bert-base,train,8,128,,,0"),
            "context: the row names nothing to predict");
  EXPECT_EQ(reason_of("a,,,bert-base,train,8,128,step_seconds,1,1"), "the row names no machine");
  EXPECT_EQ(reason_of("a,a100-80gb,,bert-base,train,8,128,step_seconds,1,1"), "");
  EXPECT_EQ(reason_of("a,wse2,,bert-base,train,8,128,hardware_flops_per_second_per_gpu,1,1"),
            "hardware_flops_per_second_per_gpu: no part of an answer for wse2");
  EXPECT_EQ(
      reason_of("a,tpu,,bert-base,train,8,128,step_seconds,1,1").find("machine tpu: not among"),
      0u);
  EXPECT_NE(reason_of("a,wse2,resident,bert-base,train,8,128,step_seconds,1,1")
                .find("it is for --phase infer"),
            std::string::npos);
  EXPECT_EQ(reason_of("a,wse2,,,train,8,128,step_seconds,1,1"), "the row names no model");
  EXPECT_EQ(reason_of("a,wse2,,bert-base,train,8,128,latency,1,1"),
            "latency: not a quantity that this version predicts");
  EXPECT_NE(reason_of("a,wse2,,bert-base,train,8,x,step_seconds,1,1").find("column seq_len"),
            std::string::npos);
  EXPECT_NE(reason_of("a,wse2,,bert-huge,train,8,128,step_seconds,1,1").find("bert-huge"),
            std::string::npos);
  EXPECT_NE(reason_of("a,wse2,,bert-base,train,0,128,step_seconds,1,1").find("--batch"),
            std::string::npos);
}

TEST(Validate, tells_its_progress_row_by_row) {
  Workbench bench;
  const Csv csv = Csv::parse(
      "id,machine,model,phase,batch,predict,expect\n1,wse2,,train,1,,\n2,wse2,,train,1,,\n",
      "m.csv");
  std::vector<size_t> told;
  validate(measurements(csv), "m.csv", bench, [&](size_t done, size_t of) {
    EXPECT_EQ(of, 2u);
    told.push_back(done);
  });
  EXPECT_EQ(told, (std::vector<size_t>{1, 2}));
}

TEST(GroupErrors, are_of_scored_rows_by_machine_mode_and_phase) {
  std::vector<Comparison> rows = {row("1", "a", 1, 110), row("2", "a", 2, 96), row("3", "b", 1, 80),
                                  row("4", "b", 2, 500)};
  rows[3].measurement.scored = false;
  const std::vector<GroupError> groups = group_errors(rows);
  ASSERT_EQ(groups.size(), 1u);
  const GroupError& g = groups[0];
  EXPECT_EQ(g.rows, 3);
  EXPECT_NEAR(g.mean, (0.10 + 0.04 + 0.20) / 3, 1e-12);
  EXPECT_NEAR(g.by_model, ((0.10 + 0.04) / 2 + 0.20) / 2, 1e-12);
  EXPECT_NEAR(g.worst, 0.20, 1e-12);
  EXPECT_EQ(g.worst_id, "3");
  EXPECT_NEAR(g.within_15, 2.0 / 3, 1e-12);
}

TEST(GroupErrors, count_a_row_that_is_not_predicted_as_wholly_wrong) {
  Comparison missing = row("1", "a", 1, 100);
  missing.predicted.reset();
  missing.error.reset();
  const GroupError g = group_errors({missing, row("2", "a", 2, 100)}).at(0);
  EXPECT_EQ(g.predicted, 1);
  EXPECT_NEAR(g.mean, 0.5, 1e-12);
}

TEST(GroupErrors, take_the_mean_of_repeats_for_one_measurement) {
  // 90 and 110 were measured of one configuration: their mean, 100, is what is predicted.
  const GroupError g =
      group_errors({row("1", "a", 1, 100, 90), row("2", "a", 1, 100, 110), row("3", "a", 2, 120)})
          .at(0);
  EXPECT_EQ(g.configurations, 2);
  EXPECT_NEAR(g.by_configuration, (0.0 + 0.2) / 2, 1e-12);
}

TEST(GroupErrors, have_the_90th_percentile_of_ten_errors_at_the_ninth) {
  std::vector<Comparison> rows;
  for (int i = 1; i <= 10; ++i) rows.push_back(row(std::to_string(i), "a", i, 100 + i));
  EXPECT_NEAR(group_errors(rows).at(0).p90, 0.09, 1e-12);
}

// Row 227 is held out (SHA-256 of "227" begins with df), 241 fitted (74).
TEST(HalfErrors, are_apart_where_a_kind_is_fitted_by_half) {
  std::vector<Comparison> rows = {row("227", "a", 1, 130), row("241", "a", 1, 110),
                                  row("241", "a", 1, 90)};
  EXPECT_TRUE(half_errors(rows).empty()) << "training is fitted on all rows";
  for (Comparison& c : rows) {
    c.measurement.machine = "a100-80gb";
    c.measurement.mode = "";
    c.measurement.phase = "infer";
  }
  const std::vector<GroupError> halves = half_errors(rows);
  ASSERT_EQ(halves.size(), 2u);
  EXPECT_EQ(halves[0].half, Half::Fitted);
  EXPECT_EQ(halves[0].rows, 2);
  EXPECT_NEAR(halves[0].mean, 0.1, 1e-12);
  EXPECT_EQ(halves[1].half, Half::Held);
  EXPECT_NEAR(halves[1].mean, 0.3, 1e-12);
}

}  // namespace
}  // namespace wafer::study
