#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/study/question.h"

namespace wafer::study {

/// Reads "NAME=USD" into prices of an hour of one system: a wafer with its servers, or a GPU with
/// its share of the node. Throws InputError for what is no such text, for a price that is not a
/// finite number above 0, and for a machine that has a price already.
void add_price(Prices& prices, std::string_view text);

/// Throws InputError for a price of a machine that is not among those asked.
void check_prices(const Prices& prices, const std::vector<std::string>& machines);

/// USD of all systems for what the question is about: training to the target, else for its tokens,
/// else an epoch; where it names none of them, a million samples, or a million tokens decoded where
/// a network generates. Absent where its machine has no price. The durations of the result are set.
std::optional<Cost> cost_of(const Result& result);

}  // namespace wafer::study
