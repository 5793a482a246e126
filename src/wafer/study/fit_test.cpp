#include "wafer/study/fit.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"
#include "wafer/estimate/streamed.h"
#include "wafer/machine/numbers.h"

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

const FitKind& streamed() { return fit_kind_named("streamed-training"); }

Fit fit_streamed(const std::vector<Measurement>& rows, const machine::Wafer& machine,
                 Workbench& bench) {
  return fit(streamed(), rows, {machine}, bench);
}

TEST(Fit, finds_the_constants_that_measurements_were_made_with) {
  Workbench bench;
  const std::vector<Measurement> rows = measured_on(other_constants(bench), bench);
  const Fit found = fit_streamed(rows, bench.wafer("wse2"), bench);
  const auto& wafer = std::get<machine::Wafer>(found.machines.front());
  EXPECT_LT(found.objective, 2e-3);
  EXPECT_NEAR(wafer.fitted.product_efficiency.value, 0.55, 0.01);
  EXPECT_NEAR(wafer.fitted.pass_time.value.value, 2.5e-3, 0.1e-3);
  EXPECT_NEAR(wafer.fitted.score_cycles.value.value, 60, 3);
  EXPECT_NEAR(wafer.fitted.step_time.value.value, 30e-3, 2e-3);
}

TEST(Fit, does_not_depend_on_the_constants_that_the_machine_has) {
  Workbench bench;
  const std::vector<Measurement> rows = measured_on(other_constants(bench), bench);
  const Fit a = fit_streamed(rows, bench.wafer("wse2"), bench);
  const Fit b = fit_streamed(rows, other_constants(bench), bench);
  for (size_t i = 0; i < a.constants.size(); ++i) {
    EXPECT_EQ(a.constants[i].value, b.constants[i].value) << a.constants[i].key;
  }
}

TEST(Fit, averages_repeats_of_a_configuration_into_one_measurement) {
  Workbench bench;
  std::vector<Measurement> rows = measured_on(bench.wafer("wse2"), bench);
  const int once = fit_streamed(rows, bench.wafer("wse2"), bench).measurements;
  rows.push_back(rows[0]);
  rows.back().id = "again";
  EXPECT_EQ(fit_streamed(rows, bench.wafer("wse2"), bench).measurements, once);
}

TEST(Fit, refuses_fewer_configurations_than_constants) {
  Workbench bench;
  std::vector<Measurement> rows = measured_on(bench.wafer("wse2"), bench);
  rows.resize(3);
  EXPECT_THROW(fit_streamed(rows, bench.wafer("wse2"), bench), InputError);
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
  EXPECT_EQ(fit_rows(rows, streamed()).size(), 1u);
}

TEST(FitRows, are_of_a_halved_kind_those_with_an_even_hash) {
  Measurement m{.id = "abc",  // its SHA-256 begins with ba, that of "" with e3
                .machine = "h100",
                .model = "llama3-8b",
                .phase = "infer",
                .predict = "decode_tokens_per_second",
                .expect = 1,
                .scored = true};
  EXPECT_EQ(fit_rows({m}, fit_kind_named("cluster-inference")).size(), 1u);
  m.id = "";
  EXPECT_TRUE(fit_rows({m}, fit_kind_named("cluster-inference")).empty());
}

// Rows of GPUs with other constants, in training; one machine of each row.
std::vector<Measurement> measured_on_gpus(std::vector<machine::Machine>& machines,
                                          Workbench& bench) {
  std::vector<Measurement> rows;
  for (machine::Machine& m : machines) {
    auto& cluster = std::get<machine::GpuCluster>(m);
    cluster.fitted.product_efficiency.value = 0.7;
    cluster.fitted.nic_share.value = 0.3;
    for (const Shape& s : {Shape{"bert-large", 4096, 128},
                           {"bert-base", 512, 512},
                           {"gpt3-1.3b", 64, 2048},
                           {"gpt3-6.7b", 64, 2048}}) {
      Question q{.model = s.model, .batch = s.batch, .seq = s.seq, .systems = 32};
      q.cluster.tensor = q.cluster.pipeline = 1;
      q.cluster.data = 32;
      q.cluster.sharding = plan::Sharding::Full;
      Measurement row{.id = std::to_string(rows.size()),
                      .machine = cluster.name,
                      .model = s.model,
                      .phase = "train",
                      .predict = "step_seconds",
                      .scored = true,
                      .question = q};
      row.expect = bench.planned(q, m).price(m).step.value;
      rows.push_back(row);
    }
  }
  return rows;
}

TEST(Fit, gives_all_machines_of_a_kind_the_same_constants) {
  Workbench bench;
  FitKind kind = fit_kind_named("cluster-training");
  kind.machines = {"a100-80gb", "h100"};
  // The two that the rows were made with; the others stay at what the files have.
  std::erase_if(kind.constants, [](const FreeConstant& c) {
    return std::string(c.key) != "fitted.product_efficiency" &&
           std::string(c.key) != "fitted.nic_share";
  });
  std::vector<machine::Machine> measured = machines_of(kind, bench);
  const Fit found = fit(kind, measured_on_gpus(measured, bench), machines_of(kind, bench), bench);
  EXPECT_LT(found.objective, 2e-3);
  ASSERT_EQ(found.machines.size(), 2u);
  for (const machine::Machine& m : found.machines) {
    const auto& fitted = std::get<machine::GpuCluster>(m).fitted;
    EXPECT_NEAR(fitted.product_efficiency.value, 0.7, 0.005);
    EXPECT_NEAR(fitted.nic_share.value, 0.3, 0.01);
  }
}

TEST(FitKinds, name_numbers_that_all_their_machines_have) {
  Workbench bench;
  for (const FitKind& kind : fit_kinds()) {
    for (machine::Machine& m : machines_of(kind, bench)) {
      EXPECT_TRUE(kind.suits(m));
      for (const FreeConstant& c : kind.constants) {
        c.of(m) = 0.625;  // a float in binary
        const std::vector<machine::Number> numbers = machine::numbers(m);
        const auto number = std::find_if(numbers.begin(), numbers.end(),
                                         [&](const auto& n) { return n.key == c.key; });
        ASSERT_NE(number, numbers.end()) << kind.name << " " << c.key;
        EXPECT_EQ(number->value.at(0), 0.625) << kind.name << " " << c.key;
      }
    }
  }
}

TEST(FitKinds, hold_at_most_eight_constants_of_gpus) {
  size_t constants = 0;
  for (const FitKind& kind : fit_kinds()) {
    if (kind.mode == Mode::Cluster) constants += kind.constants.size();
  }
  EXPECT_LE(constants, 8u);
}

TEST(CrossValidation, predicts_each_model_by_a_fit_on_the_others) {
  Workbench bench;
  // All rows follow one law, so that what is left out is met as well as what is fitted.
  std::vector<Measurement> rows = measured_on(other_constants(bench), bench);
  rows[7].source = "t";
  const CrossValidation cross = cross_validate(streamed(), rows, {bench.wafer("wse2")}, bench);
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
  const CrossValidation cross = cross_validate(streamed(), rows, {bench.wafer("wse2")}, bench);
  for (const Fold& fold : cross.by_model) {
    if (fold.left_out == "gpt3-1.3b") {
      EXPECT_NEAR(fold.mean_error, 0.5, 0.1);
    }
  }
}

}  // namespace
}  // namespace wafer::study
