#include "wafer/plan/sparsity.h"

#include <gtest/gtest.h>

namespace wafer::plan {
namespace {

TEST(Sparsity, is_read_as_a_share_or_as_a_pattern) {
  EXPECT_EQ(sparsity_named("0.75"), Sparsity(0.75));
  EXPECT_EQ(sparsity_named("75%"), Sparsity(0.75));
  EXPECT_EQ(sparsity_named("dense"), Sparsity());
  EXPECT_EQ(sparsity_named("0"), Sparsity());
  EXPECT_EQ(sparsity_named("4:4"), Sparsity());
  EXPECT_EQ(sparsity_named("2:4"), Sparsity::pattern(2, 4));
  EXPECT_EQ(sparsity_named("2:4")->zeros, 0.5);
  for (const char* wrong : {"", "1", "100%", "-0.1", "nan", "inf", "x", "0:4", "5:4", "-1:4",
                            "2:", ":4", "2:4:8", "2.5:4", "1:65537", "0.5 "}) {
    EXPECT_EQ(sparsity_named(wrong), std::nullopt) << wrong;
  }
}

TEST(Sparsity, is_written_as_it_is_read) {
  for (const char* text : {"0", "0.75", "2:4", "1:8", "7:16", "1:3", "65535:65536"}) {
    EXPECT_EQ(sparsity_named(text)->text(), text);
  }
}

TEST(Sparsity, sends_a_place_with_each_value) {
  // Unstructured: 16 bits of index. A quarter of the 16-bit values: 0.25 x 4 bytes; of f32: 0.25
  // x 6.
  EXPECT_EQ(Sparsity(0.75).wire_bytes(2), 1);
  EXPECT_EQ(Sparsity(0.75).wire_bytes(4), 1.5);
  EXPECT_EQ(Sparsity(0.25).wire_bytes(2), 2);  // dense is less
  // 2:4: two bits for one of four places. 0.5 x 2.25 bytes. 1:8: three bits, 0.125 x 2.375 bytes.
  EXPECT_EQ(Sparsity::pattern(2, 4).wire_bytes(2), 1.125);
  EXPECT_EQ(Sparsity::pattern(1, 8).wire_bytes(2), 0.125 * 2.375);
  EXPECT_EQ(Sparsity().wire_bytes(2), 2);
}

TEST(Sparsity, breaks_even_where_values_and_places_are_as_large_as_dense) {
  EXPECT_DOUBLE_EQ(Sparsity(0.5).break_even_density(2), 0.5);
  EXPECT_DOUBLE_EQ(Sparsity(0.5).break_even_density(4), 2.0 / 3);
  EXPECT_DOUBLE_EQ(Sparsity::pattern(2, 4).break_even_density(2), 8.0 / 9);
}

TEST(Sparsity, of_parts_is_their_mean) {
  const SparseParts parts = {{0.25, Sparsity()}, {0.75, Sparsity::pattern(2, 4)}};
  EXPECT_DOUBLE_EQ(density_of(parts), 0.25 + 0.75 * 0.5);
  EXPECT_EQ(density_of({}), 1);
  EXPECT_EQ(text_of(parts), "0.25 of them dense, 0.75 of them 2:4");
  EXPECT_EQ(text_of({{1, Sparsity(0.9)}}), "0.9");
}

TEST(Matches, stars_and_question_marks) {
  EXPECT_TRUE(matches("mlp/*", "mlp/up"));
  EXPECT_TRUE(matches("*up", "mlp/up"));
  EXPECT_TRUE(matches("*.h.?.*", "transformer.h.3.mlp"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches("*.h.?.*", "transformer.h.13.mlp"));
  EXPECT_FALSE(matches("mlp", "mlp/up"));
  EXPECT_FALSE(matches("", "x"));
}

}  // namespace
}  // namespace wafer::plan
