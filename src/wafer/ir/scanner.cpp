#include "wafer/ir/scanner.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace wafer::ir {
namespace {

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

template <typename Number>
Number converted(std::string_view text, Place place, const char* what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    Scanner::fail(place, fmt::format("expected {}; found {}", what, text));
  }
  return value;
}

}  // namespace

void Scanner::skip_blanks() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
  if (text_.substr(at_).starts_with("//")) {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
}

bool Scanner::at_line_end() {
  skip_blanks();
  return at_end() || text_[at_] == '\n';
}

void Scanner::next_line() {
  const size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
  if (end == std::string_view::npos) return;
  line_start_ = at_;
  ++line_;
}

void Scanner::expect_line_end() {
  if (!at_line_end()) fail("expected the end of the line; found " + found());
}

char Scanner::peek() { return at_line_end() ? '\0' : text_[at_]; }

bool Scanner::take(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

void Scanner::expect(char c) {
  if (!take(c)) fail(fmt::format("expected '{}'; found {}", c, found()));
}

bool Scanner::at_word() { return is_word_char(peek()); }

std::string_view Scanner::word(const char* what) {
  if (!at_word()) fail(fmt::format("expected {}; found {}", what, found()));
  const size_t start = at_;
  while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

bool Scanner::take_word(std::string_view expected) {
  skip_blanks();
  const std::string_view rest = text_.substr(at_);
  if (!rest.starts_with(expected)) return false;
  if (rest.size() > expected.size() && is_word_char(rest[expected.size()])) return false;
  at_ += expected.size();
  return true;
}

std::string_view Scanner::number(const char* what) {
  skip_blanks();
  const size_t start = at_;
  while (at_ < text_.size() && (is_word_char(text_[at_]) || text_[at_] == '+')) ++at_;
  if (start == at_) fail(fmt::format("expected {}; found {}", what, found()));
  return text_.substr(start, at_ - start);
}

int64_t Scanner::integer() {
  const Place start = place();
  return converted<int64_t>(number("a whole number"), start, "a whole number");
}

double Scanner::floating() {
  const Place start = place();
  return converted<double>(number("a number"), start, "a number");
}

char Scanner::escaped() {
  const char c = at_ < text_.size() ? text_[at_++] : '\0';
  if (c == '"' || c == '\\') return c;
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  const int high = c == 'x' && at_ + 1 < text_.size() ? hex_digit(text_[at_]) : -1;
  const int low = high >= 0 ? hex_digit(text_[at_ + 1]) : -1;
  if (low < 0) fail("after a backslash stands one of \" \\ n t or x and two hex digits");
  at_ += 2;
  return static_cast<char>(high * 16 + low);
}

std::string Scanner::string() {
  const Place start = place();
  expect('"');
  std::string result;
  while (at_ < text_.size() && text_[at_] != '\n') {
    const char c = text_[at_++];
    if (c == '"') return result;
    result += c == '\\' ? escaped() : c;
  }
  fail(start, "the string has no closing quote on its line");
}

std::string_view Scanner::through_bracket(const char* what) {
  skip_blanks();
  const size_t start = at_;
  const size_t end = text_.find_first_of("]\n", at_);
  if (end == std::string_view::npos || text_[end] == '\n') {
    fail(fmt::format("expected {}; found {}", what, found()));
  }
  at_ = end + 1;
  return text_.substr(start, at_ - start);
}

std::string Scanner::found() {
  constexpr size_t Most = 20;
  if (at_line_end()) return "the end of the line";
  const std::string_view rest = text_.substr(at_, text_.find('\n', at_) - at_);
  return "\"" + std::string(rest.substr(0, Most)) + (rest.size() > Most ? "...\"" : "\"");
}

}  // namespace wafer::ir
