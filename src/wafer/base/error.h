#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace wafer {

/// The user's input is wrong: what was expected, what was found, where in the user's file, and the
/// remedy. Several problems may be told at once, one a line. Doors exit with 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The input is right but does not fit (memory, size, count). Doors exit with 3.
class CapacityError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Our own fault: a broken invariant. Doors exit with 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Collects problems of one input so that all of them are told at once.
class Problems {
 public:
  void add(std::string problem) { problems_.push_back(std::move(problem)); }
  bool empty() const { return problems_.empty(); }
  const std::vector<std::string>& all() const { return problems_; }
  /// Throws InputError with `heading` and one problem a line (at most `most`, then a count of the
  /// rest); does nothing when there is none.
  void throw_if_any(const std::string& heading, size_t most = 20) const;

 private:
  std::vector<std::string> problems_;
};

/// Throws InternalError with place and condition.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& detail);

}  // namespace wafer

/// WAFER_CHECK(condition) or WAFER_CHECK(condition, detail): throws InternalError if it is false.
#define WAFER_CHECK(condition, ...)                                                      \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      ::wafer::check_failed(__FILE__, __LINE__, #condition, ::std::string{__VA_ARGS__}); \
    }                                                                                    \
  } while (false)
