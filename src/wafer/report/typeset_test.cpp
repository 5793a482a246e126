#include "wafer/report/typeset.h"

#include <gtest/gtest.h>

namespace wafer::report {
namespace {

TEST(Grouped, sets_thousands_apart_and_keeps_whole_numbers_whole) {
  EXPECT_EQ(grouped(335143938), "335,143,938");
  EXPECT_EQ(grouped(1024), "1,024");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(0), "0");
}

TEST(Grouped, gives_four_digits_of_others) {
  EXPECT_EQ(grouped(918246.3), "918,200");
  EXPECT_EQ(grouped(7174.33), "7,174");
  EXPECT_EQ(grouped(25.2917), "25.29");
  EXPECT_EQ(grouped(0.7471), "0.7471");
  EXPECT_EQ(grouped(12853473280.5), "12.85 billion");
}

TEST(Escaped, leaves_nothing_that_is_markup) {
  EXPECT_EQ(escaped("<script>\"a\" & b</script>"),
            "&lt;script&gt;&quot;a&quot; &amp; b&lt;/script&gt;");
  EXPECT_EQ(escaped("a\x01\nb"), "a  b");
}

TEST(Escaped, keeps_words_of_any_script_and_replaces_what_is_no_text) {
  EXPECT_EQ(escaped("µ-Modell ± 模型"), "µ-Modell ± 模型");
  EXPECT_EQ(escaped("a\xff"
                    "b\xc3"),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
  EXPECT_EQ(escaped("\xed\xa0\x80"),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // half a surrogate pair
}

TEST(Typeset, groups_plain_numbers_of_cells_and_leaves_words) {
  EXPECT_EQ(typeset(Cell("9.182e+05", 918246.3)), "918,200");
  EXPECT_EQ(typeset(Cell("1.142 s", 1.142)), "1.142 s");
  EXPECT_EQ(typeset(Cell("1e+05")), "1e+05");
}

}  // namespace
}  // namespace wafer::report
