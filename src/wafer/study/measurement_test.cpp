#include "wafer/study/measurement.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

constexpr const char* Header =
    "id,source,machine,mode,model,phase,seq_len,batch,n_systems,sparsity,precision_class,"
    "micro_batch,recompute,predict,expect,scored\n";

Measurement only(const std::string& row) {
  const std::vector<Measurement> all = measurements(Csv::parse(Header + row + "\n", "m.csv"));
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

std::string error_of(const std::string& text) {
  try {
    measurements(Csv::parse(text, "m.csv"));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Measurement, reads_every_column_that_a_question_has) {
  const Measurement m =
      only("137,log,wse2,streamed,gptj-6b,train,2048,120,2,75%,cb16,30,full,step_seconds,2.5,1");
  EXPECT_EQ(m.problem, "");
  EXPECT_EQ(m.id, "137");
  EXPECT_EQ(m.source, "log");
  EXPECT_EQ(m.expect, 2.5);
  EXPECT_TRUE(m.scored);
  const Question& q = m.question;
  EXPECT_EQ(q.model, "gptj-6b");
  EXPECT_EQ(q.machine, "wse2");
  EXPECT_EQ(q.mode, Mode::Streamed);
  EXPECT_EQ(q.phase, Phase::Train);
  EXPECT_EQ(q.seq, 2048);
  EXPECT_EQ(q.batch, 120);
  EXPECT_EQ(q.systems, 2);
  EXPECT_EQ(q.sparsity, 0.75);
  EXPECT_EQ(q.precision, Precision::Cb16);
  EXPECT_EQ(q.micro_batch, 30);
  EXPECT_EQ(q.recompute, plan::Recompute::Full);
}

TEST(Measurement, takes_the_defaults_of_a_question_for_empty_cells) {
  const Measurement m = only("1,,wse2,,gpt2,infer,,8,,,,,,samples_per_second,3,0");
  EXPECT_EQ(m.problem, "");
  EXPECT_FALSE(m.scored);
  EXPECT_EQ(m.question.mode, Mode::Auto);
  EXPECT_EQ(m.question.phase, Phase::Infer);
  EXPECT_EQ(m.question.seq, std::nullopt);
  EXPECT_EQ(m.question.systems, 1);
  EXPECT_EQ(m.question.sparsity, 0);
  EXPECT_EQ(m.question.precision, Precision::Any16);
  EXPECT_EQ(m.question.micro_batch, std::nullopt);
}

TEST(Measurement, reads_a_sparsity_in_each_of_its_spellings) {
  const auto sparsity = [](const std::string& cell) {
    return only("1,,wse2,,gpt2,train,,8,," + cell + ",,,,step_seconds,1,1").question.sparsity;
  };
  EXPECT_EQ(sparsity("dense"), 0);
  EXPECT_EQ(sparsity("0.9"), 0.9);
  EXPECT_EQ(sparsity("90%"), 0.9);
  EXPECT_EQ(sparsity("75% unstructured"), 0.75);
  EXPECT_EQ(sparsity("2:4"), plan::Sparsity::pattern(2, 4));
}

TEST(Measurement, names_line_column_and_text_of_a_cell_that_it_cannot_read) {
  const auto problem = [](const std::string& row) { return only(row).problem; };
  EXPECT_EQ(problem("1,,wse2,,gpt2,train,,many,,,,,,step_seconds,1,1"),
            "line 2, column batch: expected a whole number, found \"many\"");
  EXPECT_EQ(problem("1,,wse2,,gpt2,train,,8,,variable,,,,step_seconds,1,1"),
            "line 2, column sparsity: expected dense, a fraction or percentage below "
            "all, or N:M, found \"variable\"");
  EXPECT_EQ(problem("1,,wse2,,gpt2,both,,8,,,,,,step_seconds,1,1"),
            "line 2, column phase: expected train or infer, found \"both\"");
  EXPECT_EQ(problem("1,,wse2,,gpt2,train,,8,,,,,,step_seconds,inf,1"),
            "line 2, column expect: expected a number, found \"inf\"");
}

TEST(Measurement, leaves_the_cells_of_a_context_row_to_people) {
  const Measurement m = only("1,,,,,,?,,DP=1,,,,,,,");
  EXPECT_EQ(m.problem, "");
  EXPECT_EQ(m.predict, "");
  EXPECT_FALSE(m.scored);
}

TEST(Measurement, gives_a_network_the_positions_that_the_row_ran_with) {
  EXPECT_EQ(only("1,,wse2,,gpt2,train,2048,8,,,,,,step_seconds,1,1").question.model,
            "gpt2:seq=2048");
  EXPECT_EQ(only("1,,wse2,,gpt2,train,1024,8,,,,,,step_seconds,1,1").question.model, "gpt2");
  EXPECT_EQ(only("1,,wse2,,llama-7b,train,9000,8,,,,,,step_seconds,1,1").question.model,
            "llama-7b");
}

TEST(Measurement, counts_every_row_where_there_is_no_column_scored) {
  const std::vector<Measurement> all = measurements(Csv::parse(
      "id,machine,model,phase,batch,predict,expect\n1,wse2,gpt2,train,8,step_seconds,1\n",
      "m.csv"));
  EXPECT_TRUE(all.at(0).scored);
}

TEST(Measurements, names_all_columns_that_are_missing) {
  const std::string error = error_of("id,machine,model,batch\n");
  EXPECT_NE(error.find("m.csv:1:"), std::string::npos) << error;
  for (const char* column : {"phase", "predict", "expect"}) {
    EXPECT_NE(error.find(std::string("column ") + column + " is missing"), std::string::npos);
  }
}

TEST(Measurements, refuses_an_id_that_stands_twice) {
  const std::string row = "7,,wse2,,gpt2,train,,8,,,,,,step_seconds,1,1\n";
  EXPECT_NE(error_of(Header + row + row).find("m.csv:3: id \"7\" stands in line 2 already"),
            std::string::npos);
}

TEST(Quantity, is_read_from_an_answer_in_si_units) {
  estimate::Answer answer;
  answer.step = Seconds(2);
  answer.samples_per_second = 50;
  answer.tokens_per_second = 6400;
  answer.host_latency = Seconds(0.3);
  const auto value = [&](const std::string& predict) {
    EXPECT_EQ(refuse_quantity(predict), "");
    Measurement m;
    m.predict = predict;
    return predicted(m, answer);
  };
  EXPECT_EQ(value("step_seconds"), 2);
  EXPECT_EQ(value("samples_per_second"), 50);
  EXPECT_EQ(value("host_latency_seconds"), 0.3);
  EXPECT_EQ(value("tokens_per_second"), 6400);
  EXPECT_EQ(value("epoch_seconds:1000"), 20);   // 1000 samples at 50 a second
  EXPECT_EQ(value("train_seconds:64000"), 10);  // 64000 tokens at 6400 a second
}

TEST(Quantity, is_refused_where_it_is_not_known_or_lacks_its_count) {
  EXPECT_EQ(refuse_quantity("noise_decibels"),
            "noise_decibels: not a quantity that this version predicts");
  for (const char* wrong :
       {"epoch_seconds", "epoch_seconds:", "epoch_seconds:x", "epoch_seconds:-1"}) {
    EXPECT_NE(refuse_quantity(wrong).find("expected a positive number after a colon"),
              std::string::npos)
        << wrong;
  }
}

}  // namespace
}  // namespace wafer::study
