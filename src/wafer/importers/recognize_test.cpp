// Each pattern is found, computes the same, and its near misses stay as they are.
#include "wafer/importers/recognize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "wafer/ir/builder.h"
#include "wafer/ir/verify.h"
#include "wafer/reference/interpreter.h"

namespace wafer::importers {
namespace {

using ir::ElementFn;
using ir::Ints;
using ir::OpKind;
using ir::ValueId;

class Recognize : public testing::Test {
 protected:
  Recognize() : b_(graph_, graph_.add_function("main")) { graph_.main = ir::FunctionId(0); }

  ValueId input(const char* name, Shape shape, DType dtype = DType::F32) {
    return b_.input(name, {dtype, std::move(shape)});
  }
  ValueId mean(ValueId x) {
    Shape kept = b_.shape_of(x);
    const int64_t last = static_cast<int64_t>(kept.size()) - 1;
    kept.back() = Dim(1);
    return b_.reshape(b_.reduce_mean(x, {last}), kept);
  }
  ValueId root(ValueId square) { return b_.unary(ElementFn::Sqrt, b_.add(mean(square), 1e-5)); }

  /// How many ops of the kind the simplified graph has; it is checked to compute what the graph
  /// computed before.
  int count(OpKind kind, ValueId y) {
    b_.output("y", y);
    found_ = recognize_all(graph_);
    ir::verify(found_);
    check_equal_values();
    int n = 0;
    for (const ir::Op& op : found_.entry().ops) n += op.kind == kind;
    return n;
  }
  size_t ops() const { return found_.entry().ops.size(); }
  const ir::Op& only(OpKind kind) const {
    for (const ir::Op& op : found_.entry().ops) {
      if (op.kind == kind) return op;
    }
    throw std::runtime_error("no such op");
  }

  ir::Graph graph_;
  ir::Builder b_;
  ir::Graph found_;

 private:
  /// Every row of a mask of bools sees a key: what a row without one computes is not kept.
  static double value_at(DType dtype, int64_t i, ValueId input) {
    if (!is_float(dtype)) return i % 5 != 3;
    return std::sin(static_cast<double>(i) * 1.7 + input.index);
  }
  std::vector<reference::Tensor> evaluate(const ir::Graph& graph) {
    const ir::Graph bound = ir::bind(graph, {{"batch", 2}});
    std::vector<reference::Tensor> inputs;
    for (const ir::Input& in : bound.entry().inputs) {
      const TensorType& type = bound.entry().type_of(in.value);
      std::vector<double> values;
      for (int64_t i = 0; i < type.elements(); ++i) {
        values.push_back(value_at(type.dtype, i, seeds_.at(in.name)));
      }
      inputs.push_back(reference::make_tensor(type, values));
    }
    return reference::evaluate(bound, inputs);
  }
  void check_equal_values() {
    for (const ir::Input& in : graph_.entry().inputs) seeds_[in.name] = in.value;
    const auto expected = evaluate(graph_);
    const auto actual = evaluate(found_);
    ASSERT_EQ(actual[0].floats.size(), expected[0].floats.size());
    for (size_t i = 0; i < expected[0].floats.size(); ++i) {
      EXPECT_NEAR(actual[0].floats[i], expected[0].floats[i], 1e-5);
    }
  }

