#include "wafer/study/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

constexpr double SecondsOfHour = 3600;
constexpr double Million = 1e6;

[[noreturn]] void refuse(std::string_view text) {
  throw InputError(
      fmt::format("--price: expected MACHINE=USD, what an hour of one wafer or GPU costs, as in "
                  "--price h100=2.5, found \"{}\"",
                  text));
}

/// Seconds of what is paid for, and its name.
std::pair<double, const char*> paid(const Result& r) {
  if (r.time_to_target) return {r.time_to_target->value, "target"};
  if (r.train) return {r.train->value, "training"};
  if (r.epoch) return {r.epoch->value, "epoch"};
  if (const auto decoded = r.answer.decode_tokens_per_second) {
    return {Million / *decoded, "million_tokens_decoded"};
  }
  return {Million / r.answer.samples_per_second, "million_samples"};
}

}  // namespace

void add_price(Prices& prices, std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == 0 || equals == std::string_view::npos) refuse(text);
  const std::string_view word = text.substr(equals + 1);
  double usd = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), usd);
  const bool is_number = error == std::errc() && rest == word.data() + word.size();
  if (!is_number || !std::isfinite(usd) || usd <= 0) refuse(text);
  const std::string machine(text.substr(0, equals));
  if (!prices.emplace(machine, usd).second) {
    throw InputError(fmt::format("--price {}: given twice", machine));
  }
}

void check_prices(const Prices& prices, const std::vector<std::string>& machines) {
  for (const auto& [machine, usd] : prices) {
    if (std::find(machines.begin(), machines.end(), machine) != machines.end()) continue;
    throw InputError(
        fmt::format("--price {}: nothing is asked of that machine; prices are of one wafer or GPU "
                    "of {}",
                    machine, fmt::join(machines, ", ")));
  }
}

std::optional<Cost> cost_of(const Result& r) {
  const auto price = r.question.prices.find(r.question.machine);
  if (price == r.question.prices.end()) return std::nullopt;
  const auto [seconds, of] = paid(r);
  return Cost{
      .usd = seconds / SecondsOfHour * price->second * static_cast<double>(r.question.systems),
      .of = of};
}

}  // namespace wafer::study
