#include "wafer/study/csv.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

std::string error_of(std::string_view text) {
  try {
    Csv::parse(text, "m.csv");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Csv, gives_cells_by_column_name) {
  const Csv csv = Csv::parse("id,batch\n8,128\n9,512\n", "m.csv");
  ASSERT_EQ(csv.rows(), 2u);
  EXPECT_EQ(csv.cell(0, "batch"), "128");
  EXPECT_EQ(csv.cell(1, "id"), "9");
  EXPECT_EQ(csv.line(1), 3u);
}

TEST(Csv, reads_quotes_with_commas_quotes_and_line_breaks) {
  const Csv csv = Csv::parse("id,what\n1,\"a, \"\"b\"\"\nc\"\n2,d\n", "m.csv");
  ASSERT_EQ(csv.rows(), 2u);
  EXPECT_EQ(csv.cell(0, "what"), "a, \"b\"\nc");
  EXPECT_EQ(csv.line(1), 4u) << "the line break within quotes counts";
}

TEST(Csv, reads_crlf_byte_order_mark_empty_lines_and_no_last_line_end) {
  const Csv csv = Csv::parse("\xEF\xBB\xBFid,x\r\n\r\n1,\"2\"\r\n\n3,4", "m.csv");
  ASSERT_EQ(csv.rows(), 2u);
  EXPECT_EQ(csv.cell(0, "id"), "1");
  EXPECT_EQ(csv.cell(0, "x"), "2");
  EXPECT_EQ(csv.cell(1, "x"), "4");
  EXPECT_EQ(csv.line(1), 5u);
}

TEST(Csv, keeps_a_quote_inside_an_unquoted_cell) {
  EXPECT_EQ(Csv::parse("id,x\n1,5\" disk\n", "m.csv").cell(0, "x"), "5\" disk");
}

TEST(Csv, drops_blanks_around_cells_and_names) {
  EXPECT_EQ(Csv::parse("id, x\n1,  7 \n", "m.csv").cell(0, "x"), "7");
}

TEST(Csv, has_no_text_in_a_column_that_is_not_there) {
  const Csv csv = Csv::parse("id\n1\n", "m.csv");
  EXPECT_FALSE(csv.has("batch"));
  EXPECT_EQ(csv.cell(0, "batch"), "");
}

TEST(Csv, refuses_an_empty_file) {
  EXPECT_EQ(error_of(""), "m.csv: expected a first line with the names of columns, found none");
}

TEST(Csv, names_the_line_where_an_unclosed_quote_opens) {
  EXPECT_EQ(error_of("id\n1\n\"2\n3\n"), "m.csv:3: a quote opens here and is never closed");
}

TEST(Csv, names_the_line_of_text_behind_a_closed_quote) {
  EXPECT_NE(error_of("id,x\n1,\"a\"b\n").find("m.csv:2: expected a comma"), std::string::npos);
}

TEST(Csv, names_every_row_that_is_too_short_or_too_long) {
  const std::string error = error_of("a,b\n1\n2,3\n4,5,6\n");
  EXPECT_NE(error.find("m.csv:2: expected 2 cells as in the header, found 1"), std::string::npos);
  EXPECT_NE(error.find("m.csv:4: expected 2 cells as in the header, found 3"), std::string::npos);
  EXPECT_EQ(error.find("m.csv:3"), std::string::npos);
}

TEST(Csv, refuses_a_column_name_that_stands_twice) {
  EXPECT_EQ(error_of("a,b,a\n"), "m.csv:1: two columns have the name \"a\"");
}

TEST(Csv, refuses_bytes_that_are_not_text) {
  EXPECT_EQ(error_of(std::string_view("id\n\0", 4)),
            "m.csv: expected text (CSV), found a zero byte at byte 3");
}

TEST(Csv, tells_that_a_file_is_missing) { EXPECT_THROW(Csv::load("/nonexistent.csv"), InputError); }

}  // namespace
}  // namespace wafer::study
