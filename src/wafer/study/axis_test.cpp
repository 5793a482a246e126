#include "wafer/study/axis.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

std::vector<double> numbers_of(const std::string& text) {
  const Axis axis(text);
  std::vector<double> all;
  for (uint64_t i = 0; i < axis.size(); ++i) all.push_back(axis.number(i));
  return all;
}

std::vector<std::string> words_of(const std::string& text) {
  const Axis axis(text);
  std::vector<std::string> all;
  for (uint64_t i = 0; i < axis.size(); ++i) all.push_back(axis.word(i));
  return all;
}

std::string refusal_of(const std::string& text) {
  try {
    const Axis axis(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

using Numbers = std::vector<double>;
using Words = std::vector<std::string>;

TEST(Axis, takes_lists_ranges_and_both) {
  EXPECT_EQ(numbers_of("batch=256,512,96"), (Numbers{256, 512, 96}));
  EXPECT_EQ(numbers_of("systems=1..4"), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers_of("batch=10..40:15"), (Numbers{10, 25, 40}));
  EXPECT_EQ(numbers_of("batch=10..39:15"), (Numbers{10, 25}));
  EXPECT_EQ(numbers_of("seq=128..1024:x2"), (Numbers{128, 256, 512, 1024}));
  EXPECT_EQ(numbers_of("seq=128..1000:x2"), (Numbers{128, 256, 512}));
  EXPECT_EQ(numbers_of("batch=7,1..3,100..400:x4"), (Numbers{7, 1, 2, 3, 100, 400}));
}

TEST(Axis, goes_down_as_well) {
  EXPECT_EQ(numbers_of("batch=4..1:-1"), (Numbers{4, 3, 2, 1}));
  EXPECT_EQ(numbers_of("sparsity=0.8..0.1:x0.5"), (Numbers{0.8, 0.4, 0.2, 0.1}));
}

TEST(Axis, has_the_decimals_that_were_meant) {
  EXPECT_EQ(numbers_of("sparsity=0..0.9:0.1"),
            (Numbers{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}));
  EXPECT_EQ(numbers_of("wse2.clock_hz=8e8..9e8:5e7"), (Numbers{8e8, 8.5e8, 9e8}));
}

TEST(Axis, keeps_the_commas_of_free_forms) {
  EXPECT_EQ(words_of("model=bert-large,gpt:layers=2,hidden=64,heads=2,vocab=9,gpt2"),
            (Words{"bert-large", "gpt:layers=2,hidden=64,heads=2,vocab=9", "gpt2"}));
}

TEST(Axis, sets_what_it_names) {
  Question q;
  Axis("batch=96").set(q, 0);
  Axis("micro_batch=8").set(q, 0);
  Axis("precision=f32,bf16").set(q, 1);
  Axis("sharding=full").set(q, 0);
  Axis("machine=wse2,a100-80gbx8").set(q, 1);
  EXPECT_EQ(q.batch, 96);
  EXPECT_EQ(q.micro_batch, 8);
  EXPECT_EQ(q.precision, Precision::Bf16);
  EXPECT_EQ(q.cluster.sharding, plan::Sharding::Full);
  EXPECT_EQ(q.machine, "a100-80gb");
  EXPECT_EQ(q.systems, 8);
}

TEST(Axis, takes_patterns_beside_shares_of_zeros) {
  const Axis axis("sparsity=0,0.5..0.9:0.2,2:4,75%");
  EXPECT_EQ(axis.size(), 6U);
  EXPECT_FALSE(axis.has_numbers());
  EXPECT_EQ(axis.word(2), "0.7");
  EXPECT_EQ(axis.word(4), "2:4");
  Question q;
  axis.set(q, 4);
  EXPECT_EQ(q.sparsity, plan::Sparsity::pattern(2, 4));
  axis.set(q, 3);
  EXPECT_EQ(q.sparsity, 0.9);
  axis.set(q, 5);
  EXPECT_EQ(q.sparsity, 0.75);
  EXPECT_NE(refusal_of("sparsity=0.5,5:4").find("or N:M"), std::string::npos);
}

TEST(Axis, can_be_a_number_of_one_machine_or_of_any) {
  const Axis one("wse2.lanes.f16=4,8");
  EXPECT_TRUE(one.is_override());
  EXPECT_EQ(one.machine(), "wse2");
  EXPECT_EQ(one.key(), "lanes.f16");
  const Axis any("gpu.memory_bytes=4e10,8e10");
  EXPECT_EQ(any.machine(), "");
  EXPECT_EQ(any.key(), "gpu.memory_bytes");
  EXPECT_FALSE(Axis("batch=1").is_override());
}

TEST(Axis, keeps_long_ranges_as_ranges) {
  const Axis axis("batch=1..1000000000");
  EXPECT_EQ(axis.size(), 1000000000U);
  EXPECT_EQ(axis.number(999999999), 1e9);
}

TEST(Axis, says_what_is_wrong) {
  EXPECT_NE(refusal_of("batch").find("NAME=VALUES"), std::string::npos);
  EXPECT_NE(refusal_of("bach=1").find("did you mean batch?"), std::string::npos);
  EXPECT_NE(refusal_of("wse2.clock_hx=1").find("no such axis"), std::string::npos);
  EXPECT_NE(refusal_of("batch=").find("found \"\""), std::string::npos);
  EXPECT_NE(refusal_of("batch=1,,2").find("found \"\""), std::string::npos);
  EXPECT_NE(refusal_of("batch=1.5").find("whole numbers"), std::string::npos);
  EXPECT_NE(refusal_of("batch=1e300").find("whole numbers"), std::string::npos);
  EXPECT_NE(refusal_of("batch=1..9:0").find("a step other than 0"), std::string::npos);
  EXPECT_NE(refusal_of("batch=9..1").find("lead from the first"), std::string::npos);
  EXPECT_NE(refusal_of("batch=0..8:x2").find("of one sign"), std::string::npos);
  EXPECT_NE(refusal_of("batch=1..8:x1").find("factor other than 1"), std::string::npos);
  EXPECT_NE(refusal_of("batch=1..9e12").find("at most"), std::string::npos);
  EXPECT_NE(refusal_of("precision=f16,f17").find("f17"), std::string::npos);
  EXPECT_NE(refusal_of("machine=wse2,").find("found nothing"), std::string::npos);
  EXPECT_NE(refusal_of("batch=8,16,8").find("8 stands twice"), std::string::npos);
  EXPECT_NE(refusal_of("precision=f32,f32").find("f32 stands twice"), std::string::npos);
}

}  // namespace
}  // namespace wafer::study
