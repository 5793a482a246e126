#pragma once

// Tokens of the text form; not for use outside ir/.

#include <string>
#include <string_view>

namespace wafer::ir {

/// Where something stands in a text, counted from 1.
struct Place {
  size_t line = 1;
  size_t column = 1;
};

/// What is wrong with one line, and where. Caught by the parser, which goes on with the next line.
struct SyntaxError {
  Place place;
  std::string message;
};

/// Reads tokens of one line after the other. Blanks and // comments are skipped, the end of the
/// line is not. All readers throw SyntaxError when something else stands there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Of the next token.
  Place place() {
    skip_blanks();
    return {line_, at_ - line_start_ + 1};
  }
  bool at_end() const { return at_ == text_.size(); }
  bool at_line_end();
  /// To the start of the next line, whatever stands before it.
  void next_line();
  /// Nothing more may stand on the line.
  void expect_line_end();

  /// The next character of the line, 0 at its end.
  char peek();
  bool take(char c);
  void expect(char c);
  /// Letters, digits, _ . - and nothing else.
  bool at_word();
  std::string_view word(const char* what);
  bool take_word(std::string_view expected);
  /// Like a word, but may begin with a sign: -1e-05.
  std::string_view number(const char* what);
  int64_t integer();
  double floating();
  /// A string in quotes, unescaped.
  std::string string();
  /// Up to and including the next ']'.
  std::string_view through_bracket(const char* what);

  [[noreturn]] void fail(const std::string& message) { fail(place(), message); }
  [[noreturn]] static void fail(Place place, const std::string& message) {
    throw SyntaxError{place, message};
  }

 private:
  void skip_blanks();
  char escaped();
  std::string found();

  std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t line_start_ = 0;
};

}  // namespace wafer::ir
