#include "wafer/base/error.h"

#include <gtest/gtest.h>

namespace wafer {
namespace {

template <typename Error, typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Problems, throws_nothing_when_there_is_none) {
  EXPECT_NO_THROW(Problems().throw_if_any("the file is wrong:"));
}

TEST(Problems, tells_all_of_them_at_once) {
  Problems problems;
  problems.add("line 1: no name");
  problems.add("line 7: no value");
  EXPECT_EQ(message_of<InputError>([&] { problems.throw_if_any("bad.toml:"); }),
            "bad.toml:\n  line 1: no name\n  line 7: no value");
}

TEST(Problems, counts_those_past_the_most_that_is_told) {
  Problems problems;
  for (const char* p : {"a", "b", "c"}) problems.add(p);
  EXPECT_EQ(message_of<InputError>([&] { problems.throw_if_any("x:", 1); }),
            "x:\n  a\n  ... and 2 more");
}

TEST(WaferCheck, names_place_condition_and_detail) {
  const std::string text = message_of<InternalError>([] { WAFER_CHECK(1 + 1 == 3, "sum"); });
  EXPECT_NE(text.find("src/wafer/base/error_test.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find("check failed: 1 + 1 == 3: sum"), std::string::npos) << text;
  EXPECT_EQ(text.find("src/wafer"), 0u) << "an absolute path: " << text;
}

TEST(WaferCheck, passes_what_is_true_and_evaluates_it_once) {
  int times = 0;
  WAFER_CHECK(++times == 1);
  EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace wafer
