#include "wafer/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace wafer {
namespace {

const std::vector<std::string> Names = {"wse1", "wse2", "fabric.width", "fabric.height"};

TEST(Nearest, finds_the_name_with_a_slip) {
  EXPECT_EQ(nearest("fabric.widht", Names), "fabric.width");
  EXPECT_EQ(nearest("fabric.hight", Names), "fabric.height");
}

TEST(Nearest, counts_upper_and_lower_case_as_equal) { EXPECT_EQ(nearest("WSE2", Names), "wse2"); }

TEST(Nearest, takes_the_first_of_equally_near_names) { EXPECT_EQ(nearest("wse", Names), "wse1"); }

TEST(Nearest, finds_the_name_that_holds_the_word) {
  EXPECT_EQ(nearest("height", Names), "fabric.height");
  EXPECT_EQ(nearest("ab", Names), "");
}

TEST(Nearest, is_silent_when_nothing_is_near) {
  EXPECT_EQ(nearest("h100", Names), "");
  EXPECT_EQ(nearest("", Names), "");
  EXPECT_EQ(nearest(std::string(1 << 20, 'x'), Names), "");
  EXPECT_EQ(nearest("wse2", {}), "");
}

}  // namespace
}  // namespace wafer
