// The rules of docs/spec/ops.md, the code that keeps them and the tests that hold it to them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "wafer/ir/op.h"
#include "wafer/ir/text.h"

namespace wafer::ir {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in.good()) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> result;
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
    result.insert((*it)[1]);
  }
  return result;
}

const fs::path Source = WAFER_SOURCE_DIR;

std::string document() { return text_of(Source / "docs/spec/ops.md"); }

/// Sources of ir/: its tests, or all but them.
std::string sources(bool tests) {
  std::string text;
  for (const auto& entry : fs::directory_iterator(Source / "src/wafer/ir")) {
    const std::string name = entry.path().filename().string();
    if (name == "rules_test.cpp" || name == "CMakeLists.txt") continue;
    if (tests == (name.find("_test.cpp") != std::string::npos)) text += text_of(entry.path());
  }
  return text;
}

TEST(Document, rules_are_each_in_the_code_and_in_a_test) {
  const std::set<std::string> rules = matches(document(), R"(\*\*([A-Z]+[0-9]+)\*\*)");
  const std::set<std::string> in_code = matches(sources(false), R"(\b([A-Z]+[0-9]+)\b)");
  const std::set<std::string> in_tests = matches(sources(true), R"(\b([A-Z]+[0-9]+)\b)");
  EXPECT_GT(rules.size(), 100U);
  for (const std::string& rule : rules) {
    EXPECT_TRUE(in_code.contains(rule)) << rule << " is not in the code";
    EXPECT_TRUE(in_tests.contains(rule)) << rule << " is in no test";
  }
}

TEST(Document, has_every_rule_that_the_code_refuses_by) {
  const std::set<std::string> rules = matches(document(), R"(\*\*([A-Z]+[0-9]+)\*\*)");
  for (const std::string& rule :
       matches(sources(false), R"re((?:"|\[)([A-Z]{2,5}[0-9]+)(?:"|\]))re")) {
    EXPECT_TRUE(rules.contains(rule)) << rule << " is not in docs/spec/ops.md";
  }
}

TEST(Document, example_of_text_form_is_as_printed) {
  const std::string document = text_of(Source / "docs/spec/graph-text.md");
  const size_t start = document.find("graph \"mlp\"");
  const std::string example = document.substr(start, document.find("```", start) - start);
  EXPECT_EQ(print_text(parse_text(example)), example);
}

TEST(Document, has_every_kind_function_and_attribute) {
  const std::set<std::string> words = matches(document(), R"(\b([a-z][a-z0-9_]*)\b)");
  for (int i = 0; i < OpKindCount; ++i) {
    EXPECT_TRUE(words.contains(std::string(name_of(static_cast<OpKind>(i)))))
        << name_of(static_cast<OpKind>(i));
  }
  for (int i = 0; i < ElementFnCount; ++i) {
    EXPECT_TRUE(words.contains(std::string(name_of(static_cast<ElementFn>(i)))))
        << name_of(static_cast<ElementFn>(i));
  }
  for (int i = 0; i < AttrKeyCount; ++i) {
    EXPECT_TRUE(words.contains(std::string(name_of(static_cast<AttrKey>(i)))))
        << name_of(static_cast<AttrKey>(i));
  }
}

}  // namespace
}  // namespace wafer::ir
