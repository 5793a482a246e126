#pragma once

#include <gtest/gtest.h>

#include <string>

/// EXPECT_TRUE(contains(message, "line 3")): shows the whole text when the part is not in it.
inline ::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '"' << part << "\" is not in:\n" << text;
}