  std::map<std::string, ValueId> seeds_;
};

TEST_F(Recognize, layer_norm_spelled_out) {
  const ValueId x = input("x", {2, 3, 4}), scale = input("s", {4}), bias = input("b", {4});
  const ValueId centered = b_.subtract(x, mean(x));
  const ValueId normal = b_.divide(centered, root(b_.multiply(centered, centered)));
  EXPECT_EQ(count(OpKind::LayerNorm, b_.add(b_.multiply(scale, normal), bias)), 1);
  EXPECT_EQ(ops(), 1u);
  EXPECT_FLOAT_EQ(
      static_cast<float>(only(OpKind::LayerNorm).attrs.get<double>(ir::AttrKey::Epsilon)), 1e-5F);
}

TEST_F(Recognize, layer_norm_without_bias) {
  const ValueId x = input("x", {2, 4}), scale = input("s", {4});
  const ValueId centered = b_.subtract(x, mean(x));
  const ValueId inverse =
      b_.unary(ElementFn::Rsqrt, b_.add(mean(b_.multiply(centered, centered)), 1e-5));
  EXPECT_EQ(count(OpKind::LayerNorm, b_.multiply(b_.multiply(centered, inverse), scale)), 1);
}

TEST_F(Recognize, rms_norm_by_reciprocal_and_by_division) {
  const ValueId x = input("x", {2, 3, 4}), scale = input("s", {4});
  const ValueId one = b_.constant(1, {DType::F32, {2, 3, 1}});
  const ValueId a = b_.multiply(scale, b_.multiply(x, b_.divide(one, root(b_.multiply(x, x)))));
  const ValueId two = b_.constant(2, {DType::F32, {2, 3, 4}});
  const ValueId power = b_.binary(ElementFn::Power, a, two);
  const ValueId reciprocal = b_.unary(ElementFn::Reciprocal, root(power));
  EXPECT_EQ(count(OpKind::RmsNorm, b_.multiply(b_.multiply(a, reciprocal), scale)), 2);
  EXPECT_EQ(ops(), 2u);
}

TEST_F(Recognize, a_norm_in_f32_of_f16_is_one_op_in_f16) {
  const ValueId x = input("x", {2, 4}, DType::F16), scale = input("s", {4}, DType::F16);
  const ValueId wide = b_.convert(x, DType::F32);
  const ValueId normal = b_.divide(wide, root(b_.multiply(wide, wide)));
  EXPECT_EQ(count(OpKind::RmsNorm, b_.multiply(b_.convert(normal, DType::F16), scale)), 1);
  EXPECT_EQ(ops(), 1u);
}

TEST_F(Recognize, a_norm_of_another_value_stays) {
  const ValueId x = input("x", {2, 4}), z = input("z", {2, 4}), scale = input("s", {4});
  EXPECT_EQ(count(OpKind::RmsNorm, b_.multiply(b_.divide(z, root(b_.multiply(x, x))), scale)), 0);
}

TEST_F(Recognize, a_mean_by_another_count_is_no_mean) {
  const ValueId x = input("x", {2, 4}), scale = input("s", {4});
  const ValueId sum = b_.reduce_sum(b_.multiply(x, x), {1});
  const ValueId square = b_.reshape(b_.multiply(sum, 0.2), {2, 1});
  const ValueId r = b_.unary(ElementFn::Sqrt, b_.add(square, 1e-5));
  EXPECT_EQ(count(OpKind::RmsNorm, b_.multiply(b_.divide(x, r), scale)), 0);
}

TEST_F(Recognize, gelu_with_its_half_in_any_place) {
  const ValueId x = input("x", {2, 4});
  const auto gate = [&](ValueId v) {
    return b_.add(b_.unary(ElementFn::Erf, b_.divide(v, b_.scalar(std::sqrt(2.0), DType::F32))),
                  1.0);
  };
  const ValueId a = b_.multiply(b_.multiply(x, gate(x)), 0.5);
  const ValueId b = b_.multiply(a, b_.multiply(gate(a), 0.5));
  const ValueId c = b_.multiply(gate(b), b_.multiply(b, 0.5));
  EXPECT_EQ(count(OpKind::Gelu, c), 3);
  EXPECT_EQ(ops(), 3u);
}

TEST_F(Recognize, gelu_by_tanh_in_two_forms) {
  const ValueId x = input("x", {2, 4});
  const double slope = std::sqrt(2 / M_PI);
  const ValueId three = b_.scalar(3, DType::F32);
  const ValueId cube = b_.binary(ElementFn::Power, x, three);
  const ValueId t =
      b_.unary(ElementFn::Tanh, b_.multiply(b_.add(x, b_.multiply(cube, 0.044715)), slope));
  const ValueId a = b_.multiply(b_.multiply(x, 0.5), b_.add(t, 1.0));
  const ValueId bent = b_.add(b_.multiply(b_.multiply(a, a), 0.044715), 1.0);
  const ValueId u = b_.unary(ElementFn::Tanh, b_.multiply(b_.multiply(a, bent), slope));
  EXPECT_EQ(count(OpKind::Gelu, b_.multiply(b_.multiply(a, b_.add(u, 1.0)), 0.5)), 2);
  EXPECT_EQ(only(OpKind::Gelu).attrs.get<std::string>(ir::AttrKey::Approximate), "tanh");
}

TEST_F(Recognize, a_gate_with_another_slope_is_no_gelu) {
  const ValueId x = input("x", {2, 4});
  const ValueId gate = b_.add(b_.unary(ElementFn::Erf, b_.multiply(x, 0.9)), 1.0);
  EXPECT_EQ(count(OpKind::Gelu, b_.multiply(b_.multiply(x, gate), 0.5)), 0);
}

class RecognizeAttention : public Recognize {
 protected:
  const Dim batch_ = Dim::symbol("batch");

