#include "wafer/ir/cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/op_samples.h"
#include "wafer/base/error.h"
#include "wafer/ir/decompose.h"

namespace wafer::ir {
namespace {

/// Cost of main with one op on inputs of these types.
Cost cost(OpKind kind, const std::vector<std::string>& operands, const Attributes& attrs = {},
          const std::vector<std::string>& declared = {}) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  std::vector<ValueId> values;
  for (const std::string& text : operands) {
    values.push_back(b.input("x" + std::to_string(values.size()), TensorType::parse(text).value()));
  }
  std::vector<TensorType> results;
  for (const std::string& text : declared) results.push_back(TensorType::parse(text).value());
  b.emit(kind, values, attrs, results);
  return cost_of(graph, graph.main);
}

double product(const Cost& c) { return c.product.value; }
double elementwise(const Cost& c) { return c.elementwise.value; }

TEST(Cost, element_functions_are_one_an_element) {  // FLOP1
  const Attributes exp{{AttrKey::Fn, ElementFn::Exp}};
  EXPECT_EQ(elementwise(cost(OpKind::Elementwise, {"f32[3,4]"}, exp)), 12);
  const Attributes less{{AttrKey::Fn, ElementFn::Less}};
  EXPECT_EQ(elementwise(cost(OpKind::Elementwise, {"f32[3,4]", "f32[3,4]"}, less)), 12);
  const Attributes add{{AttrKey::Fn, ElementFn::Add}};
  EXPECT_EQ(elementwise(cost(OpKind::Elementwise, {"i32[3,4]", "i32[3,4]"}, add)), 0);
  EXPECT_EQ(elementwise(cost(OpKind::Convert, {"f32[3,4]"}, {}, {"f16[3,4]"})), 0);
}

TEST(Cost, dot_general_is_two_a_batch_m_n_k) {  // FLOP2
  const Attributes attrs{{AttrKey::Contract, DimPairs{{2}, {1}}},
                         {AttrKey::Batch, DimPairs{{0}, {0}}}};
  const Cost c = cost(OpKind::DotGeneral, {"f16[8,128,64]", "f16[8,64,32]"}, attrs);
  EXPECT_EQ(product(c), 2.0 * 8 * 128 * 32 * 64);
  EXPECT_EQ(elementwise(c), 0);
}

TEST(Cost, counts_past_63_bits) {  // FLOP2: 2 * 2^24 * 2^24 * 2^24 = 2^73
  const Attributes attrs{{AttrKey::Contract, DimPairs{{1}, {0}}}};
  const std::string square = "f16[16777216,16777216]";
  EXPECT_EQ(product(cost(OpKind::DotGeneral, {square, square}, attrs)), std::ldexp(1.0, 73));
}

TEST(Cost, convolution_is_two_a_result_and_kernel_element) {  // FLOP3
  // The stem of ResNet-50: 112 * 112 * 64 results, each of 7 * 7 * 3 products: 118,013,952
  // multiply-adds an image (table 1 of He et al., arXiv:1512.03385, gives the layer's sizes).
  const Attributes stem{{AttrKey::Strides, Ints{2, 2}},
                        {AttrKey::PaddingLow, Ints{3, 3}},
                        {AttrKey::PaddingHigh, Ints{3, 3}}};
  EXPECT_EQ(product(cost(OpKind::Convolution, {"f32[1,3,224,224]", "f32[64,3,7,7]"}, stem)),
            2.0 * 118013952);
  // Depth-wise: one input feature a group.
  const Attributes depthwise{{AttrKey::FeatureGroups, int64_t{32}}};
  EXPECT_EQ(product(cost(OpKind::Convolution, {"f32[1,32,10,10]", "f32[32,1,3,3]"}, depthwise)),
            2.0 * 8 * 8 * 32 * 9);
}

TEST(Cost, holes_of_a_dilated_input_are_no_work) {  // FLOP3
  // The gradient of a 2 x 2 convolution of stride 2 from 8 x 8 to 4 x 4 has as many products as it.
  const Attributes forward{{AttrKey::Strides, Ints{2, 2}}};
  const Attributes gradient{{AttrKey::LhsDilation, Ints{2, 2}},
                            {AttrKey::PaddingLow, Ints{1, 1}},
                            {AttrKey::PaddingHigh, Ints{1, 1}}};
  EXPECT_EQ(product(cost(OpKind::Convolution, {"f32[1,5,4,4]", "f32[3,5,2,2]"}, gradient)),
            product(cost(OpKind::Convolution, {"f32[1,3,8,8]", "f32[5,3,2,2]"}, forward)));
}

TEST(Cost, attention_is_dense_also_when_causal) {  // FLOP4
  const std::string q = "f16[2,6,16,8]";
  for (bool causal : {false, true}) {
    const Attributes attrs{{AttrKey::Scale, 1.0}, {AttrKey::Causal, causal}};
    EXPECT_EQ(product(cost(OpKind::Attention, {q, q, q}, attrs)), 4.0 * 2 * 6 * 16 * 16 * 8);
    EXPECT_EQ(product(cost(OpKind::AttentionGrad, {q, q, q, q}, attrs)), 8.0 * 2 * 6 * 16 * 16 * 8);
  }
  const Attributes attrs{{AttrKey::Scale, 1.0}};
  // Grouped heads: every query head has scores of its own.
  EXPECT_EQ(product(cost(OpKind::Attention, {q, "f16[2,2,20,8]", "f16[2,2,20,4]"}, attrs)),
            2.0 * 2 * 6 * 16 * 20 * (8 + 4));
}

TEST(Cost, reductions_combine_one_less_than_they_read) {  // FLOP6
  const Attributes sum{{AttrKey::Dims, Ints{1}}, {AttrKey::Fn, ElementFn::Add}};
  EXPECT_EQ(elementwise(cost(OpKind::Reduce, {"f32[3,10]", "f32[]"}, sum)), 3 * 9);
  const Attributes arg{{AttrKey::Dim, int64_t{1}}, {AttrKey::Fn, ElementFn::Maximum}};
  EXPECT_EQ(elementwise(cost(OpKind::ArgReduce, {"f32[3,10]"}, arg, {"i32[3]"})), 3 * 9);
  Attributes window{{AttrKey::Window, Ints{1, 2}},
                    {AttrKey::Strides, Ints{1, 2}},
                    {AttrKey::PaddingLow, Ints{0, 0}},
                    {AttrKey::PaddingHigh, Ints{0, 0}}};
  EXPECT_EQ(elementwise(cost(OpKind::SelectAndScatter, {"f32[3,10]", "f32[3,5]", "f32[]"}, window)),
            3 * 5 * 2);
  window.set(AttrKey::Fn, ElementFn::Maximum);
  EXPECT_EQ(elementwise(cost(OpKind::ReduceWindow, {"f32[3,10]", "f32[]"}, window)), 3 * 5 * 1);
  const Attributes running{{AttrKey::Dim, int64_t{1}}, {AttrKey::Fn, ElementFn::Add}};
  EXPECT_EQ(elementwise(cost(OpKind::Cumulative, {"f32[3,10]"}, running)), 30);
  EXPECT_EQ(elementwise(cost(OpKind::Sort, {"f32[3,10]"}, {{AttrKey::Dim, int64_t{1}}})), 30 * 4);
}

TEST(Cost, scatter_adds_one_an_update) {  // FLOP7
  const Attributes replace{{AttrKey::OffsetDims, Ints{1}},
                           {AttrKey::CollapsedDims, Ints{0}},
                           {AttrKey::StartIndexMap, Ints{0}},
                           {AttrKey::IndexVectorDim, int64_t{1}}};
  Attributes add = replace;
  add.set(AttrKey::Fn, ElementFn::Add);
  const std::vector<std::string> operands = {"f32[100,4]", "i32[3]", "f32[3,4]"};
  EXPECT_EQ(elementwise(cost(OpKind::Scatter, operands, add)), 12);
  EXPECT_EQ(elementwise(cost(OpKind::Scatter, operands, replace)), 0);
}

TEST(Cost, collectives_that_reduce_count_one_an_element) {  // FLOP8
  const Attributes attrs{{AttrKey::Fn, ElementFn::Add}, {AttrKey::Group, std::string("data")}};
  EXPECT_EQ(elementwise(cost(OpKind::AllReduce, {"f32[3]", "f16[4]", "i32[5]"}, attrs)), 7);
}

TEST(Cost, bytes_are_operands_once_and_results) {  // BYTE1
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId x = b.input("x", {DType::F32, {10}});
  b.multiply(x, x);
  EXPECT_EQ(cost_of(graph, graph.main).read, Bytes(40));
  EXPECT_EQ(cost_of(graph, graph.main).written, Bytes(40));
  const Attributes attrs{{AttrKey::Contract, DimPairs{{1}, {0}}}};
  const Cost c = cost(OpKind::DotGeneral, {"f16[4,8]", "f16[8,2]"}, attrs, {"f32[4,2]"});
  EXPECT_EQ(c.read, Bytes(2 * (32 + 16)));
  EXPECT_EQ(c.written, Bytes(4 * 8));
}

TEST(Cost, constants_and_reshapes_move_nothing) {  // BYTE2
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  b.reshape(b.constant(1, {DType::F32, {10}}), {2, 5});
  EXPECT_EQ(cost_of(graph, graph.main).read, Bytes(0));
  EXPECT_EQ(cost_of(graph, graph.main).written, Bytes(0));
}

TEST(Cost, slices_and_gathers_read_what_they_take) {  // BYTE3
  const Attributes rows{{AttrKey::OffsetDims, Ints{1}},
                        {AttrKey::CollapsedDims, Ints{0}},
                        {AttrKey::StartIndexMap, Ints{0}},
                        {AttrKey::IndexVectorDim, int64_t{1}},
                        {AttrKey::Sizes, Ints{1, 8}}};
  const Cost gather = cost(OpKind::Gather, {"f16[50257,8]", "i32[3]"}, rows);
  EXPECT_EQ(gather.read, Bytes(3 * 8 * 2 + 3 * 4));
  EXPECT_EQ(gather.written, Bytes(3 * 8 * 2));
  const Attributes part{
      {AttrKey::Starts, Ints{0}}, {AttrKey::Limits, Ints{10}}, {AttrKey::Strides, Ints{1}}};
  EXPECT_EQ(cost(OpKind::Slice, {"f16[1000]"}, part).read, Bytes(20));
  EXPECT_EQ(cost(OpKind::DynamicSlice, {"f16[1000]", "i32[]"}, {{AttrKey::Sizes, Ints{10}}}).read,
            Bytes(24));
}

TEST(Cost, updates_are_made_in_place) {  // BYTE4
  const Cost update = cost(OpKind::DynamicUpdateSlice, {"f16[1000]", "f16[10]", "i32[]"});
  EXPECT_EQ(update.read, Bytes(24));
  EXPECT_EQ(update.written, Bytes(20));
  const Attributes add{{AttrKey::OffsetDims, Ints{1}},
                       {AttrKey::CollapsedDims, Ints{0}},
                       {AttrKey::StartIndexMap, Ints{0}},
                       {AttrKey::IndexVectorDim, int64_t{1}},
                       {AttrKey::Fn, ElementFn::Add}};
  const Cost scatter = cost(OpKind::Scatter, {"f32[100,4]", "i32[3]", "f32[3,4]"}, add);
  EXPECT_EQ(scatter.read, Bytes(2 * 48 + 12));
  EXPECT_EQ(scatter.written, Bytes(48));
}

/// f32[2] -> f32[2], with this many additions.
FunctionId additions(Graph& graph, const std::string& name, int n) {
  const FunctionId id = graph.add_function(name);
  Builder b(graph, id);
  ValueId x = b.input("x", {DType::F32, {2}});
  for (int i = 0; i < n; ++i) x = b.add(x, x);
  b.output("y", x);
  return id;
}

TEST(Cost, a_call_costs_its_function) {  // SUB1
  Graph graph;
  const FunctionId layer = additions(graph, "layer", 3);
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  ValueId x = b.input("x", {DType::F32, {2}});
  for (int i = 0; i < 5; ++i) x = b.call(layer, {x})[0];
  const Cost whole = cost_of(graph, graph.main);
  EXPECT_EQ(elementwise(whole), 5 * 3 * 2);
  EXPECT_EQ(whole.read, Bytes(5 * 3 * 8));
  EXPECT_EQ(elementwise(cost_of(graph, graph.entry(), graph.entry().ops[0])), 3 * 2);
}

TEST(Cost, a_while_costs_one_round) {  // SUB2
  Graph graph;
  const SampleFunctions f = add_sample_functions(graph);
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId i = b.input("i", {DType::I32, {}});
  const ValueId x = b.input("x", {DType::F32, {2}});
  b.emit(OpKind::While, {i, x}, {{AttrKey::Condition, f.below_ten}, {AttrKey::Body, f.step}});
  EXPECT_EQ(elementwise(cost_of(graph, graph.main)), 2);  // the body adds f32[2] once
}

TEST(Cost, a_conditional_costs_its_costliest_branch) {  // SUB3
  Graph graph;
  const FunctionId small = additions(graph, "small", 1);
  const FunctionId large = additions(graph, "large", 4);
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId p = b.input("p", {DType::Bool, {}});
  const ValueId x = b.input("x", {DType::F32, {2}});
  b.emit(OpKind::Conditional, {p, x}, {{AttrKey::Branches, std::vector<FunctionId>{small, large}}});
  EXPECT_EQ(elementwise(cost_of(graph, graph.main)), 8);
}

TEST(Cost, a_reducer_body_runs_once_less_than_it_reads) {  // FLOP6
  Graph graph;
  const SampleFunctions f = add_sample_functions(graph);
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId x = b.input("x", {DType::F32, {3, 10}});
  b.emit(OpKind::Reduce, {x, b.scalar(0, DType::F32)},
         {{AttrKey::Dims, Ints{1}}, {AttrKey::Body, f.add}});
  EXPECT_EQ(elementwise(cost_of(graph, graph.main)), 3 * 9);
}

TEST(Cost, wants_bound_dimensions) {
  EXPECT_THROW(cost(OpKind::Softmax, {"f32[batch,4]"}), InputError);
}

TEST(Cost, of_every_sample_is_finite_once_bound) {
  const Graph bound = bind(graph_of_samples(), {{"batch", 3}, {"seq", 5}, {"past", 7}});
  const Cost c = cost_of(bound, bound.main);
  EXPECT_TRUE(std::isfinite(c.total().value) && std::isfinite((c.read + c.written).value));
  EXPECT_GT(c.total().value, 0);
}

/// A composite against its decomposition. Rows are long, so that work on one value a row is little.
void expect_near_decomposition(OpKind kind, const std::vector<std::string>& operands,
                               const Attributes& attrs, double products = 1) {
  SCOPED_TRACE(name_of(kind));
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  std::vector<ValueId> values;
  for (const std::string& text : operands) {
    values.push_back(b.input("x" + std::to_string(values.size()), TensorType::parse(text).value()));
  }
  b.emit(kind, values, attrs);
  const Cost whole = cost_of(graph, graph.main);
  const Graph primitives = decompose_all(graph);
  const Cost parts = cost_of(primitives, primitives.main);
  EXPECT_EQ(product(parts), product(whole) * products);
  EXPECT_NEAR(elementwise(parts) / elementwise(whole), 1, 0.01);
}

TEST(Cost, of_composites_is_that_of_their_decomposition) {  // FLOP4, FLOP5
  const std::string x = "f32[400,1000]";
  const std::string row = "f32[1000]";
  const std::string image = "f32[10,4,50,50]";
  const Attributes epsilon{{AttrKey::Epsilon, 1e-5}};
  const Attributes channel{{AttrKey::Epsilon, 1e-5}, {AttrKey::Dim, int64_t{1}}};
  const Attributes tanh{{AttrKey::Approximate, std::string("tanh")}};
  expect_near_decomposition(OpKind::LayerNorm, {x, row, row}, epsilon);
  expect_near_decomposition(OpKind::LayerNormGrad, {x, row, x}, epsilon);
  expect_near_decomposition(OpKind::RmsNorm, {x, row}, epsilon);
  expect_near_decomposition(OpKind::RmsNormGrad, {x, row, x}, epsilon);
  expect_near_decomposition(OpKind::BatchNorm, {image, "f32[4]", "f32[4]"}, channel);
  expect_near_decomposition(OpKind::BatchNormGrad, {image, "f32[4]", image}, channel);
  expect_near_decomposition(OpKind::Softmax, {x}, {});
  expect_near_decomposition(OpKind::SoftmaxGrad, {x, x}, {});
  expect_near_decomposition(OpKind::Gelu, {x}, {});
  expect_near_decomposition(OpKind::Gelu, {x}, tanh);
  expect_near_decomposition(OpKind::GeluGrad, {x, x}, {});
  expect_near_decomposition(OpKind::GeluGrad, {x, x}, tanh);
  expect_near_decomposition(OpKind::CrossEntropy, {x, "i32[400]"}, {});
  expect_near_decomposition(OpKind::CrossEntropyGrad, {x, "i32[400]", "f32[400]"}, {});
  const Attributes causal{{AttrKey::Scale, 0.1}, {AttrKey::Causal, true}};
  const Attributes plain{{AttrKey::Scale, 0.1}};
  const std::string q = "f32[2,4,300,8]";
  const std::string k = "f32[2,2,300,8]";
  expect_near_decomposition(OpKind::Attention, {q, k, k}, plain);
  expect_near_decomposition(OpKind::Attention, {q, k, k, "f32[1,4,300,300]"}, causal);
  // The decomposition of the gradient computes the scores again: five products instead of four.
  expect_near_decomposition(OpKind::AttentionGrad, {q, k, k, q}, plain, 1.25);
  expect_near_decomposition(OpKind::AttentionGrad, {q, k, k, "f32[1,4,300,300]", q}, causal, 1.25);
}

}  // namespace
}  // namespace wafer::ir
