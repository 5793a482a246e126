#include "wafer/report/document.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::report {
namespace {

TEST(Document, replaces_what_lies_in_a_part_and_keeps_the_rest) {
  EXPECT_EQ(refreshed("# Title\n<!-- wafer: rows -->\nold\nolder\n<!-- /wafer -->\nend\n",
                      {{"rows", "new\n"}}, "d.md"),
            "# Title\n<!-- wafer: rows -->\nnew\n<!-- /wafer -->\nend\n");
}

TEST(Document, is_the_same_when_refreshed_twice) {
  const std::map<std::string, std::string> parts = {{"a", "1\n"}, {"b", "2\n"}};
  const std::string once =
      refreshed("<!-- wafer: a -->\n<!-- /wafer -->\ntext\n<!-- wafer: b -->\nx\n<!-- /wafer -->\n",
                parts, "d.md");
  EXPECT_EQ(refreshed(once, parts, "d.md"), once);
}

TEST(Document, names_the_line_of_an_unknown_and_of_an_open_part) {
  const auto error_of = [](const char* document) {
    try {
      refreshed(document, {{"rows", ""}}, "d.md");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("a\n<!-- wafer: row -->\n<!-- /wafer -->\n"),
            "d.md:2: no part \"row\"; there are rows");
  EXPECT_EQ(error_of("a\nb\n<!-- wafer: rows -->\nc\n"),
            "d.md:3: a part opens here and no line \"<!-- /wafer -->\" closes it");
}

}  // namespace
}  // namespace wafer::report
