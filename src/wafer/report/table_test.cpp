#include "wafer/report/table.h"

#include <gtest/gtest.h>

namespace wafer::report {
namespace {

Table two_models() {
  return {
      .columns = {{"model", "model"}, {"step", "step_seconds", Align::Right}},
      .rows = {{"bert-large", Cell("1.13 s", 1.13)}, {"gpt2, \"small\"", Cell("87 ms", 0.087)}}};
}

TEST(Table, aligns_its_columns_as_text) {
  EXPECT_EQ(text(two_models()),
            "model            step\n"
            "-------------  ------\n"
            "bert-large     1.13 s\n"
            "gpt2, \"small\"   87 ms\n");
}

TEST(Table, counts_characters_and_not_bytes) {
  const Table t = {.columns = {{"a", "a"}, {"b", "b"}}, .rows = {{"µs", "1"}, {"abc", "2"}}};
  EXPECT_EQ(text(t), "a    b\n---  -\nµs   1\nabc  2\n");
}

TEST(Table, keeps_control_characters_from_the_terminal) {
  const Table t = {.columns = {{"a", "a"}}, .rows = {{"x\x1b[2Jy\n"}}};
  EXPECT_EQ(text(t), "a\n-------\nx [2Jy\n");
}

TEST(Table, is_markdown_with_bars_escaped) {
  const Table t = {.columns = {{"a|b", "a"}, {"n", "n", Align::Right}}, .rows = {{"x|y", "1"}}};
  EXPECT_EQ(markdown(t), "| a\\|b | n |\n|---|---:|\n| x\\|y | 1 |\n");
}

TEST(Table, is_csv_with_keys_values_and_quotes) {
  EXPECT_EQ(csv(two_models()),
            "model,step_seconds\n"
            "bert-large,1.13\n"
            "\"gpt2, \"\"small\"\"\",0.087\n");
}

TEST(Cell, writes_shares_as_percent) {
  EXPECT_EQ(percent(0.0532).text, "5.3 %");
  EXPECT_EQ(percent(0.0532, true).text, "+5.3 %");
  EXPECT_EQ(percent(-0.1, true).text, "-10.0 %");
  EXPECT_EQ(percent(0.0532).value, 0.0532);
}

TEST(Cell, writes_long_times_in_minutes_hours_days_and_years) {
  EXPECT_EQ(duration(600).text, "10 min");
  EXPECT_EQ(duration(8040).text, "2 h 14 min");
  EXPECT_EQ(duration(7199.9).text, "2 h 0 min");
  EXPECT_EQ(duration(3 * 86400).text, "3.0 days");
  EXPECT_EQ(duration(2 * 365.25 * 86400).text, "2.0 years");
}

}  // namespace
}  // namespace wafer::report
