// Composites, computed by their decompositions, against PyTorch in double precision
// (tests/composites/expected.py).
#include <gtest/gtest.h>

#include <cmath>

#include "composites/expected.h"
#include "support/run_op.h"

namespace wafer::reference {
namespace {

using ir::Attributes;
using ir::AttrKey;
using ir::OpKind;

/// Element i is ((i * i + 3 * i) % modulus - shift) / 4.
Tensor input(const std::string& type, int64_t modulus = 17, int64_t shift = 8) {
  Tensor result = scrambled(type, modulus, shift);
  for (double& x : result.floats) x /= 4;
  return result;
}

void expect_near(const Tensor& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.floats.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found.floats[i], expected[i], 1e-13 * std::max(1.0, std::abs(expected[i]))) << i;
  }
}

void expect_near(const std::vector<Tensor>& found,
                 const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    expect_near(found[i], expected[i]);
  }
}

const Attributes Epsilon{{AttrKey::Epsilon, 1e-3}};

TEST(Composite, layer_norm_is_that_of_pytorch) {
  const Tensor x = input("f64[2,3,5]");
  const Tensor scale = input("f64[5]", 7, 2);
  const Tensor dy = input("f64[2,3,5]", 11, 5);
  expect_near(run_op(OpKind::LayerNorm, {x, scale, input("f64[5]", 5)}, Epsilon), {LayerNorm});
  expect_near(run_op(OpKind::LayerNormGrad, {x, scale, dy}, Epsilon),
              {LayerNorm_dx, LayerNorm_dscale, LayerNorm_dbias});
}

TEST(Composite, rms_norm_is_that_of_pytorch) {
  const Tensor x = input("f64[2,3,5]");
  const Tensor scale = input("f64[5]", 7, 2);
  const Tensor dy = input("f64[2,3,5]", 11, 5);
  expect_near(run_op(OpKind::RmsNorm, {x, scale}, Epsilon), {RmsNorm});
  expect_near(run_op(OpKind::RmsNormGrad, {x, scale, dy}, Epsilon), {RmsNorm_dx, RmsNorm_dscale});
}

TEST(Composite, batch_norm_is_that_of_pytorch_in_training) {
  const Attributes attrs{{AttrKey::Epsilon, 1e-3}, {AttrKey::Dim, int64_t{1}}};
  const Tensor x = input("f64[2,3,4]");
  const Tensor scale = input("f64[3]", 7, 2);
  const Tensor dy = input("f64[2,3,4]", 11, 5);
  expect_near(run_op(OpKind::BatchNorm, {x, scale, input("f64[3]", 5)}, attrs),
              {BatchNorm, BatchNorm_mean, BatchNorm_variance});
  expect_near(run_op(OpKind::BatchNormGrad, {x, scale, dy}, attrs),
              {BatchNorm_dx, BatchNorm_dscale, BatchNorm_dbias});
}

TEST(Composite, softmax_is_that_of_pytorch) {
  const std::vector<Tensor> y = run_op(OpKind::Softmax, {input("f64[2,5]")});
  expect_near(y, {Softmax});
  expect_near(run_op(OpKind::SoftmaxGrad, {y[0], input("f64[2,5]", 11, 5)}), {Softmax_dx});
}

TEST(Composite, softmax_does_not_overflow) {
  // exp(1000) is infinite in double; 1 / (1 + e^-1) and its rest.
  const Tensor y = run_op(OpKind::Softmax, {tensor("f64[2]", {1000, 999})})[0];
  expect_near(y, {0.7310585786300049, 0.2689414213699951});
}

TEST(Composite, gelu_is_that_of_pytorch) {
  const Attributes tanh{{AttrKey::Approximate, std::string("tanh")}};
  const Tensor x = input("f64[2,5]");
  const Tensor dy = input("f64[2,5]", 11, 5);
  expect_near(run_op(OpKind::Gelu, {x}), {GeluNone});
  expect_near(run_op(OpKind::GeluGrad, {x, dy}), {GeluNone_dx});
  expect_near(run_op(OpKind::Gelu, {x}, tanh), {GeluTanh});
  expect_near(run_op(OpKind::GeluGrad, {x, dy}, tanh), {GeluTanh_dx});
}

TEST(Composite, attention_with_grouped_heads_is_that_of_pytorch) {
  const Attributes plain{{AttrKey::Scale, 0.7}};
  const Attributes causal{{AttrKey::Scale, 0.7}, {AttrKey::Causal, true}};
  const Tensor q = input("f64[2,4,3,2]");
  const Tensor k = input("f64[2,2,5,2]", 13, 6);
  const Tensor v = input("f64[2,2,5,3]", 19, 9);
  const Tensor bias = input("f64[2,1,3,5]", 11, 5);
  const Tensor dy = input("f64[2,4,3,3]", 7, 3);
  expect_near(run_op(OpKind::Attention, {q, k, v}, plain), {Attention});
  expect_near(run_op(OpKind::AttentionGrad, {q, k, v, dy}, plain),
              {Attention_dq, Attention_dk, Attention_dv});
  expect_near(run_op(OpKind::Attention, {q, k, v, bias}, causal), {AttentionMasked});
  expect_near(run_op(OpKind::AttentionGrad, {q, k, v, bias, dy}, causal),
              {AttentionMasked_dq, AttentionMasked_dk, AttentionMasked_dv});
}

TEST(Composite, cross_entropy_is_that_of_pytorch_and_ignores) {
  const Tensor logits = input("f64[4,5]");
  for (const char* type : {"i32[4]", "i64[4]"}) {
    const Tensor labels = tensor(type, {3, -100, 0, 4});
    expect_near(run_op(OpKind::CrossEntropy, {logits, labels}), {CrossEntropy});
    expect_near(run_op(OpKind::CrossEntropyGrad, {logits, labels, input("f64[4]", 7, 2)}),
                {CrossEntropy_dlogits});
  }
}

TEST(Composite, cross_entropy_of_unsigned_labels_ignores_one_of_them) {
  const Tensor logits = tensor("f64[2,2]", {0, 0, 0, 0});
  const Attributes attrs{{AttrKey::IgnoreIndex, int64_t{1}}};
  expect_near(run_op(OpKind::CrossEntropy, {logits, tensor("u8[2]", {0, 1})}, attrs),
              {{std::log(2.0), 0}});
}

TEST(Composite, narrow_floats_are_rounded_once) {
  // Mean 2049 needs 12 bits, f16 has 11: statistics rounded on the way would lose the difference.
  // PyTorch: layer_norm of half [2048, 2050] on weights 1 and biases 0 gives -1 and 1.
  const Options typed{.precision = Precision::Typed};
  const Tensor y =
      run_op(OpKind::LayerNorm,
             {tensor("f16[1,2]", {2048, 2050}), tensor("f16[2]", {1, 1}), tensor("f16[2]", {0, 0})},
             {{AttrKey::Epsilon, 1e-5}}, {}, typed)[0];
  EXPECT_EQ(y.floats, (std::vector<double>{-1, 1}));
}

}  // namespace
}  // namespace wafer::reference
