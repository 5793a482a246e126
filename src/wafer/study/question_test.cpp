#include "wafer/study/question.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

std::string problem_of(const Question& question) {
  try {
    check(question);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Question, may_leave_everything_but_the_model_to_us) {
  EXPECT_EQ(problem_of({.model = "bert-large"}), "");
}

TEST(Question, names_the_option_of_a_count_that_is_no_count) {
  const std::string batch = problem_of({.model = "m", .batch = 0});
  EXPECT_NE(batch.find("--batch: expected a whole number from 1 to"), std::string::npos) << batch;
  EXPECT_NE(batch.find("found 0"), std::string::npos) << batch;
  EXPECT_NE(problem_of({.model = "m", .batch = -5}).find("found -5"), std::string::npos);
  EXPECT_NE(problem_of({.model = "m", .systems = 0}).find("--systems"), std::string::npos);
  EXPECT_NE(problem_of({.model = "m", .seq = 0}).find("--seq"), std::string::npos);
  EXPECT_NE(problem_of({.model = "m", .micro_batch = 0}).find("--micro-batch"), std::string::npos);
  EXPECT_NE(problem_of({.model = "m", .batch = INT64_MAX}).find("--batch"), std::string::npos);
}

TEST(Question, takes_a_sparsity_from_dense_to_less_than_all_zero) {
  EXPECT_EQ(problem_of({.model = "m", .sparsity = 0.9}), "");
  for (const double wrong : {-0.1, 1.0, 90.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_NE(problem_of({.model = "m", .sparsity = wrong}).find("--sparsity"), std::string::npos);
  }
}

TEST(Question, reads_sparsities_of_weights_by_pattern) {
  const plan::WeightSparsity mlp = weight_sparsity_in("mlp/*=2:4");
  EXPECT_EQ(mlp, (plan::WeightSparsity{"mlp/*", plan::Sparsity::pattern(2, 4)}));
  EXPECT_EQ(weight_sparsity_in("a=b=0.5").pattern, "a=b");
  for (const char* wrong : {"mlp", "=0.5", "mlp=", "mlp=2", "mlp=5:4"}) {
    EXPECT_THROW(weight_sparsity_in(wrong), InputError) << wrong;
  }
  Question q{.model = "m", .sparsity = 0.75, .sparsity_of = {mlp}};
  EXPECT_EQ(sparsity_text(q), "0.75, mlp/* 2:4");
  EXPECT_TRUE(is_sparse(q));
  q.sparsity = {};
  q.sparsity_of[0].sparsity = {};
  EXPECT_FALSE(is_sparse(q));
}

TEST(Question, takes_a_latency_of_the_host_in_inference_alone) {
  EXPECT_EQ(problem_of({.model = "m", .phase = Phase::Infer, .host_latency = 0.0}), "");
  EXPECT_NE(problem_of({.model = "m", .phase = Phase::Infer, .host_latency = -1.0})
                .find("--host-latency: expected seconds"),
            std::string::npos);
  EXPECT_NE(problem_of({.model = "m", .host_latency = 0.3}).find("--phase infer"),
            std::string::npos);
}

TEST(Question, tells_all_that_is_wrong_at_once) {
  const std::string all = problem_of({.model = "m", .batch = 0, .systems = -1, .tokens = -3.0});
  EXPECT_NE(all.find("--batch"), std::string::npos);
  EXPECT_NE(all.find("--systems"), std::string::npos);
  EXPECT_NE(all.find("--tokens"), std::string::npos);
}

TEST(Names, are_read_as_they_are_written) {
  for (const Phase p : Phases) EXPECT_EQ(phase_named(name_of(p)), p);
  for (const Mode m : Modes) EXPECT_EQ(mode_named(name_of(m)), m);
  for (const Precision p : Precisions) EXPECT_EQ(precision_named(name_of(p)), p);
  EXPECT_EQ(precision_named("16bit"), Precision::Any16);
  EXPECT_EQ(recompute_named("full"), plan::Recompute::Full);
  EXPECT_EQ(precision_named("fp16"), std::nullopt);
}

}  // namespace
}  // namespace wafer::study
