#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "wafer/base/error.h"

namespace wafer::importers {

/// Reads the keys of one JSON object. A value of the wrong kind is added to `problems`, and the
/// default returned: so all are told at once. An absent key has its default; without a default it
/// is a problem too. null counts as absent only where a function says so.
class Fields {
 public:
  /// `prefix` goes before key names in messages: "rope_scaling.".
  Fields(const nlohmann::json& object, std::string prefix, Problems& problems)
      : object_(object), prefix_(std::move(prefix)), problems_(problems) {}

  /// Present and not null.
  bool has(const char* key) const;
  bool is_absent(const char* key) const { return find(key) == nullptr; }
  bool is_null(const char* key) const { return !is_absent(key) && !has(key); }
  /// Whole numbers fit in 32 bits, so that products of two do not overflow.
  int64_t integer(const char* key, std::optional<int64_t> otherwise = {}) const;
  /// null is absent.
  int64_t integer_or_null(const char* key, int64_t otherwise) const;
  /// A key with two names, of which one may be given.
  int64_t integer(const char* key, const char* alias, int64_t otherwise) const;
  double number(const char* key, std::optional<double> otherwise = {}) const;
  bool boolean(const char* key, bool otherwise) const;
  std::string text(const char* key, const std::optional<std::string>& otherwise = {}) const;
  /// Empty when absent or null.
  std::vector<std::string> texts(const char* key) const;
  /// The object of that key; nothing when it is absent or null.
  std::optional<Fields> object(const char* key) const;
  size_t size() const;

  /// Adds "key <key>: <what>".
  void problem(const char* key, const std::string& what) const;
  /// The value of a key, short, for a message.
  std::string found(const char* key) const;

 private:
  const nlohmann::json* find(const char* key) const;
  template <typename T>
  T missing(const char* key, const char* expected, const std::optional<T>& otherwise) const;
  void wrong(const char* key, const char* expected) const;

  const nlohmann::json& object_;
  std::string prefix_;
  Problems& problems_;
};

}  // namespace wafer::importers
