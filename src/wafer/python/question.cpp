#include "wafer/python/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "wafer/base/error.h"
#include "wafer/study/cost.h"
#include "wafer/study/settings.h"

namespace wafer::python {
namespace {

using Json = nlohmann::ordered_json;
using study::Question;
using study::Setting;

// Whole numbers up to here are exact in a double.
constexpr double MostWhole = 9e15;

[[noreturn]] void refuse(const std::string& option, const char* expected, const Json& found) {
  throw InputError(fmt::format("--{}: expected {}, found {}", option, expected,
                               found.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

double number_in(const std::string& option, const Json& value) {
  if (!value.is_number()) refuse(option, "a number", value);
  return value.get<double>();
}

double whole_in(const std::string& option, const Json& value) {
  const double number = value.is_number() ? value.get<double>() : 0.5;
  const bool is_whole = std::abs(number) < MostWhole && number == std::floor(number);
  if (!is_whole) refuse(option, "a whole number below 2^53", value);
  return number;
}

std::string word_in(const std::string& option, const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (!value.is_string()) refuse(option, "a word", value);
  return value.get<std::string>();
}

void set(Question& question, const Setting& setting, const Json& value) {
  const std::string option = setting.name;
  switch (setting.kind) {
    case Setting::Kind::Count:
      return setting.number(question, whole_in(option, value));
    case Setting::Kind::Number:
      if (setting.word != nullptr && value.is_number()) {
        return study::set_word(setting, question, value.dump(), "--");
      }
      if (setting.word != nullptr) break;
      return setting.number(question, number_in(option, value));
    case Setting::Kind::Machine:
      question.machine = word_in(option, value);
      return;
    case Setting::Kind::Word:
    case Setting::Kind::Model:
      break;
  }
  study::set_word(setting, question, word_in(option, value), option == "model" ? "" : "--");
}

void set_dims(Question& question, const Json& value) {
  if (!value.is_object()) refuse("dim", "sizes by name", value);
  for (const auto& [name, size] : value.items()) {
    const double number = whole_in("dim " + name, size);
    if (number < 1) refuse("dim " + name, "a whole number from 1", size);
    question.dims[name] = static_cast<int64_t>(number);
  }
}

// What is no axis of a sweep and so no setting.
bool set_other(Question& question, const std::string& option, const Json& value) {
  if (option == "dim") {
    set_dims(question, value);
    return true;
  }
  if (option == "sparsity-of") {
    if (!value.is_object()) refuse(option, "sparsities by pattern", value);
    for (const auto& [pattern, sparsity] : value.items()) {
      const std::string word = sparsity.is_string() ? sparsity.get<std::string>() : sparsity.dump();
      question.sparsity_of.push_back(study::weight_sparsity_in(pattern + "=" + word));
    }
    return true;
  }
  if (option == "price") {
    if (!value.is_object()) refuse(option, "USD an hour by machine", value);
    for (const auto& [machine, usd] : value.items()) {
      study::add_price(question.prices,
                       machine + "=" + (usd.is_string() ? usd.get<std::string>() : usd.dump()));
    }
    return true;
  }
  if (option == "samples-to-target") {
    question.samples_to_target = value.is_number() ? value.dump() : word_in(option, value);
    return true;
  }
  if (option != "plain-attention") return false;
  if (!value.is_boolean()) refuse(option, "true or false", value);
  question.cluster.fused = !value.get<bool>();
  return true;
}

}  // namespace

Question question_of(std::string_view json) {
  const Json asked = Json::parse(json);
  Question question;
  for (const auto& [name, value] : asked.items()) {
    if (value.is_null()) continue;
    std::string option = name;
    std::replace(option.begin(), option.end(), '_', '-');
    if (set_other(question, option, value)) continue;
    const Setting* const setting = study::setting_named(option);
    if (setting == nullptr) throw InputError(fmt::format("no option \"{}\"", name));
    set(question, *setting, value);
  }
  return question;
}

}  // namespace wafer::python
