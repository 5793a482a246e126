#include "wafer/study/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

struct Swept {
  std::vector<SweepColumn> columns;
  std::vector<SweepRow> rows;
  SweepCounts counts;

  const Value& at(size_t row, const std::string& column) const {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const SweepColumn& c) { return c.name == column; });
    EXPECT_NE(found, columns.end()) << column;
    return rows.at(row).values.at(static_cast<size_t>(found - columns.begin()));
  }
  double number(size_t row, const std::string& column) const {
    return number_of(at(row, column)).value();
  }
  std::string words(size_t row, const std::string& column) const {
    return std::get<std::string>(at(row, column));
  }
};

SweepRequest request(const Question& q, const std::vector<std::string>& axes, int threads = 1) {
  SweepRequest r{.question = q, .axes = {}, .threads = threads};
  for (const std::string& axis : axes) r.axes.emplace_back(axis);
  return r;
}

Swept swept(const SweepRequest& r) {
  Swept s{.columns = columns_of(r), .rows = {}, .counts = {}};
  s.counts = sweep(r, [&](SweepRow row) { s.rows.push_back(std::move(row)); });
  return s;
}

TEST(Sweep, asks_every_combination_the_last_axis_turning_fastest) {
  const Swept s = swept(request({.model = "bert-tiny"}, {"batch=32,64", "seq=64,128,256"}));
  ASSERT_EQ(s.rows.size(), 6U);
  const std::vector<std::pair<int64_t, int64_t>> expected = {{32, 64}, {32, 128}, {32, 256},
                                                             {64, 64}, {64, 128}, {64, 256}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(s.rows[i].index, i);
    EXPECT_EQ(std::get<int64_t>(s.at(i, "batch")), expected[i].first);
    EXPECT_EQ(std::get<int64_t>(s.at(i, "seq_len")), expected[i].second);
    EXPECT_EQ(s.at(i, "reason"), Value());
  }
}

TEST(Sweep, answers_as_a_single_question_does) {
  const Swept s = swept(
      request({.model = "gpt2", .batch = 64}, {"machine=wse2,a100-80gbx8", "phase=train,infer"}));
  const Result wafer = answer({.model = "gpt2", .phase = Phase::Infer, .batch = 64});
  EXPECT_EQ(s.number(1, "step_seconds"), wafer.answer.step.value);
  const Result gpus = answer({.model = "gpt2", .machine = "a100-80gb", .batch = 64, .systems = 8});
  EXPECT_EQ(s.number(2, "step_seconds"), gpus.answer.step.value);
  EXPECT_EQ(s.number(2, "parallelism.data"),
            static_cast<double>(gpus.answer.cluster->parallel.data));
  EXPECT_EQ(s.words(2, "machine"), "a100-80gb");
  EXPECT_EQ(s.number(2, "systems"), 8);
}

TEST(Sweep, goes_on_after_points_that_cannot_be_answered) {
  const Swept s = swept(
      request({.model = "gpt3-175b", .batch = 64}, {"machine=a100-80gb,wse9,wse2", "seq=0,128"}));
  ASSERT_EQ(s.rows.size(), 6U);
  EXPECT_NE(s.words(0, "reason").find("--seq"), std::string::npos);
  EXPECT_NE(s.words(1, "reason").find("does not fit"), std::string::npos);
  EXPECT_NE(s.words(3, "reason").find("no machine \"wse9\""), std::string::npos);
  EXPECT_EQ(s.at(5, "reason"), Value());
  EXPECT_EQ(s.words(1, "machine"), "a100-80gb");  // as asked
  EXPECT_EQ(s.counts.points, 6U);
  EXPECT_EQ(s.counts.answered, 1U);
  EXPECT_EQ(s.counts.no_room, 1U);
  EXPECT_EQ(s.counts.refused, 4U);
}

TEST(Sweep, changes_numbers_of_machines) {
  const Swept s = swept(request({.model = "bert-tiny"},
                                {"machine=wse2,wse3", "wse2.io.in_bytes_per_second=1.5e11,3e8"}));
  EXPECT_EQ(s.columns[0].name, "wse2.io.in_bytes_per_second");
  EXPECT_EQ(s.number(1, "wse2.io.in_bytes_per_second"), 3e8);
  EXPECT_GT(s.number(1, "step_seconds"), s.number(0, "step_seconds"));
  EXPECT_EQ(s.number(3, "step_seconds"), s.number(2, "step_seconds"));  // wse3 is left alone
}

