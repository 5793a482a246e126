#include "wafer/report/chart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace wafer::report {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

LineChart chart(std::vector<Series> series) {
  return {.title = "t",
          .about = "a",
          .x = {.name = "batch"},
          .y = {.name = "step", .unit = "s"},
          .series = std::move(series)};
}

BarChart bars(std::vector<BarChart::Bar> all, std::vector<std::string> kinds = {}) {
  return {
      .title = "t", .about = "a", .unit = "s", .kinds = std::move(kinds), .bars = std::move(all)};
}

TEST(LineChart, marks_every_point_and_names_every_line) {
  const std::string s = svg(chart({{"a", {{0, 1}, {10, 2}}}, {"b", {{5, 1.5}}}}));
  EXPECT_EQ(count(s, "<path class=\"mark"), 5U);  // three points and two beside names
  EXPECT_EQ(count(s, "<path class=\"curve"), 2U);
  EXPECT_EQ(count(s, ">a</text>"), 1U);
  EXPECT_EQ(count(s, ">step [s]</text>"), 1U);
}

// Of a file of 860 x 480 with one line, the area of points is, upwards, from y 434 to 52; from x
// 36 + 6 x 7.3, the longest number of y being "500 ms", to 836. Linear axes 0 to 10 and 0 to 2:
// (5, 1) lies in the middle, (457.9, 243).
TEST(LineChart, places_points_on_linear_axes) {
  const std::string s = svg(chart({{"a", {{0, 0}, {5, 1}, {10, 2}}}}));
  EXPECT_NE(s.find("d=\"M79.8 434.0 L457.9 243.0 L836.0 52.0\""), std::string::npos) << s;
}

// Logarithmic from 1 to 10,000: 100 lies in the middle.
TEST(LineChart, places_points_that_span_decades_by_their_logarithm) {
  const std::string s = svg(chart({{"a", {{1, 0}, {100, 1}, {10000, 2}}}}));
  EXPECT_NE(s.find("d=\"M79.8 434.0 L457.9 243.0 L836.0 52.0\""), std::string::npos) << s;
}

// y 0 to 2 as above; 50 % around (0, 1) and (10, 1): from 0.5 to 1.5, y 338.5 and 147.5.
TEST(LineChart, draws_the_error_as_a_band) {
  Series series{.name = "a", .points = {{0, 1}, {10, 1}}, .error = 0.5};
  LineChart c = chart({series});
  c.y.range = {{0, 2}};
  EXPECT_NE(svg(c).find("M79.8 147.5 L836.0 147.5 L836.0 338.5 L79.8 338.5z"), std::string::npos)
      << svg(c);
}

TEST(LineChart, keeps_words_from_being_markup) {
  const std::string s = svg(chart({{"<b>&\n", {{0, 1}}}, {"x", {{0, 1}}}}));
  EXPECT_EQ(s.find("<b>"), std::string::npos);
  EXPECT_NE(s.find("&lt;b&gt;&amp; "), std::string::npos);
}

TEST(LineChart, stands_single_points_none_and_equal_ones) {
  for (const auto& points : std::vector<std::vector<std::pair<double, double>>>{
           {}, {{3, 4}}, {{0, 0}}, {{-2, -2}, {-2, -2}}}) {
    const std::string s = svg(chart({{"a", points}}));
    EXPECT_EQ(s.find("nan"), std::string::npos) << s;
    EXPECT_EQ(s.find("inf"), std::string::npos) << s;
  }
}

// 382 from top to bottom, 16 a name: 23 of 25 lines have room, the last says how many do not.
TEST(LineChart, says_how_many_names_have_no_room) {
  std::vector<Series> many;
  for (int i = 0; i < 25; ++i) many.push_back({"s" + std::to_string(i), {{i, i}}});
  const std::string s = svg(chart(many));
  EXPECT_EQ(count(s, ">s3</text>"), 1U);
  EXPECT_EQ(count(s, ">s2</text>"), 0U);
  EXPECT_EQ(count(s, ">and 3 more</text>"), 1U);
}

TEST(LineChart, names_lines_above_where_the_place_is_narrow) {
  const LineChart c = chart({{"first", {{0, 1}, {10, 2}}}, {"second", {{0, 2}, {10, 1}}}});
  const std::string s = svg(c, {.width = 360, .height = 300, .own_file = false});
  EXPECT_EQ(count(s, ">first</text>"), 1U);
  EXPECT_EQ(count(s, "class=\"lead"), 0U);
  EXPECT_EQ(count(s, "<style>"), 0U);
}

// A place of 860 leaves names 2 x 7.3 + 14 and words 2 x 7.3 + 12 wide: 28.6 to 833.4, 804.8 for
// the 4 seconds of the longer bar.
TEST(BarChart, draws_parts_one_after_another_on_one_scale) {
  const std::string s = svg(bars({{.name = "aa", .parts = {{0, 1}, {1, 3}}, .words = "4s"},
                                  {.name = "bb", .parts = {{0, 2}}, .words = "2s"}},
                                 {"one", "two"}));
  EXPECT_NE(s.find("class=\"k0\" x=\"28.6\" y=\"78.0\" width=\"201.2\""), std::string::npos) << s;
  EXPECT_NE(s.find("class=\"k1\" x=\"229.8\" y=\"78.0\" width=\"603.6\""), std::string::npos) << s;
  EXPECT_NE(s.find("width=\"402.4\""), std::string::npos) << s;
  EXPECT_EQ(count(s, ">one</text>"), 1U);
}

TEST(BarChart, leaves_kinds_that_no_bar_has_out_of_the_legend) {
  const std::string s = svg(bars({{.name = "a", .parts = {{1, 1}}, .words = ""}}, {"one", "two"}));
  EXPECT_EQ(count(s, ">one</text>"), 0U);
  EXPECT_EQ(count(s, ">two</text>"), 1U);
}

TEST(BarChart, shows_what_a_bar_may_be_at_most) {
  const std::string s = svg(bars({{.name = "a", .parts = {{0, 1}}, .words = "", .limit = 2.0}}));
  EXPECT_EQ(count(s, "class=\"track\""), 1U);
}

TEST(BarChart, stands_bars_without_parts_and_no_bars) {
  EXPECT_EQ(svg(bars({})).find("nan"), std::string::npos);
  EXPECT_EQ(svg(bars({{.name = "a", .parts = {}, .words = ""}})).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace wafer::report
