#include "wafer/study/fit.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"
#include "wafer/estimate/streamed.h"

namespace wafer::study {
namespace {

struct Shape {
  const char* model;
  int64_t batch, seq;
};
// Small batches show the fixed costs, long sequences the attention, wide models the products.
constexpr Shape Shapes[] = {{"bert-base", 64, 128}, {"bert-base", 1024, 128},
                            {"bert-base", 8, 512},  {"bert-large", 2048, 128},
                            {"gpt2", 64, 1024},     {"gpt3-1.3b", 64, 2048},
                            {"gpt3-1.3b", 2, 2048}, {"bert-tiny", 1024, 128}};

// What a wafer with these constants would have been measured at.
std::vector<Measurement> measured_on(const machine::Wafer& machine, Workbench& bench) {
  std::vector<Measurement> rows;
  for (const Shape& s : Shapes) {
    Measurement m{.id = std::to_string(rows.size()),
                  .source = "s",
                  .machine = "wse2",
                  .mode = "streamed",
                  .model = s.model,
                  .phase = "train",
                  .predict = "step_seconds",
                  .scored = true,
                  .question = {.model = s.model, .batch = s.batch, .seq = s.seq}};
    m.expect = estimate::streamed(bench.skeleton(m.question, machine), machine).step.value;
    rows.push_back(m);
  }
  return rows;
}

machine::Wafer other_constants(Workbench& bench) {
  machine::Wafer machine = bench.wafer("wse2");
  machine.fitted.product_efficiency.value = 0.55;
  machine.fitted.pass_time.value = Seconds(2.5e-3);
  machine.fitted.score_cycles.value = Cycles(60);
  machine.fitted.step_time.value = Seconds(30e-3);
  return machine;
}

TEST(Fit, finds_the_constants_that_measurements_were_made_with) {
  Workbench bench;
  const std::vector<Measurement> rows = measured_on(other_constants(bench), bench);
  const Fit found = fit(rows, bench.wafer("wse2"), bench);
  EXPECT_LT(found.objective, 2e-3);
  EXPECT_NEAR(found.machine.fitted.product_efficiency.value, 0.55, 0.01);
  EXPECT_NEAR(found.machine.fitted.pass_time.value.value, 2.5e-3, 0.1e-3);
  EXPECT_NEAR(found.machine.fitted.score_cycles.value.value, 60, 3);
  EXPECT_NEAR(found.machine.fitted.step_time.value.value, 30e-3, 2e-3);
}

TEST(Fit, does_not_depend_on_the_constants_that_the_machine_has) {
  Workbench bench;
  const std::vector<Measurement> rows = measured_on(other_constants(bench), bench);
  const Fit a = fit(rows, bench.wafer("wse2"), bench);
  const Fit b = fit(rows, other_constants(bench), bench);
  for (size_t i = 0; i < a.constants.size(); ++i) {
    EXPECT_EQ(a.constants[i].value, b.constants[i].value) << a.constants[i].key;
  }
}

TEST(Fit, averages_repeats_of_a_configuration_into_one_measurement) {
  Workbench bench;
  std::vector<Measurement> rows = measured_on(bench.wafer("wse2"), bench);
  const int once = fit(rows, bench.wafer("wse2"), bench).measurements;
  rows.push_back(rows[0]);
  rows.back().id = "again";
  EXPECT_EQ(fit(rows, bench.wafer("wse2"), bench).measurements, once);
}

TEST(Fit, refuses_fewer_configurations_than_constants) {
  Workbench bench;
  std::vector<Measurement> rows = measured_on(bench.wafer("wse2"), bench);
  rows.resize(3);
  EXPECT_THROW(fit(rows, bench.wafer("wse2"), bench), InputError);
}

TEST(FitRows, are_scored_training_rows_of_the_machine_in_streamed_mode) {
  Workbench bench;
  const Measurement good = measured_on(bench.wafer("wse2"), bench)[0];
  std::vector<Measurement> rows(6, good);
  rows[1].scored = false;
  rows[2].machine = "wse3";
  rows[3].mode = "pipelined";
  rows[4].phase = "infer";
  rows[5].problem = "line 7, ...";
  EXPECT_EQ(fit_rows(rows, "wse2").size(), 1u);
}

TEST(CrossValidation, predicts_each_model_by_a_fit_on_the_others) {
  Workbench bench;
  // All rows follow one law, so that what is left out is met as well as what is fitted.
  std::vector<Measurement> rows = measured_on(other_constants(bench), bench);
  rows[7].source = "t";
  const CrossValidation cross = cross_validate(rows, bench.wafer("wse2"), bench);
  ASSERT_EQ(cross.by_model.size(), 5u);
  EXPECT_EQ(cross.by_model[0].left_out, "bert-base");
  EXPECT_EQ(cross.by_model[0].rows, 3);
  EXPECT_LT(cross.model_mean, 0.05);
  ASSERT_EQ(cross.by_source.size(), 1u) << "without s too few rows remain";
  EXPECT_EQ(cross.by_source[0].left_out, "t");
}

TEST(CrossValidation, is_bad_for_a_model_that_follows_another_law) {
  Workbench bench;
  std::vector<Measurement> rows = measured_on(bench.wafer("wse2"), bench);
  for (Measurement& m : rows) {
    if (m.model == "gpt3-1.3b") m.expect = *m.expect * 2;
  }
  const CrossValidation cross = cross_validate(rows, bench.wafer("wse2"), bench);
  for (const Fold& fold : cross.by_model) {
    if (fold.left_out == "gpt3-1.3b") {
      EXPECT_NEAR(fold.mean_error, 0.5, 0.1);
    }
  }
}

}  // namespace
}  // namespace wafer::study