TEST(Sweep, says_which_machines_lack_a_number) {
  const Swept s =
      swept(request({.model = "bert-tiny"}, {"machine=wse2,a100-80gb", "gpu.memory_bytes=4e10"}));
  EXPECT_NE(s.words(0, "reason").find("wse2 has no number"), std::string::npos);
  EXPECT_EQ(s.at(1, "reason"), Value());
}

TEST(Sweep, builds_each_network_once) {
  // Two models at three lengths are six networks on the wafer and six on GPUs, wherever the axes
  // stand: 144 points.
  const std::vector<std::string> axes = {"seq=64,128,256", "model=bert-tiny,bert-mini"};
  const std::vector<std::string> more = {"batch=8..96:8", "machine=wse2,a100-80gb"};
  std::vector<std::string> outside = axes, inside = more;
  outside.insert(outside.end(), more.begin(), more.end());
  inside.insert(inside.end(), axes.begin(), axes.end());
  for (const auto& order : {outside, inside}) {
    const Swept s = swept(request({}, order));
    EXPECT_EQ(s.counts.answered, 144U);
    EXPECT_EQ(s.counts.networks, 12U);
  }
}

TEST(Sweep, is_the_same_on_one_thread_and_on_several) {
  const std::vector<std::string> axes = {"batch=1..40", "seq=32..256:x2", "machine=wse2,h100x2",
                                         "model=bert-tiny,gpt2"};
  const Swept one = swept(request({}, axes, 1)), three = swept(request({}, axes, 3));
  ASSERT_EQ(one.rows.size(), 640U);
  ASSERT_EQ(three.rows.size(), 640U);
  for (size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].index, three.rows[i].index);
    EXPECT_EQ(one.rows[i].values, three.rows[i].values) << i;
  }
  EXPECT_EQ(one.counts.answered, three.counts.answered);
}

TEST(Sweep, tells_how_far_it_is) {
  std::vector<size_t> told;
  sweep(
      request({.model = "bert-tiny"}, {"batch=1..300"}), [](const SweepRow&) {},
      [&](size_t done, size_t of) {
        EXPECT_EQ(of, 300U);
        told.push_back(done);
      });
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 300U);
}

TEST(Sweep, holds_no_more_rows_than_it_says) {
  uint64_t taken = 0, most = 0;
  sweep(
      request({.model = "bert-tiny"}, {"batch=1..5000"}), [&](const SweepRow&) { ++taken; },
      [&](size_t done, size_t) { most = std::max<uint64_t>(most, done - taken); });
  EXPECT_EQ(taken, 5000U);
  EXPECT_EQ(most, MostHeld);
}

TEST(Sweep, passes_on_what_its_taker_throws) {
  const auto take = [](const SweepRow&) { throw std::runtime_error("full"); };
  EXPECT_THROW(sweep(request({.model = "bert-tiny"}, {"batch=1,2"}, 2), take), std::runtime_error);
}

TEST(Sweep, refuses_requests_that_cannot_be_meant) {
  const Question q{.model = "gpt2"};
  EXPECT_THROW(points_of(request(q, {})), InputError);
  EXPECT_THROW(points_of(request(q, {"batch=1", "batch=2"})), InputError);
  EXPECT_THROW(points_of(request(q, {"machine=wse2x4", "systems=1,2"})), InputError);
  EXPECT_THROW(points_of(request(q, {"machine=wse2:streamed", "mode=auto"})), InputError);
  EXPECT_EQ(points_of(request(q, {"batch=1..10000", "seq=1..1000"})), 10'000'000U);
  EXPECT_THROW(points_of(request(q, {"batch=1..10000", "seq=1..1001"})), InputError);
  EXPECT_THROW(points_of(request(q, {"batch=1..1000000", "seq=1..1000000", "tokens=1..1000000"})),
               InputError);
}

}  // namespace
}  // namespace wafer::study
