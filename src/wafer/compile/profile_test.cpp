// What a GPT's layer does, counted by hand for hidden 64, 4 heads, 8 tokens.
#include "wafer/compile/profile.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"
#include "wafer/ir/builder.h"
#include "wafer/models/models.h"

namespace wafer::compile {
namespace {

constexpr double Tokens = 8, Hidden = 64, Heads = 4, Layers = 3;

const Profile& gpt() {
  static const Profile profile = compile::profile(
      models::build("gpt:layers=3,hidden=64,heads=4,vocab=128", {.seq_len = 8, .train = true}), 8);
  return profile;
}

const LayerProfile& layer() {
  for (const LayerProfile& l : gpt().layers) {
    if (l.repeated) return l;
  }
  throw InternalError("no repeated layer");
}

template <typename T>
std::vector<T> steps_of(const LayerProfile& l) {
  std::vector<T> found;
  for (const Step& step : l.steps) {
    if (const auto* s = std::get_if<T>(&step)) found.push_back(*s);
  }
  return found;
}

TEST(Profile, looks_at_equal_layers_once) {
  EXPECT_EQ(layer().times, Layers);
  EXPECT_EQ(gpt().repeated(), Layers);
  EXPECT_EQ(layer().stage, plan::Stage::Every);
  EXPECT_EQ(gpt().layers.front().stage, plan::Stage::First);
  EXPECT_EQ(gpt().layers.back().stage, plan::Stage::Last);
}

TEST(Profile, knows_heads_tokens_and_that_a_gpt_generates) {
  EXPECT_EQ(gpt().heads, 4);
  EXPECT_EQ(gpt().tokens, 8);
  EXPECT_EQ(gpt().unit, 1);
  EXPECT_FALSE(gpt().fixed);
  EXPECT_TRUE(gpt().generates);
}

TEST(Profile, counts_twelve_squares_of_the_width_and_thirteen_widths_a_layer) {
  EXPECT_EQ(layer().parameters, 12 * Hidden * Hidden + 13 * Hidden);
}

TEST(Profile, joins_query_key_and_value_and_deals_them_by_whole_heads) {
  const auto products = steps_of<ProductStep>(layer());
  ASSERT_EQ(products.size(), 4u);
  const ProductStep& qkv = products[0];
  EXPECT_EQ(qkv.shape.m, Tokens);
  EXPECT_EQ(qkv.shape.k, Hidden);
  EXPECT_EQ(qkv.shape.n, 3 * Hidden);
  EXPECT_TRUE(qkv.bias);
  EXPECT_EQ(qkv.split, Split::Columns);
  double columns = 0;
  for (const double c : qkv.columns) columns += c;
  EXPECT_EQ(columns, 3 * Hidden);
  for (const double grain : qkv.grains) EXPECT_EQ(grain, Hidden / Heads);
}

TEST(Profile, splits_products_by_columns_and_then_by_rows) {
  const auto products = steps_of<ProductStep>(layer());
  ASSERT_EQ(products.size(), 4u);
  const auto is = [&](size_t i, double n, double k, Split split) {
    EXPECT_EQ(products[i].shape.n, n) << i;
    EXPECT_EQ(products[i].shape.k, k) << i;
    EXPECT_EQ(products[i].split, split) << i;
  };
  is(1, Hidden, Hidden, Split::Rows);         // behind attention
  is(2, 4 * Hidden, Hidden, Split::Columns);  // up
  is(3, Hidden, 4 * Hidden, Split::Rows);     // down
}

TEST(Profile, sees_causal_attention_over_split_heads) {
  const auto attention = steps_of<AttentionStep>(layer());
  ASSERT_EQ(attention.size(), 1u);
  EXPECT_EQ(attention[0].batch_heads, Heads);
  EXPECT_EQ(attention[0].scores(), Heads * Tokens * Tokens);
  EXPECT_TRUE(attention[0].causal);
  EXPECT_TRUE(attention[0].shared);
  // q k^T and its product with v: 2 x 2 x 4 heads x 8 x 8 scores x 16.
  EXPECT_EQ(attention[0].flops().value, 2 * 2 * 4 * 64 * 16);
}

TEST(Profile, keeps_what_gradients_read_once_each) {
  // Whole on each rank: both norms' inputs and results. Split: q, k, v, what attention made, and
  // what goes into and out of the GELU, four times as wide.
  const double tensor = Tokens * Hidden;
  EXPECT_EQ(layer().kept.whole, 4 * tensor);
  EXPECT_EQ(layer().kept.shared, (3 + 1 + 4 + 4) * tensor);
}

TEST(Profile, fuses_a_bias_into_its_product_and_a_residual_into_one_pass) {
  const auto passes = steps_of<PassStep>(layer());
  int norms = 0, sums = 0, gelus = 0;
  for (const PassStep& p : passes) {
    norms += p.kind == PassStep::Kind::Norm;
    gelus += p.kind == PassStep::Kind::Nonlinear;
    sums += p.kind == PassStep::Kind::Linear;
    if (p.kind != PassStep::Kind::Linear) continue;
    EXPECT_EQ(p.operands, 2);
    EXPECT_EQ(p.read, 2 * p.elements);
  }
  EXPECT_EQ(norms, 2);
  EXPECT_EQ(gelus, 1);
  EXPECT_EQ(sums, 2);
}

TEST(Profile, deals_the_vocabulary_by_columns) {
  const auto products = steps_of<ProductStep>(gpt().layers.back());
  ASSERT_EQ(products.size(), 1u);
  EXPECT_EQ(products[0].shape.n, 128);
  EXPECT_EQ(products[0].split, Split::Columns);
}

}  // namespace
}  // namespace wafer::compile
