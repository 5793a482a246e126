#include <gtest/gtest.h>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/study/workbench.h"

namespace wafer::study {
namespace {

Question bert() {
  return {.model = "bert-large-mlm", .mode = Mode::Pipelined, .batch = 1024, .seq = 128};
}

// ALCF user guides: BERT-large, 128 tokens, batch 1024, pipelined on a CS-2; 7022.97 samples/s with
// release 1.7 and 6493.27 with release 1.8. No constant is fitted on them.
TEST(AnswerPipelined, is_within_15_percent_of_both_measured_rates_of_bert_large) {
  const Result r = answer(bert());
  EXPECT_EQ(r.mode, Mode::Pipelined);
  EXPECT_NEAR(r.answer.samples_per_second / 7022.97, 1, 0.15);
  EXPECT_NEAR(r.answer.samples_per_second / 6493.27, 1, 0.15);
}

TEST(AnswerPipelined, drains_and_fills_once_a_step) {
  Question q = bert();
  const double large = answer(q).answer.step.value;
  q.batch = 512;
  const Result small = answer(q);
  const double period = small.answer.pipelined->period.value;
  EXPECT_NEAR(large - small.answer.step.value, 512 * period, 1e-9);
  EXPECT_EQ(small.answer.pipelined->depth, 2 * 24 + 2);
}

TEST(AnswerPipelined, keeps_all_state_on_the_wafer) {
  const Result r = answer(bert());
  const estimate::Memory& m = r.answer.memory;
  EXPECT_NEAR(m.weights.value, 2 * r.parameters, 1);
  EXPECT_NEAR(m.gradients.value, 4 * r.parameters, 1);
  EXPECT_NEAR(m.optimizer_state.value, 12 * r.parameters, 1);
  EXPECT_EQ(m.store_total.value, 0);
  EXPECT_GT(r.answer.pipelined->used_share(), 0.8);
}

std::string refusal(const Question& q) {
  try {
    answer(q);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(AnswerPipelined, refuses_what_a_pipeline_does_not_do) {
  Question q = bert();
  q.phase = Phase::Infer;
  q.systems = 2;
  q.sparsity = 0.5;
  q.micro_batch = 4;
  q.recompute = plan::Recompute::Full;
  const std::string text = refusal(q);
  for (const char* part : {"--phase infer", "--systems 2", "--sparsity", "--micro-batch 4",
                           "--recompute", "--mode streamed"}) {
    EXPECT_TRUE(contains(text, part));
  }
}

TEST(AnswerPipelined, has_a_region_and_other_modes_have_none) {
  Question q = bert();
  q.region = 300000;
  EXPECT_LE(answer(q).answer.pipelined->kernel_pes, 300000);
  q.mode = Mode::Streamed;
  EXPECT_TRUE(contains(refusal(q), "--region: room for the kernels of a pipeline"));
}

}  // namespace
}  // namespace wafer::study
