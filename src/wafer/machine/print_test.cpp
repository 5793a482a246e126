#include "wafer/machine/print.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <vector>

#include "support/contains.h"
#include "wafer/machine/load.h"
#include "wafer/machine/numbers.h"

namespace wafer::machine {
namespace {

using Json = nlohmann::ordered_json;

bool has_row(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex("\n" + pattern));
}

TEST(PrintList, gives_a_line_to_each_machine) {
  const std::vector<Machine> machines = {load("wse2"), load("wse3")};
  EXPECT_EQ(print_list(machines),
            "name  PEs     clock    peak f16       memory    calibrated  description\n"
            "wse2  745500  850 MHz  5.069 PFLOP/s  36.64 GB  yes         Cerebras WSE-2 (CS-2), "
            "2021\n"
            "wse3  883350  875 MHz  12.37 PFLOP/s  43.42 GB  no          Cerebras WSE-3 (CS-3), "
            "2024\n");
}

TEST(PrintList, gives_clusters_a_table_of_their_own) {
  const std::vector<Machine> machines = {load("a100-80gb"), load("wse2")};
  const std::string text = print_list(machines);
  EXPECT_TRUE(has_row(text, "name +node +SMs +peak f16"));
  EXPECT_TRUE(has_row(text, "a100-80gb +8 GPUs a node +108 +312 TFLOP/s +80 GB +yes +NVIDIA A100"));
  EXPECT_LT(text.find("wse2"), text.find("a100-80gb"));
}

TEST(PrintText, shows_value_unit_mark_and_source) {
  const std::string text = print_text(load("wse2"));
  EXPECT_TRUE(contains(text, "WSE-2, TSMC 7 nm; training rates validated"));
  EXPECT_TRUE(has_row(text, "clock_hz +850 MHz +documented +Cerebras csl-examples"));
  EXPECT_TRUE(has_row(text, "core.input_queue_words +6, 6, 4, 4, 2, 2, 2, 2 word +documented"));
  EXPECT_TRUE(has_row(text, "peak_flops_f16 +5.069 PFLOP/s +derived +2 x lanes"));
  EXPECT_TRUE(contains(print_text(load("wse3")), "not calibrated"));
}

TEST(PrintText, has_a_line_for_every_number) {
  const Machine machine = load("wse1");
  const std::string text = print_text(machine);
  for (const Number& number : numbers(machine)) {
    EXPECT_TRUE(contains(text, "\n" + number.key + " "));
    EXPECT_TRUE(contains(text, number.source + "\n"));
  }
}

TEST(PrintJson, holds_every_number_in_si_units) {
  for (const std::string& name : names()) {
    const Machine machine = load(name);
    const Json json = Json::parse(print_json(machine));
    EXPECT_EQ(json["name"], name);
    EXPECT_EQ(json["kind"], std::holds_alternative<Wafer>(machine) ? "wafer" : "gpu");
    ASSERT_EQ(json["numbers"].size(), numbers(machine).size());
    for (const Number& number : numbers(machine)) {
      const Json& found = json["numbers"][number.key];
      if (number.is_list) {
        EXPECT_EQ(found["value"].get<std::vector<double>>(), number.value) << number.key;
      } else {
        EXPECT_EQ(found["value"].get<double>(), number.value.front()) << number.key;
      }
      EXPECT_EQ(found["mark"], name_of(number.mark));
      EXPECT_EQ(found["source"], number.source);
    }
  }
}

TEST(PrintJson, adds_what_follows_from_the_numbers) {
  const Json json = Json::parse(print_json(load("wse2")));
  EXPECT_EQ(json["figures"]["usable_pes"]["value"], 745500);
  EXPECT_DOUBLE_EQ(json["figures"]["peak_flops_f16"]["value"].get<double>(), 5.0694e15);
}

TEST(PrintJson, makes_an_array_of_several) {
  const std::vector<Machine> machines = {load("wse1"), load("wse2")};
  const Json json = Json::parse(print_json(machines));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[1]["name"], "wse2");
}

TEST(PrintJson, survives_a_name_that_is_not_utf8) {
  const Machine machine = parse("base = \"wse2\"\ndescription = \"d\"\n", "a\xff.toml");
  EXPECT_TRUE(Json::accept(print_json(machine)));
}

}  // namespace
}  // namespace wafer::machine
