#include "wafer/study/cost.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"
#include "wafer/study/compare.h"
#include "wafer/study/sweep.h"
#include "wafer/study/workbench.h"

namespace wafer::study {
namespace {

Result result(Phase phase = Phase::Train) {
  Result r;
  r.question = {.machine = "h100", .phase = phase, .systems = 8, .prices = {{"h100", 2.5}}};
  r.answer.samples_per_second = 100;
  return r;
}

TEST(Cost, is_hours_times_systems_times_price) {
  Result r = result();
  r.train = Seconds(7200);
  EXPECT_DOUBLE_EQ(cost_of(r)->usd, 2 * 8 * 2.5);
  EXPECT_EQ(cost_of(r)->of, "training");
}

TEST(Cost, is_of_the_largest_thing_asked) {
  Result r = result();
  r.epoch = Seconds(3600);
  EXPECT_EQ(cost_of(r)->of, "epoch");
  EXPECT_DOUBLE_EQ(cost_of(r)->usd, 20);
  r.train = Seconds(7200);
  EXPECT_EQ(cost_of(r)->of, "training");
  r.time_to_target = Seconds(1800);
  EXPECT_EQ(cost_of(r)->of, "target");
  EXPECT_DOUBLE_EQ(cost_of(r)->usd, 10);
}

TEST(Cost, is_of_a_million_where_nothing_is_asked) {
  // A million samples at 100 a second are 10,000 s.
  EXPECT_DOUBLE_EQ(cost_of(result())->usd, 1e4 / 3600 * 20);
  EXPECT_EQ(cost_of(result())->of, "million_samples");
  Result serving = result(Phase::Infer);
  serving.answer.decode_tokens_per_second = 1000;
  EXPECT_DOUBLE_EQ(cost_of(serving)->usd, 1e3 / 3600 * 20);
  EXPECT_EQ(cost_of(serving)->of, "million_tokens_decoded");
}

TEST(Cost, is_not_known_without_a_price) {
  Result r = result();
  r.question.prices = {{"wse2", 100}};
  EXPECT_FALSE(cost_of(r));
  EXPECT_FALSE(answer({.model = "gpt2", .batch = 64}).cost);
}

TEST(Cost, reads_prices) {
  Prices prices;
  add_price(prices, "wse2=1e2");
  add_price(prices, "./a=b.toml=0.5");
  EXPECT_EQ(prices, (Prices{{"wse2", 100}, {"./a=b.toml", 0.5}}));
  for (const char* text : {"", "=", "wse2", "wse2=", "=3", "wse3=free", "wse3=-1", "wse3=0",
                           "wse3=nan", "wse3=inf", "wse3=1e999", "wse3=3 ", "wse3=$3", "wse2=4"}) {
    EXPECT_THROW(add_price(prices, text), InputError) << text;
  }
}

TEST(Cost, refuses_the_price_of_a_machine_that_is_not_asked) {
  const Question q{.model = "gpt2", .batch = 64, .prices = {{"wse3", 100}}};
  EXPECT_THROW(answer(q), InputError);
  Workbench bench;
  EXPECT_THROW(compare(q, {contender("wse2"), contender("h100x8")}, bench), InputError);
  SweepRequest request{.question = q, .axes = {Axis("machine=wse2,h100x8")}, .threads = 1};
  EXPECT_THROW(sweep(request, [](const SweepRow&) {}), InputError);
}

TEST(Cost, is_a_column_of_a_sweep_where_there_are_prices) {
  SweepRequest request{.question = {.model = "gpt2", .batch = 64, .tokens = 1e9},
                       .axes = {Axis("machine=wse2x2,h100x8")},
                       .threads = 1};
  const auto at = [&]() -> std::optional<size_t> {
    const std::vector<SweepColumn> columns = columns_of(request);
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].name == "cost_usd") return i;
    }
    return std::nullopt;
  };
  EXPECT_FALSE(at());
  request.question.prices = {{"wse2", 90}};
  std::vector<SweepRow> rows;
  sweep(request, [&](SweepRow row) { rows.push_back(std::move(row)); });
  const Result alone = answer({.model = "gpt2", .batch = 64, .systems = 2, .tokens = 1e9});
  EXPECT_EQ(rows[0].values.size(), columns_of(request).size());
  EXPECT_DOUBLE_EQ(*number_of(rows[0].values[*at()]), alone.train->value / 3600 * 90 * 2);
  EXPECT_EQ(rows[1].values[*at()], Value());
}

}  // namespace
}  // namespace wafer::study