  ValueId scores(ValueId q, ValueId k, double scale) {
    const ValueId keys = b_.transpose(k, {0, 1, 3, 2});
    return b_.multiply(b_.dot_general(q, keys, {{3}, {2}}, {{0, 1}, {0, 1}}), scale);
  }
  ValueId finish(ValueId s, ValueId v) {
    return b_.dot_general(b_.softmax(s), v, {{3}, {2}}, {{0, 1}, {0, 1}});
  }
  ValueId lower(int64_t s, int64_t t) {
    const TensorType square{DType::I64, {s, t}};
    const ValueId last = b_.add(b_.iota(square, 0), static_cast<double>(t - s));
    return b_.binary(ElementFn::LessEqual, b_.iota(square, 1), last);
  }
  bool is_causal() const { return only(OpKind::Attention).attrs.get<bool>(ir::AttrKey::Causal); }
  double scale() const { return only(OpKind::Attention).attrs.get<double>(ir::AttrKey::Scale); }
  std::string bias() const {
    const ir::Op& op = only(OpKind::Attention);
    return op.operands.size() < 4 ? "" : found_.entry().type_of(op.operands[3]).text();
  }
};

TEST_F(RecognizeAttention, with_the_scale_on_both_sides) {
  const ValueId q = input("q", {batch_, 3, 5, 4}), k = input("k", {batch_, 3, 6, 4});
  const ValueId v = input("v", {batch_, 3, 6, 2});
  const ValueId keys = b_.multiply(b_.transpose(k, {0, 1, 3, 2}), 0.5);
  const ValueId s = b_.dot_general(b_.multiply(q, 0.25), keys, {{3}, {2}}, {{0, 1}, {0, 1}});
  EXPECT_EQ(count(OpKind::Attention, finish(s, v)), 1);
  EXPECT_DOUBLE_EQ(scale(), 0.125);
  EXPECT_FALSE(is_causal());
  EXPECT_EQ(ops(), 1u);  // no transpose is left
}

TEST_F(RecognizeAttention, with_a_causal_mask_and_one_of_padding) {
  const ValueId q = input("q", {batch_, 3, 5, 4}), k = input("k", {batch_, 3, 5, 4});
  const ValueId v = input("v", {batch_, 3, 5, 4});
  const ValueId padding = b_.reshape(input("p", {batch_, 5}), {batch_, 1, 1, 5});
  const ValueId zero = b_.scalar(0, DType::F32), least = b_.scalar(-3e38, DType::F32);
  const ValueId causal = b_.select(lower(5, 5), zero, least);
  const ValueId mask = b_.add(b_.broadcast_to(causal, {batch_, 1, 5, 5}), padding);
  EXPECT_EQ(count(OpKind::Attention, finish(b_.add(scores(q, k, 0.5), mask), v)), 1);
  EXPECT_TRUE(is_causal());
  EXPECT_EQ(bias(), "f32[batch,1,1,5]");
}

TEST_F(RecognizeAttention, with_hidden_scores_replaced) {
  const ValueId q = input("q", {batch_, 1, 5, 4}), k = input("k", {batch_, 1, 7, 4});
  const ValueId v = input("v", {batch_, 1, 7, 4});
  const ValueId s = b_.select(b_.broadcast_to(lower(5, 7), {batch_, 1, 5, 7}), scores(q, k, 0.5),
                              b_.scalar(-HUGE_VAL, DType::F32));
  EXPECT_EQ(count(OpKind::Attention, finish(s, v)), 1);
  EXPECT_TRUE(is_causal());
  EXPECT_EQ(bias(), "");
}

TEST_F(RecognizeAttention, with_bools_of_which_one_is_causal) {
  const ValueId q = input("q", {batch_, 2, 5, 4}), k = input("k", {batch_, 2, 5, 4});
  const ValueId v = input("v", {batch_, 2, 5, 4});
  const ValueId padding = b_.reshape(input("p", {batch_, 5}, DType::Bool), {batch_, 1, 1, 5});
  const ValueId seen = b_.binary(ElementFn::And, b_.broadcast_to(lower(5, 5), {batch_, 1, 5, 5}),
                                 b_.broadcast_to(padding, {batch_, 1, 5, 5}));
  const ValueId mask = b_.select(seen, b_.scalar(0, DType::F32), b_.scalar(-1e9, DType::F32));
  EXPECT_EQ(count(OpKind::Attention, finish(b_.add(scores(q, k, 0.5), mask), v)), 1);
  EXPECT_TRUE(is_causal());
  EXPECT_EQ(bias(), "f32[batch,1,1,5]");
}

TEST_F(RecognizeAttention, with_bools_that_say_the_same_of_all_keys) {
  const ValueId q = input("q", {batch_, 2, 5, 4}), k = input("k", {batch_, 2, 6, 4});
  const ValueId v = input("v", {batch_, 2, 6, 4});
  // True, so that no row is left without a key.
  const ValueId a = input("a", {batch_, 1, 5, 1}), b = input("b", {batch_, 1, 5, 1});
  const ValueId one = b_.binary(ElementFn::Equal, a, a);
  const ValueId other = b_.binary(ElementFn::LessEqual, b, b);
  const ValueId seen =
      b_.broadcast_in_dim(b_.binary(ElementFn::And, one, other), {batch_, 2, 5, 6}, {0, 1, 2, 3});
  const ValueId s = b_.select(seen, scores(q, k, 0.5), b_.scalar(-1e9, DType::F32));
  EXPECT_EQ(count(OpKind::Attention, finish(s, v)), 1);
  EXPECT_EQ(bias(), "f32[batch,1,5,6]");
}

TEST_F(RecognizeAttention, of_keys_that_are_repeated_for_groups_of_queries) {
  const ValueId q = input("q", {batch_, 4, 5, 4});
  const auto repeated = [&](const char* name) {
    const ValueId x = b_.reshape(input(name, {batch_, 2, 5, 4}), {batch_, 2, 1, 5, 4});
    return b_.reshape(b_.broadcast_to(x, {batch_, 2, 2, 5, 4}), {batch_, 4, 5, 4});
  };
  const ValueId k = repeated("k");
  EXPECT_EQ(count(OpKind::Attention, finish(scores(q, k, 0.5), repeated("v"))), 1);
  EXPECT_EQ(ops(), 1u);
  EXPECT_EQ(found_.entry().type_of(only(OpKind::Attention).operands[1]).text(), "f32[batch,2,5,4]");
}

TEST_F(RecognizeAttention, in_three_dimensions) {
  const ValueId q = input("q", {6, 5, 4}), k = input("k", {6, 5, 4}), v = input("v", {6, 5, 4});
  const ValueId s = b_.dot_general(q, k, {{2}, {2}}, {{0}, {0}});
  const ValueId y = b_.dot_general(b_.softmax(b_.multiply(s, 0.5)), v, {{2}, {1}}, {{0}, {0}});
  EXPECT_EQ(count(OpKind::Attention, y), 1);
}

TEST_F(RecognizeAttention, whose_rows_without_a_key_are_cleaned) {
  const ValueId q = input("q", {batch_, 2, 5, 4}), k = input("k", {batch_, 2, 5, 4});
  const ValueId v = input("v", {batch_, 2, 5, 4});
  const ValueId p = b_.softmax(scores(q, k, 0.5));
  const ValueId clean = b_.select(b_.unary(ElementFn::IsNan, p), b_.scalar(0, DType::F32), p);
  const ValueId y = b_.dot_general(clean, v, {{3}, {2}}, {{0, 1}, {0, 1}});
  EXPECT_EQ(count(OpKind::Attention, y), 1);
}

TEST_F(RecognizeAttention, not_with_a_mask_that_is_scaled_too) {
  const ValueId q = input("q", {batch_, 2, 5, 4}), k = input("k", {batch_, 2, 5, 4});
  const ValueId v = input("v", {batch_, 2, 5, 4}), mask = input("m", {5, 5});
  const ValueId s = b_.multiply(b_.add(scores(q, k, 1), mask), 0.5);
  EXPECT_EQ(count(OpKind::Attention, finish(s, v)), 0);
}

TEST_F(Recognize, rotary_embedding_turns_halves) {
  const ValueId x = input("x", {2, 3, 5, 4});
  const ValueId angles = input("a", {1, 5, 2});
  const ValueId both = b_.concatenate({angles, angles}, 2);
  const auto table = [&](ElementFn fn) {
    return b_.broadcast_to(b_.reshape(b_.unary(fn, both), {1, 1, 5, 4}), {2, 3, 5, 4});
  };
  const ValueId low = b_.slice(x, {0, 0, 0, 0}, {-1, -1, -1, 2});
  const ValueId high = b_.slice(x, {0, 0, 0, 2}, {-1, -1, -1, 4});
  const ValueId turned = b_.concatenate({b_.unary(ElementFn::Negate, high), low}, 3);
  const ValueId y =
      b_.add(b_.multiply(x, table(ElementFn::Cos)), b_.multiply(turned, table(ElementFn::Sin)));
  EXPECT_EQ(count(OpKind::Concatenate, y), 1);
  EXPECT_EQ(found_.entry().type_of(only(OpKind::Elementwise).results[0]).text(), "f32[1,5,2]");
}

TEST_F(Recognize, a_transposed_weight_is_contracted_over_its_other_dimension) {
  const ValueId x = input("x", {3, 4}), w = input("w", {5, 4});
  EXPECT_EQ(count(OpKind::Transpose, b_.matmul(x, b_.transpose(w, {1, 0}))), 0);
  EXPECT_EQ(ops(), 1u);
}

TEST_F(Recognize, rows_joined_for_a_product_are_joined_no_more) {
  const Dim batch = Dim::symbol("batch");
  const ValueId x = input("x", {batch, 5, 4}), w = input("w", {4, 3}), bias = input("b", {3});
  const ValueId flat = b_.reshape(x, {Dim(5) * batch, 4});
  const ValueId y = b_.add(b_.matmul(flat, w), bias);
  EXPECT_EQ(count(OpKind::Reshape, b_.reshape(y, {batch, 5, 3})), 0);
}

TEST_F(Recognize, element_wise_ops_work_before_they_are_broadcast) {
  const ValueId mask = input("m", {2, 6}, DType::I64);
  const ValueId wide = b_.broadcast_to(b_.reshape(mask, {2, 1, 1, 6}), {2, 1, 6, 6});
  const ValueId bias = b_.multiply(b_.add(b_.convert(wide, DType::F32), -1.0), 1e4);
  EXPECT_EQ(count(OpKind::BroadcastInDim, bias), 3);  // of two numbers and the result
  for (const ir::Op& op : found_.entry().ops) {
    if (op.kind != OpKind::Elementwise) continue;
    EXPECT_EQ(found_.entry().type_of(op.results[0]).text(), "f32[2,1,1,6]");
  }
}

TEST_F(Recognize, losses_and_softmax_widen_by_themselves) {
  const ValueId x = input("x", {2, 4}, DType::F16);
  const ValueId p = b_.convert(b_.softmax(b_.convert(x, DType::F32)), DType::F16);
  EXPECT_EQ(count(OpKind::Convert, p), 0);
}

TEST_F(Recognize, what_nothing_uses_is_dropped) {
  const ValueId x = input("x", {2}), w = b_.parameter("w", {DType::F32, {2}});
  b_.add(x, w);
  EXPECT_EQ(count(OpKind::Elementwise, b_.unary(ElementFn::Abs, x)), 1);
  EXPECT_EQ(found_.entry().inputs.size(), 1u);
}

}  // namespace
}  // namespace wafer::importers
