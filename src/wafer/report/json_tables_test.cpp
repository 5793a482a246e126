#include "wafer/report/json_tables.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonTables, one_answer_is_a_row_and_its_objects_are_columns) {
  const auto tables = tables_of(Json::parse(R"({"step_seconds": 0.25, "memory": {"bytes": 8}})"));
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].name, "answer");
  EXPECT_EQ(csv(tables[0]), "step_seconds,memory.bytes\n0.25,8\n");
}

TEST(JsonTables, a_list_of_objects_is_a_table_of_all_their_keys) {
  const auto tables = tables_of(Json::parse(R"({"x": 1, "layers": [{"a": 1}, {"b": true}]})"));
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[1].name, "layers");
  EXPECT_EQ(csv(tables[1]), "a,b\n1,\n,true\n");
}

TEST(JsonTables, tables_in_rows_begin_with_what_the_row_is_called_by) {
  const auto tables = tables_of(Json::parse(
      R"([{"name": "wse2", "numbers": {"clock": {"value": 850000000, "unit": "Hz"}}}])"));
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(csv(tables[0]), "name\nwse2\n");
  EXPECT_EQ(tables[1].name, "numbers");
  EXPECT_EQ(csv(tables[1]), "name,key,value,unit\nwse2,clock,850000000,Hz\n");
}

TEST(JsonTables, a_tree_is_one_table_in_the_order_of_its_nodes) {
  const auto tables = tables_of(Json::parse(
      R"({"body": [{"node": "repeat", "body": [{"node": "launch"}]}, {"node": "update"}]})"));
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(csv(tables[0]), "depth,node\n0,repeat\n1,launch\n0,update\n");
}

TEST(JsonTables, csv_quotes_and_joins) {
  const auto tables = tables_of(Json::parse(R"([{"a": "x, \"y\"", "b": ["p", "q"], "c": null}])"));
  EXPECT_EQ(csv(tables[0]), "a,b,c\n\"x, \"\"y\"\"\",p; q,\n");
}

TEST(JsonTables, markdown_has_units_and_no_empty_columns) {
  const auto tables = tables_of(
      Json::parse(R"([{"step_seconds": 0.25, "energy_joules_per_step": 19000, "gone": null}])"));
  EXPECT_EQ(markdown(tables[0]),
            "| step_seconds | energy_joules_per_step |\n|---:|---:|\n| 250 ms | 19 kJ |\n");
}

TEST(JsonTables, an_unknown_table_is_refused_with_those_that_there_are) {
  const auto tables = tables_of(Json::parse(R"({"x": 1, "layers": [{"a": 1}]})"));
  try {
    table_named(tables, "layer", "--table");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "--table: no table \"layer\"; did you mean layers?; there are answer, layers");
  }
}

}  // namespace
}  // namespace wafer::report
