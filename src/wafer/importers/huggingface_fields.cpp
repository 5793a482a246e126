#include "wafer/importers/huggingface_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace wafer::importers {
namespace {

using nlohmann::json;

constexpr size_t LongestFound = 60;

constexpr const char* WholeNumber = "a whole number of at most 32 bits";

bool is_int32(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>() <= INT32_MAX;
  return value.is_number_integer() && value.get<int64_t>() >= INT32_MIN;
}

}  // namespace

const json* Fields::find(const char* key) const {
  const auto at = object_.find(key);
  return at == object_.end() ? nullptr : &*at;
}

bool Fields::has(const char* key) const {
  const json* value = find(key);
  return value != nullptr && !value->is_null();
}

size_t Fields::size() const { return object_.size(); }

void Fields::problem(const char* key, const std::string& what) const {
  problems_.add(fmt::format("key {}{}: {}", prefix_, key, what));
}

std::string Fields::found(const char* key) const {
  const json* value = find(key);
  if (value == nullptr) return "none";
  std::string text = value->dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > LongestFound) text = text.substr(0, LongestFound) + "...";
  return text;
}

void Fields::wrong(const char* key, const char* expected) const {
  problem(key, fmt::format("expected {}, found {}", expected, found(key)));
}

template <typename T>
T Fields::missing(const char* key, const char* expected, const std::optional<T>& otherwise) const {
  if (!otherwise) wrong(key, expected);
  return otherwise.value_or(T());
}

int64_t Fields::integer(const char* key, std::optional<int64_t> otherwise) const {
  const json* value = find(key);
  if (value == nullptr) return missing(key, WholeNumber, otherwise);
  if (is_int32(*value)) return value->get<int64_t>();
  wrong(key, WholeNumber);
  return otherwise.value_or(0);
}

int64_t Fields::integer_or_null(const char* key, int64_t otherwise) const {
  return has(key) ? integer(key, otherwise) : otherwise;
}

int64_t Fields::integer(const char* key, const char* alias, int64_t otherwise) const {
  if (find(alias) == nullptr) return integer(key, otherwise);
  const int64_t value = integer(alias, otherwise);
  if (find(key) != nullptr && integer(key, otherwise) != value) {
    problem(key, fmt::format("{} contradicts {} {}", found(key), alias, found(alias)));
  }
  return value;
}

double Fields::number(const char* key, std::optional<double> otherwise) const {
  const json* value = find(key);
  if (value == nullptr) return missing(key, "a number", otherwise);
  if (value->is_number()) return value->get<double>();
  wrong(key, "a number");
  return otherwise.value_or(0);
}

bool Fields::boolean(const char* key, bool otherwise) const {
  const json* value = find(key);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  wrong(key, "true or false");
  return otherwise;
}

std::string Fields::text(const char* key, const std::optional<std::string>& otherwise) const {
  const json* value = find(key);
  if (value == nullptr) return missing(key, "a string", otherwise);
  if (value->is_string()) return value->get<std::string>();
  wrong(key, "a string");
  return otherwise.value_or("");
}

std::vector<std::string> Fields::texts(const char* key) const {
  if (!has(key)) return {};
  const json& value = *find(key);
  const bool all_text =
      value.is_array() &&
      std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_string(); });
  if (all_text) return value.get<std::vector<std::string>>();
  wrong(key, "a list of strings");
  return {};
}

std::optional<Fields> Fields::object(const char* key) const {
  if (!has(key)) return std::nullopt;
  const json& value = *find(key);
  if (value.is_object()) return Fields(value, prefix_ + key + ".", problems_);
  wrong(key, "an object");
  return std::nullopt;
}

}  // namespace wafer::importers
