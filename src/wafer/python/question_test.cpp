#include "wafer/python/question.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/study/settings.h"

namespace wafer::python {
namespace {

std::string refusal(std::string_view json) {
  try {
    question_of(json);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(PythonQuestion, takes_options_of_every_kind) {
  const study::Question q = question_of(
      R"({"model": "gpt:layers=2,hidden=64,heads=2,vocab=9", "machine": "h100", "phase": "infer",
          "batch": 3e6, "sparsity": 0.5, "micro_batch": 8, "sequence_parallel": true,
          "plain-attention": true, "dim": {"seq": 128}})");
  EXPECT_EQ(q.model, "gpt:layers=2,hidden=64,heads=2,vocab=9");
  EXPECT_EQ(q.machine, "h100");
  EXPECT_EQ(q.phase, study::Phase::Infer);
  EXPECT_EQ(q.batch, 3'000'000);
  EXPECT_EQ(q.sparsity, 0.5);
  EXPECT_EQ(q.micro_batch, 8);
  EXPECT_EQ(q.cluster.sequence, true);
  EXPECT_FALSE(q.cluster.fused);
  EXPECT_EQ(q.dims, (DimBindings{{"seq", 128}}));
}

TEST(PythonQuestion, has_sparsities_as_words_and_by_pattern) {
  const study::Question q =
      question_of(R"({"sparsity": "2:4", "sparsity_of": {"mlp/*": 0.9, "head/*": "1:8"}})");
  EXPECT_EQ(study::sparsity_text(q), "2:4, mlp/* 0.9, head/* 1:8");
}

TEST(PythonQuestion, null_is_chosen_as_if_it_were_not_there) {
  const study::Question q = question_of(R"({"model": "gpt2", "batch": null, "seq": null})");
  EXPECT_EQ(q.batch, study::DefaultBatch);
  EXPECT_FALSE(q.seq);
}

TEST(PythonQuestion, refuses_what_is_not_of_an_options_kind) {
  EXPECT_EQ(refusal(R"({"batch": 1.5})"), "--batch: expected a whole number below 2^53, found 1.5");
  EXPECT_EQ(refusal(R"({"batch": true})"),
            "--batch: expected a whole number below 2^53, found true");
  EXPECT_NE(refusal(R"({"sparsity": "much"})").find("--sparsity: expected the share"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"sparsity_of": 3})").find("sparsities by pattern"), std::string::npos);
  EXPECT_EQ(refusal(R"({"phase": "tain"})"), "--phase: expected train or infer, found \"tain\"");
  EXPECT_EQ(refusal(R"({"phase": 3})"), "--phase: expected a word, found 3");
  EXPECT_EQ(refusal(R"({"dim": {"seq": 0}})"),
            "--dim seq: expected a whole number from 1, found 0");
  EXPECT_EQ(refusal(R"({"batchsize": 3})"), "no option \"batchsize\"");
}

}  // namespace
}  // namespace wafer::python
