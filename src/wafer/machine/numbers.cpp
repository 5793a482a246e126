#include "wafer/machine/numbers.h"

#include "wafer/machine/fields.h"

namespace wafer::machine {

std::vector<Number> numbers(const Machine& machine) {
  std::vector<Number> all;
  const auto add = [&]<typename T>(const Field& field, const Sourced<T>& number) {
    Number& row = all.emplace_back(Number{.key = field.key,
                                          .unit = field.unit,
                                          .meaning = field.meaning,
                                          .is_list = List<T>,
                                          .value = {},
                                          .mark = number.mark,
                                          .source = number.source});
    if constexpr (List<T>) {
      row.value.assign(number.value.begin(), number.value.end());
    } else {
      row.value.push_back(plain(number.value));
    }
  };
  std::visit([&](const auto& kind) { visit_numbers(kind, add); }, machine);
  return all;
}

}  // namespace wafer::machine
