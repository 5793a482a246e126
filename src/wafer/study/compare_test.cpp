#include "wafer/study/compare.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

std::vector<Contender> contenders(const std::vector<std::string>& texts) {
  std::vector<Contender> all;
  for (const std::string& text : texts) all.push_back(contender(text));
  return all;
}

std::vector<CompareRow> compared(const Question& q, const std::vector<std::string>& machines) {
  Workbench bench;
  return compare(q, contenders(machines), bench);
}

TEST(Compare, answers_as_each_machine_alone_does) {
  const std::vector<CompareRow> rows =
      compared({.model = "gpt2", .batch = 512}, {"wse2", "wse3x2"});
  ASSERT_EQ(rows.size(), 2U);
  const Result alone = answer({.model = "gpt2", .machine = "wse3", .batch = 512, .systems = 2});
  EXPECT_EQ(rows[1].attempt.result->answer.step.value, alone.answer.step.value);
  EXPECT_EQ(rows[0].ratio, 1);
  EXPECT_EQ(*rows[1].ratio,
            alone.answer.samples_per_second / rows[0].attempt.result->answer.samples_per_second);
}

TEST(Compare, lets_the_rest_stand_where_one_does_not_fit) {
  const std::vector<CompareRow> rows =
      compared({.model = "gpt3-175b", .batch = 256}, {"a100-80gb", "wse2"});
  EXPECT_FALSE(rows[0].attempt.result || rows[0].ratio || rows[0].effort || rows[0].headroom);
  EXPECT_TRUE(rows[0].attempt.capacity);
  EXPECT_NE(rows[0].attempt.reason.find("does not fit"), std::string::npos);
  EXPECT_EQ(rows[1].ratio, 1);  // the first that has an answer
}

TEST(Compare, is_refused_where_no_machine_can_do_it) {
  const Question large{.model = "gpt3-175b", .batch = 256};
  EXPECT_THROW(compared(large, {"a100-80gb", "h100"}), CapacityError);
  EXPECT_THROW(compared({.model = "gpt2", .batch = 0}, {"wse2", "wse3"}), InputError);
  EXPECT_THROW(compared({.model = "gpt2"}, {"wse2", "wse9"}), InputError);
  EXPECT_THROW(compared({.model = "gpt2"}, {}), InputError);
}

TEST(Compare, asks_each_kind_what_it_knows) {
  const std::vector<CompareRow> rows = compared({.model = "gpt2",
                                                 .mode = Mode::Streamed,
                                                 .batch = 512,
                                                 .sparsity = 0.5,
                                                 .cluster = {.tensor = 2}},
                                                {"wse2", "a100-80gbx8"});
  ASSERT_TRUE(rows[0].attempt.result && rows[1].attempt.result);
  EXPECT_EQ(rows[0].attempt.question.sparsity, 0.5);
  EXPECT_TRUE(rows[0].notes.empty());
  EXPECT_EQ(rows[1].attempt.result->answer.cluster->parallel.tensor, 2);
  EXPECT_EQ(rows[1].notes.size(), 1U);
}

TEST(Compare, counts_the_settings_of_a_cluster_that_one_gpu_would_not_need) {
  const std::vector<CompareRow> rows =
      compared({.model = "gpt:layers=40,hidden=6144,heads=48,vocab=51200",
                .batch = 1024,
                .seq = 2048,
                .micro_batch = 4,
                .recompute = plan::Recompute::Full,
                .cluster = {.tensor = 8,
                            .pipeline = 2,
                            .interleaving = 1,
                            .sequence = false,
                            .sharding = plan::Sharding::None}},
               {"a100-80gbx64"});
  // 64 GPUs / (8 x 2) are 4 replicas; 1024 / 4 samples each are 64 micro-batches of 4.
  EXPECT_EQ(rows[0].effort->knobs, (std::vector<std::string>{"tensor 8", "pipeline 2", "data 4",
                                                             "micro-batch 4", "recompute full"}));
}

TEST(Compare, counts_of_a_wafer_what_the_user_pinned) {
  EXPECT_TRUE(compared({.model = "gpt2"}, {"wse2x4"})[0].effort->knobs.empty());
  EXPECT_EQ(compared({.model = "gpt2", .micro_batch = 64}, {"wse2"})[0].effort->knobs.size(), 1U);
}

// Lines of code as gigaGPT's README counts them.
TEST(Compare, tells_the_lines_of_the_public_programs_that_train_a_gpt) {
  const std::vector<CompareRow> rows =
      compared({.model = "gpt3-1.3b", .batch = 512, .cluster = {.sharding = plan::Sharding::None}},
               {"wse2x4", "a100-80gbx8:auto"});
  EXPECT_EQ(rows[0].effort->lines, 565);
  const plan::Parallelism& p = rows[1].attempt.result->answer.cluster->parallel;
  EXPECT_EQ(rows[1].effort->lines, p.tensor * p.pipeline > 1 ? 20507 : 639);
  EXPECT_EQ(
      compared({.model = "gpt3-20b", .batch = 512, .cluster = {.tensor = 8}}, {"a100-80gbx64"})[0]
          .effort->lines,
      20507);
  EXPECT_FALSE(compared({.model = "bert-large"}, {"wse2"})[0].effort->lines);
  EXPECT_FALSE(compared({.model = "gpt2", .phase = Phase::Infer}, {"wse2"})[0].effort->lines);
}

}  // namespace
}  // namespace wafer::study
