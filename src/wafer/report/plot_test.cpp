#include "wafer/report/plot.h"

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

Plot plot(std::vector<Series> series) {
  return {.title = "t",
          .x = {.name = "batch"},
          .y = {.name = "step", .unit = "s"},
          .series = std::move(series)};
}

TEST(Plot, marks_every_point_and_names_every_line) {
  const std::string s = svg(plot({{"a", {{0, 1}, {10, 2}}}, {"b", {{5, 1.5}}}}));
  EXPECT_EQ(count(s, "<circle cx"), 5U);  // three points and two in the legend
  EXPECT_EQ(count(s, "<path"), 2U);
  EXPECT_EQ(count(s, ">a</text>"), 1U);
  EXPECT_EQ(count(s, ">step [s]</text>"), 1U);
}

// The area of points is from x 96 to 620 and, upwards, y 412 to 48. Linear axes 0 to 10 and 0 to 2:
// (5, 1) lies in the middle, (358, 230).
TEST(Plot, places_points_on_linear_axes) {
  const std::string s = svg(plot({{"a", {{0, 0}, {5, 1}, {10, 2}}}}));
  EXPECT_NE(s.find("d=\"M96.0 412.0 L358.0 230.0 L620.0 48.0\""), std::string::npos) << s;
}

// Logarithmic from 1 to 10,000: 100 lies in the middle.
TEST(Plot, places_points_that_span_decades_by_their_logarithm) {
  const std::string s = svg(plot({{"a", {{1, 0}, {100, 1}, {10000, 2}}}}));
  EXPECT_NE(s.find("d=\"M96.0 412.0 L358.0 230.0 L620.0 48.0\""), std::string::npos) << s;
}

TEST(Plot, keeps_words_from_being_markup) {
  const std::string s = svg(plot({{"<b>&\n", {{0, 1}}}}));
  EXPECT_EQ(s.find("<b>"), std::string::npos);
  EXPECT_NE(s.find("&lt;b&gt;&amp; "), std::string::npos);
}

TEST(Plot, stands_single_points_none_and_equal_ones) {
  for (const auto& points : std::vector<std::vector<std::pair<double, double>>>{
           {}, {{3, 4}}, {{0, 0}}, {{-2, -2}, {-2, -2}}}) {
    const std::string s = svg(plot({{"a", points}}));
    EXPECT_EQ(s.find("nan"), std::string::npos) << s;
    EXPECT_EQ(s.find("inf"), std::string::npos) << s;
  }
}

TEST(Plot, says_how_many_names_do_not_fit_the_legend) {
  std::vector<Series> many;
  for (int i = 0; i < 25; ++i) many.push_back({"s" + std::to_string(i), {{i, i}}});
  const std::string s = svg(plot(many));
  EXPECT_EQ(count(s, ">s17</text>"), 1U);
  EXPECT_EQ(count(s, ">s18</text>"), 0U);
  EXPECT_EQ(count(s, ">and 7 more</text>"), 1U);
}

}  // namespace
}  // namespace wafer::report
