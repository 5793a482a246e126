#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/machine/fields.h"
#include "wafer/machine/load.h"
#include "wafer/machine/numbers.h"

namespace wafer::machine {
namespace {

std::string refusal(const std::string& key, double value) {
  try {
    overridden(load("wse2"), key, value);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(Overridden, changes_value_mark_and_source) {
  const auto wafer = std::get<Wafer>(overridden(load("wse2"), "clock_hz", 1.1e9, "a sweep"));
  EXPECT_EQ(wafer.clock.value, Hertz(1.1e9));
  EXPECT_EQ(wafer.clock.mark, Mark::Assumed);
  EXPECT_EQ(wafer.clock.source, "a sweep");
}

TEST(Overridden, is_no_longer_calibrated) {
  EXPECT_FALSE(std::get<Wafer>(overridden(load("wse2"), "lanes.f16", 8)).calibrated);
}

TEST(Overridden, refuses_what_a_file_could_not_say) {
  EXPECT_TRUE(contains(refusal("clock_hz", 0), "clock_hz: expected a number from"));
  EXPECT_TRUE(contains(refusal("clock_hz", std::nan("")), "found nan"));
  EXPECT_TRUE(contains(refusal("store.nodes", 2.5), "whole number"));
  EXPECT_TRUE(contains(refusal("usable.width", 800), "more than fabric.width = 757"));
}

TEST(Overridden, refuses_unknown_keys_and_lists) {
  EXPECT_TRUE(contains(refusal("clock", 1e9), "did you mean clock_hz?"));
  EXPECT_TRUE(contains(refusal("", 1), "wafer machines show wse2"));
  EXPECT_TRUE(contains(refusal("core.input_queue_words", 4), "a list cannot be set"));
}

// The field of a key of the wafer.
Field field_of(const std::string& key) {
  const Wafer wafer;
  Field found{};
  visit_numbers(wafer, [&](const Field& field, const auto&) {
    if (key == field.key) found = field;
  });
  return found;
}

RC_GTEST_PROP(Overridden, changes_nothing_but_the_number_of_the_key, ()) {
  static const Machine wse2 = load("wse2");
  static const std::vector<Number> before = numbers(wse2);
  const Number target = *rc::gen::elementOf(before);
  // Numbers that are held against others are left out: their extremes contradict the machine.
  RC_PRE(!target.is_list && target.key.find("usable") != 0 && target.key.find("fabric") != 0 &&
         target.key != "sram.bytes" && target.key != "sram.reserved_bytes");
  const Field field = field_of(target.key);
  const double value = *rc::gen::element(field.least < 1 ? 1 : field.least, field.most);
  const auto after = numbers(overridden(wse2, target.key, value));
  RC_ASSERT(after.size() == before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    const bool changed = after[i].key == target.key;
    RC_ASSERT(after[i].value == (changed ? std::vector<double>{value} : before[i].value));
  }
}

}  // namespace
}  // namespace wafer::machine
