#include "wafer/study/attempt.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

TEST(Contender, is_a_machine_with_a_count_and_a_mode) {
  const Contender plain = contender("wse2");
  EXPECT_EQ(plain.machine, "wse2");
  EXPECT_FALSE(plain.systems || plain.mode);
  const Contender many = contender("a100-80gbx256");
  EXPECT_EQ(many.machine, "a100-80gb");
  EXPECT_EQ(many.systems, 256);
  const Contender all = contender("wse3x4:streamed");
  EXPECT_EQ(all.text, "wse3x4:streamed");
  EXPECT_EQ(all.machine, "wse3");
  EXPECT_EQ(all.systems, 4);
  EXPECT_EQ(all.mode, Mode::Streamed);
}

TEST(Contender, leaves_the_x_of_a_path_alone) {
  EXPECT_EQ(contender("./x4.toml").machine, "./x4.toml");
  EXPECT_EQ(contender("dir/mine.tomlx4").machine, "dir/mine.toml");
  EXPECT_EQ(contender("dir/mine.tomlx4").systems, 4);
  EXPECT_EQ(contender("dir/axe").machine, "dir/axe");
  EXPECT_EQ(contender("box").machine, "box");
}

TEST(Contender, is_refused_with_a_count_or_mode_that_is_none) {
  EXPECT_THROW(contender(""), InputError);
  EXPECT_THROW(contender("wse2x0"), InputError);
  EXPECT_THROW(contender("wse2x99999999999999999999"), InputError);
  EXPECT_THROW(contender("wse2:fast"), InputError);
}

TEST(Contender, changes_of_a_question_only_what_it_names) {
  const Question q{.model = "gpt2", .mode = Mode::Streamed, .batch = 96, .systems = 2};
  const Question plain = question_for(q, contender("wse3"));
  EXPECT_EQ(plain.machine, "wse3");
  EXPECT_EQ(plain.systems, 2);
  EXPECT_EQ(plain.mode, Mode::Streamed);
  EXPECT_EQ(plain.batch, 96);
  EXPECT_EQ(question_for(q, contender("wse3x8")).systems, 8);
}

TEST(Attempt, has_an_answer_or_a_reason) {
  Workbench bench;
  EXPECT_TRUE(attempt({.model = "bert-tiny"}, bench).result);
  const Attempt wrong = attempt({.model = "bert-tiny", .batch = 0}, bench);
  EXPECT_FALSE(wrong.result || wrong.capacity);
  EXPECT_NE(wrong.reason.find("--batch"), std::string::npos);
  const Attempt large = attempt({.model = "gpt3-175b", .machine = "a100-80gb"}, bench);
  EXPECT_FALSE(large.result);
  EXPECT_TRUE(large.capacity);
}

// Of the places, the fullest counts: 90 of 100 bytes, not 20 of 200.
TEST(Headroom, is_that_of_the_fullest_place) {
  Result r;
  r.answer.memory.store_total = Bytes(20);
  r.answer.memory.store_capacity = Bytes(200);
  r.answer.memory.activations_on_wafer = Bytes(50);
  r.answer.memory.workspace = Bytes(40);
  r.answer.memory.wafer_capacity = Bytes(100);
  EXPECT_NEAR(headroom_of(r)->free, 0.1, 1e-12);
  EXPECT_EQ(headroom_of(r)->place, "wafer");
  r.answer.cluster = estimate::ClusterParts{};
  r.answer.cluster->gpu_used = Bytes(30);
  r.answer.cluster->gpu_capacity = Bytes(40);
  EXPECT_EQ(headroom_of(r)->free, 0.25);
  EXPECT_FALSE(headroom_of(Result{}));
}

}  // namespace
}  // namespace wafer::study
