#include "wafer/machine/decode.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/machine/load.h"

namespace wafer::machine {
namespace {

// What is said of a text; "(no error)" when it is a machine.
std::string refusal(const std::string& text) {
  try {
    parse(text, "mine.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

// What is said of a line that follows two right ones: it is the third.
std::string refusal_of(const std::string& line) {
  return refusal("base = \"wse2\"\ndescription = \"mine\"\n" + line + "\n");
}

std::string shipped_text(const std::string& name) {
  std::ifstream file(std::string(WAFER_SOURCE_DIR) + "/machines/" + name + ".toml");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Decode, takes_a_number_with_value_mark_and_source) {
  EXPECT_EQ(refusal_of(R"(clock_hz = { value = 1e9, mark = "assumed", source = "mine" })"),
            "(no error)");
}

TEST(Decode, takes_whole_floats_for_counts_and_integers_for_floats) {
  EXPECT_EQ(refusal_of(R"(sram.banks = { value = 8.0, mark = "assumed", source = "mine" })"),
            "(no error)");
  EXPECT_EQ(refusal_of(R"(lanes.f16 = { value = 4, mark = "assumed", source = "mine" })"),
            "(no error)");
}

TEST(Decode, refuses_what_is_not_toml_naming_the_place) {
  EXPECT_TRUE(contains(refusal("kind = \"wafer\"\nclock_hz = = 3\n"), "mine.toml:2:"));
  EXPECT_TRUE(contains(refusal("kind = \"wafer\"\nclock_hz = = 3\n"), "not TOML"));
  EXPECT_TRUE(contains(refusal(std::string("a = \"\0\"", 7)), "mine.toml:1:"));
  EXPECT_TRUE(contains(refusal("a = \"\xff\xfe\""), "mine.toml:1:"));
  EXPECT_TRUE(contains(refusal_of("description = \"twice\""), "mine.toml:3:"));
}

TEST(Decode, refuses_endless_nesting_without_running_out_of_stack) {
  EXPECT_TRUE(contains(refusal("a = " + std::string(100000, '[')), "mine.toml:1:"));
}

TEST(Decode, refuses_every_beginning_of_a_file) {
  const std::string text = shipped_text("wse2");
  ASSERT_EQ(refusal(text), "(no error)");
  const size_t end = text.find_last_not_of('\n');
  for (size_t size = 0; size <= end; ++size) {
    ASSERT_NE(refusal(text.substr(0, size)), "(no error)") << size;
  }
}

TEST(Decode, names_everything_that_a_file_without_base_lacks) {
  const std::string message = refusal("kind = \"wafer\"\n");
  EXPECT_TRUE(
      contains(message, "mine.toml: missing: description, generation, process, clock_hz, "));
  EXPECT_TRUE(contains(message, "fitted.pass_seconds"));
  EXPECT_TRUE(contains(message, "each number as { value = ..., mark = "));
  EXPECT_TRUE(contains(message, "base = \"wse2\""));
}

TEST(Decode, wants_a_description_of_a_derived_machine_too) {
  EXPECT_TRUE(contains(refusal("base = \"wse2\"\n"), "missing: description. "));
}

TEST(Decode, tells_all_problems_at_once_each_with_its_line) {
  const std::string message = refusal_of(
      "clock_hz = 3\n"
      "lanes.f15 = 1\n"
      "power = { peak_watts = { value = 0, mark = \"guessed\", source = \"mine\" } }");
  EXPECT_TRUE(contains(message, "mine.toml:3:12: clock_hz: expected { value"));
  EXPECT_TRUE(contains(message, "mine.toml:4:13: lanes.f15: unknown key"));
  EXPECT_TRUE(contains(message, "mine.toml:5:34: power.peak_watts: expected a number from 1"));
  EXPECT_TRUE(contains(message, "mine.toml:5:44: power.peak_watts.mark: expected documented"));
}

TEST(Decode, suggests_the_key_that_was_meant) {
  EXPECT_TRUE(contains(refusal_of("clock = 3"), "clock: unknown key; did you mean clock_hz?"));
  EXPECT_TRUE(contains(refusal_of("[fabrik]\nwidth = 3"), "fabrik: unknown key"));
  EXPECT_TRUE(contains(refusal_of("[fabric]\nwidht = 3"), "did you mean fabric.width?"));
  EXPECT_TRUE(contains(refusal_of("[fitted]\nfudge = 3"), "fitted.fudge: unknown key"));
}

TEST(Decode, refuses_parts_of_a_number_that_it_does_not_know) {
  EXPECT_TRUE(contains(
      refusal_of(R"(clock_hz = { value = 1e9, mark = "assumed", source = "mine", unit = "Hz" })"),
      "unknown part \"unit\""));
}

TEST(Decode, wants_value_mark_and_source_of_every_number) {
  EXPECT_TRUE(contains(refusal_of(R"(clock_hz = { mark = "assumed", source = "mine" })"),
                       "clock_hz: value is missing"));
  EXPECT_TRUE(contains(refusal_of(R"(clock_hz = { value = 1e9, source = "mine" })"),
                       "clock_hz: mark is missing"));
  EXPECT_TRUE(contains(refusal_of(R"(clock_hz = { value = 1e9, mark = "assumed" })"),
                       "clock_hz: source is missing"));
  EXPECT_TRUE(contains(refusal_of(R"(clock_hz = { value = 1e9, mark = "assumed", source = "  " })"),
                       "clock_hz.source: expected text, found none"));
}

TEST(Decode, refuses_values_that_no_machine_has) {
  const auto said_of = [](const std::string& value) {
    return refusal_of("clock_hz = { value = " + value + ", mark = \"assumed\", source = \"x\" }");
  };
  for (const char* value : {"0", "-1e9", "0.85", "1e300", "nan", "inf", "-inf", "-0.0"}) {
    EXPECT_TRUE(
        contains(said_of(value), "clock_hz: expected a number from 1 MHz to 100 GHz, found"))
        << value;
  }
  EXPECT_TRUE(contains(said_of("\"1 GHz\""), "expected a number, found string"));
  EXPECT_TRUE(contains(said_of("true"), "expected a number, found boolean"));
  EXPECT_TRUE(contains(said_of("1979-05-27"), "expected a number, found date"));
  EXPECT_TRUE(contains(said_of("[1e9]"), "expected a number, found array"));
}

TEST(Decode, refuses_fractions_of_what_is_counted) {
  EXPECT_TRUE(
      contains(refusal_of(R"(sram.banks = { value = 7.5, mark = "assumed", source = "x" })"),
               "sram.banks: expected a whole number from 1 to 1024, found 7.5"));
}

TEST(Decode, refuses_lists_that_are_none_or_hold_nonsense) {
  const auto said_of = [](const std::string& value) {
    return refusal_of("core.input_queue_words = { value = " + value +
                      ", mark = \"assumed\", source = \"x\" }");
  };
  EXPECT_EQ(said_of("[2, 2]"), "(no error)");
  EXPECT_TRUE(contains(said_of("2"), "expected a list of 1 to 64 whole numbers, found integer"));
  EXPECT_TRUE(contains(said_of("[]"), "expected a list of 1 to 64 whole numbers, found 0"));
  EXPECT_TRUE(contains(said_of("[2, 0]"), "expected a whole number from 1"));
  EXPECT_TRUE(contains(said_of("[2, 2.5]"), "found 2.5"));
  EXPECT_TRUE(contains(said_of("[2, [2]]"), "expected a number, found array"));
  std::string many = "[2";
  for (int i = 0; i < 64; ++i) many += ", 2";
  EXPECT_TRUE(contains(said_of(many + "]"), "found 65"));
}

TEST(Decode, refuses_text_that_would_garble_a_table) {
  EXPECT_TRUE(contains(
      refusal_of(R"(clock_hz = { value = 1e9, mark = "assumed", source = "a\u001b[31m" })"),
      "found control characters"));
  EXPECT_TRUE(contains(refusal_of(R"(generation = "two\nlines")"), "found control characters"));
  EXPECT_TRUE(contains(refusal_of("process = \"" + std::string(3000, 'x') + "\""),
                       "at most 2000 characters"));
}

TEST(Decode, shows_hostile_keys_without_their_control_characters) {
  const std::string message = refusal_of(R"("a\u001b[31m\nb" = 1)");
  EXPECT_TRUE(contains(message, "a?[31m?b: unknown key"));
  EXPECT_FALSE(contains(message, "\x1b"));
  EXPECT_LT(refusal_of(std::string(10000, 'k') + " = 1").size(), 400u);
}

TEST(Decode, refuses_a_kind_of_machine_that_it_does_not_know) {
  EXPECT_TRUE(contains(refusal("kind = \"toaster\"\n"),
                       "kind: expected \"wafer\" or \"gpu\", found \"toaster\""));
  EXPECT_TRUE(contains(refusal("description = \"mine\"\n"), "missing: kind, "));
}

TEST(Decode, refuses_a_base_of_another_kind) {
  EXPECT_TRUE(contains(refusal_of("kind = \"gpu\""), "its base \"wse2\" is of kind \"wafer\""));
}

TEST(Decode, refuses_the_numbers_of_a_wafer_in_a_cluster) {
  EXPECT_TRUE(contains(refusal("base = \"h100\"\ndescription = \"mine\"\nclock_hz = 1\n"),
                       "clock_hz: unknown key"));
}

TEST(Decode, refuses_peaks_that_fall_as_elements_get_narrower) {
  EXPECT_TRUE(
      contains(refusal("base = \"a100-80gb\"\ndescription = \"mine\"\n"
                       "gpu.tf32_flops = { value = 400e12, mark = \"assumed\", source = \"x\" }\n"),
               "peaks must rise as elements get narrower"));
}

TEST(Decode, refuses_sections_and_flags_of_another_type) {
  EXPECT_TRUE(contains(refusal_of("fabric = 3"), "fabric: expected a table [fabric], found"));
  EXPECT_TRUE(contains(refusal_of("calibrated = \"yes\""), "expected true or false"));
  EXPECT_TRUE(contains(refusal("base = 2\ndescription = \"mine\"\n"),
                       "mine.toml:1:8: base: expected text in quotes, found integer"));
}

TEST(Decode, refuses_a_usable_rectangle_that_leaves_the_fabric) {
  EXPECT_TRUE(
      contains(refusal_of(R"(usable.width = { value = 758, mark = "assumed", source = "x" })"),
               "usable.width = 758 is more than fabric.width = 757"));
}

TEST(Decode, keeps_the_hand_off_to_a_base_in_the_callers_hands) {
  const Source source{.text = "base = \"x\"\ndescription = \"d\"", .file = "f", .name = "n"};
  std::string asked;
  const Machine machine = decode(source, [&](const std::string& base) {
    asked = base;
    return load("wse3");
  });
  EXPECT_EQ(asked, "x");
  EXPECT_EQ(std::get<Wafer>(machine).name, "n");
  EXPECT_EQ(std::get<Wafer>(machine).generation, "WSE-3");
}

}  // namespace
}  // namespace wafer::machine
