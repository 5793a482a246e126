#include "wafer/report/values.h"

#include <gtest/gtest.h>

#include <limits>

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;
using study::Value;
using Words = std::vector<std::string>;

TEST(Values, are_json_of_their_kind) {
  EXPECT_EQ(json_of(Value()), Json(nullptr));
  EXPECT_EQ(json_of(Value(0.1)).dump(), "0.1");
  EXPECT_EQ(json_of(Value(int64_t{3})).dump(), "3");
  EXPECT_EQ(json_of(Value(true)).dump(), "true");
  EXPECT_EQ(json_of(Value(std::string("a\"b"))).dump(), R"("a\"b")");
  EXPECT_EQ(json_of(Value(Words{"a", "b"})).dump(), R"(["a","b"])");
  EXPECT_EQ(json_of(Value(std::numeric_limits<double>::infinity())), Json(nullptr));
}

TEST(Values, are_words_of_csv) {
  EXPECT_EQ(csv_word(Value()), "");
  EXPECT_EQ(csv_word(Value(0.1)), "0.1");
  EXPECT_EQ(csv_word(Value(false)), "false");
  EXPECT_EQ(csv_word(Value(Words{"a", "b"})), "a; b");
}

TEST(Values, set_keys_of_objects_in_objects) {
  Json json = Json::object();
  set_key(json, "batch", 8);
  set_key(json, "parallelism.tensor", 2);
  set_key(json, "parallelism.data", 4);
  EXPECT_EQ(json.dump(), R"({"batch":8,"parallelism":{"tensor":2,"data":4}})");
}

TEST(Values, are_cells_with_units_for_people) {
  EXPECT_EQ(cell_of(Value(0.0125), "s").text, "12.5 ms");
  EXPECT_EQ(cell_of(Value(int64_t{8192}), "").text, "8192");
  EXPECT_EQ(cell_of(Value(), "s").text, "");
}

TEST(Values, shows_money) {
  EXPECT_EQ(usd(0.0123456).text, "0.0123 USD");
  EXPECT_EQ(usd(2.5).text, "2.5 USD");
  EXPECT_EQ(usd(999).text, "999 USD");
  EXPECT_EQ(usd(1234.4).text, "1,234 USD");
  EXPECT_EQ(usd(12345678).text, "12,345,678 USD");
  EXPECT_EQ(cell_of(study::Value(2e6), "USD").text, "2,000,000 USD");
}

}  // namespace
}  // namespace wafer::report
