// Meaning of each op. Expected values are those of onnx.reference.ReferenceEvaluator (onnx 1.23)
// for the node in the test, unless a comment says otherwise; A(shape) is numpy's arange reshaped.
#include "wafer/importers/onnx_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/onnx_run.h"

namespace wafer::importers {
namespace {

using ir::Ints;
using ir::Literal;

int64_t count(const Shape& shape) { return element_count(shape).value(); }

/// 0, 1, .. divided by k.
Literal A(const Shape& shape, double k = 1) {
  Values values;
  for (int64_t i = 0; i < count(shape); ++i) values.push_back(static_cast<double>(i) / k);
  return floats_of(shape, values);
}
Literal vec(Values values) {
  const auto size = static_cast<int64_t>(values.size());
  return floats_of({size}, std::move(values));
}
Literal ivec(Ints values) {
  const auto size = static_cast<int64_t>(values.size());
  return ints_of({size}, std::move(values));
}

struct Result {
  Shape shape;
  Values values;
};

struct Case {
  const char* op;
  std::vector<Literal> data;                            ///< given as inputs of the graph
  std::vector<std::pair<size_t, Literal>> stored = {};  ///< by place: in the file
  OnnxAttrs attrs = {};
  int64_t opset = 18;
  size_t outputs = 1;
  std::string_view domain = "";
};

/// The outputs of a graph of this one node.
std::vector<Result> run(const Case& c) {
  TestModel model(c.opset);
  if (!c.domain.empty()) model.opset_import(c.domain, 1);
  std::map<std::string, Values> given;
  std::vector<std::string> names, outputs;
  for (const Literal& literal : c.data) {
    const std::string name = "x" + std::to_string(names.size());
    std::vector<std::string> dims;
    for (const Dim& d : literal.type.shape) dims.push_back(d.text());
    model.input(name, dims, literal.type.dtype);
    given[name] = literal.floats;
    if (!is_float(literal.type.dtype)) {
      given[name].assign(literal.integers.begin(), literal.integers.end());
    }
    names.push_back(name);
  }
  for (const auto& [place, literal] : c.stored) {
    const std::string name = "s" + std::to_string(place);
    if (names.size() <= place) names.resize(place + 1);
    names[place] = name;
    model.tensor(name, literal);
    given[name] = literal.floats;  // parameters are inputs of the graph
  }
  for (size_t i = 0; i < c.outputs; ++i) outputs.push_back("y" + std::to_string(i));
  model.node(c.op, names, outputs, c.attrs, c.domain);
  for (const std::string& output : outputs) model.output(output);
  std::vector<Result> results;
  for (const auto& t : run_graph(import_onnx_bytes(model.bytes(), "m.onnx"), given)) {
    results.push_back({t.type.shape, values_of(t)});
  }
  return results;
}

void expect(const Case& c, const Shape& shape, const Values& values, double tolerance = 2e-5) {
  const Result result = run(c).front();
  EXPECT_EQ(result.shape, shape);
  expect_near(result.values, values, tolerance);
}

const Literal Some = vec({-2, -0.5, 0, 3});

TEST(OnnxOps, activations_are_those_of_the_specification) {
  const auto expect_of = [](const char* op, const OnnxAttrs& attrs, const Values& values) {
    SCOPED_TRACE(op);
    expect({.op = op, .data = {Some}, .attrs = attrs, .opset = 24}, {4}, values);
  };
  expect_of("HardSigmoid", {}, {0.1, 0.4, 0.5, 1});
  expect_of("HardSwish", {}, {-0.333333, -0.208333, 0, 3});
  expect_of("Elu", {{"alpha", 2.0F}}, {-1.72933, -0.786939, 0, 3});
  expect_of("Selu", {}, {-1.52017, -0.691758, 0, 3.1521});
  expect_of("Celu", {{"alpha", 2.0F}}, {-1.26424, -0.442398, 0, 3});
  expect_of("Softplus", {}, {0.126928, 0.474077, 0.693147, 3.04859});
  expect_of("Mish", {}, {-0.252501, -0.220744, 0, 2.98654});
  expect_of("LeakyRelu", {}, {-0.02, -0.005, 0, 3});
  expect_of("Gelu", {}, {-0.0455003, -0.154269, 0, 2.99595});
  expect_of("Gelu", {{"approximate", std::string("tanh")}}, {-0.0454023, -0.154286, 0, 2.99636});
  expect_of("Relu", {}, {0, 0, 0, 3});
  // By hand: x / (1 + exp(-x)).
  expect_of("Swish", {}, {-0.238406, -0.188770, 0, 2.857722});
}

TEST(OnnxOps, clip_takes_bounds_as_attributes_before_opset_11_and_as_inputs_since) {
  expect({.op = "Clip", .data = {Some}, .attrs = {{"min", -1.0F}}, .opset = 10}, {4},
         {-1, -0.5, 0, 3});
  expect({.op = "Clip", .data = {Some}, .stored = {{2, floats_of({}, {1})}}, .opset = 13}, {4},
         {-2, -0.5, 0, 1});
}

TEST(OnnxOps, softmax_before_opset_13_is_over_all_dimensions_from_the_axis_on) {
  // By hand, e.g. the first: 1 / (1 + e^0.25 + e^0.5 + e^0.75) = 1 / 6.049746.
  const Values row = {0.165296, 0.212245, 0.272527, 0.349932};
  Values twice = row;
  twice.insert(twice.end(), row.begin(), row.end());
  expect({.op = "Softmax", .data = {A({2, 2, 2}, 4)}, .opset = 11}, {2, 2, 2}, twice);
}

TEST(OnnxOps, softmax_since_opset_13_is_over_one_dimension) {
  expect({.op = "Softmax", .data = {A({2, 2, 2}, 4)}, .attrs = {{"axis", int64_t{1}}}, .opset = 13},
         {2, 2, 2},
         {0.377541, 0.377541, 0.622459, 0.622459, 0.377541, 0.377541, 0.622459, 0.622459});
  expect({.op = "LogSoftmax", .data = {A({2, 3}, 2)}, .opset = 13}, {2, 3},
         {-1.68027, -1.18027, -0.68027, -1.68027, -1.18027, -0.68027});
}

TEST(OnnxOps, gemm_scales_transposes_and_adds) {
  const OnnxAttrs attrs = {{"alpha", 0.5F}, {"beta", 2.0F}, {"transB", int64_t{1}}};
  expect(
      {.op = "Gemm", .data = {A({2, 3})}, .stored = {{1, A({2, 3})}, {2, A({2})}}, .attrs = attrs},
      {2, 2}, {2.5, 9, 7, 27});
  expect({.op = "Gemm", .data = {A({3, 2}), A({3, 2}), A({2})}, .attrs = {{"transA", int64_t{1}}}},
         {2, 2}, {20, 27, 26, 36});
}

TEST(OnnxOps, matmul_broadcasts_batches_and_takes_vectors) {
  expect({.op = "MatMul", .data = {A({2, 1, 2, 3}), A({3, 3, 2})}}, {2, 3, 2, 2},
         {10, 13, 28, 40, 28,  31,  100, 112, 46,  49,  172, 184,
          46, 67, 64, 94, 172, 193, 244, 274, 298, 319, 424, 454});
  expect({.op = "MatMul", .data = {A({3}), A({2, 3, 2})}}, {2, 2}, {10, 13, 28, 31});
}

TEST(OnnxOps, einsum_contracts_and_orders) {
  expect({.op = "Einsum",
          .data = {A({2, 2, 3}), A({2, 3, 2})},
          .attrs = {{"equation", std::string("bij, bjk -> bki")}}},
         {2, 2, 2}, {10, 28, 13, 40, 172, 244, 193, 274});
  expect({.op = "Einsum", .data = {A({2, 3})}, .attrs = {{"equation", std::string("ij->j")}}}, {3},
         {3, 5, 7});
  expect({.op = "Einsum",
          .data = {A({2, 3}), A({2, 3})},
          .attrs = {{"equation", std::string("...i,...i")}}},
         {2}, {5, 50});  // by hand: 0 + 1 + 4, 9 + 16 + 25
}

TEST(OnnxOps, conv_pads_strides_dilates_and_groups) {
  Literal kernel = A({2, 1, 3, 3});
  for (double& x : kernel.floats) x -= 4;
  expect({.op = "Conv",
          .data = {A({1, 1, 4, 4})},
          .stored = {{1, kernel}, {2, vec({1, -1})}},
          .attrs = {{"pads", Ints{1, 0, 1, 0}}, {"strides", Ints{2, 1}}}},
         {1, 2, 2, 2}, {50, 59, 79, 79, 210, 273, 806, 887});
  expect({.op = "Conv",
          .data = {A({1, 4, 3})},
          .stored = {{1, floats_of({2, 2, 2}, {1, 1, 1, 1, 2, 2, 2, 2})}},
          .attrs = {{"group", int64_t{2}}, {"dilations", Ints{2}}}},
         {1, 2, 1}, {10, 68});
}

TEST(OnnxOps, conv_transpose_spreads_its_kernel) {
  const Literal x = floats_of({1, 1, 2, 2}, {1, 2, 3, 4});
  expect({.op = "ConvTranspose",
          .data = {x},
          .stored = {{1, x}},
          .attrs = {{"strides", Ints{2, 2}}, {"output_padding", Ints{1, 0}}}},
         {1, 1, 5, 4}, {1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8, 9, 12, 12, 16, 0, 0, 0, 0});
}

TEST(OnnxOps, pools_pad_round_up_and_count_padding_as_told) {
  expect({.op = "MaxPool",
          .data = {A({1, 1, 4, 4})},
          .attrs = {{"kernel_shape", Ints{3, 3}},
                    {"strides", Ints{2, 2}},
                    {"pads", Ints{1, 1, 0, 0}}}},
         {1, 1, 2, 2}, {5, 7, 13, 15});
  expect({.op = "MaxPool",
          .data = {A({1, 1, 5})},
          .attrs = {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"ceil_mode", int64_t{1}}}},
         {1, 1, 3}, {1, 3, 4});
  OnnxAttrs attrs = {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}};
  expect({.op = "AveragePool", .data = {A({1, 1, 4})}, .attrs = attrs}, {1, 1, 4},
         {0.5, 1, 2, 2.5});
  attrs.push_back({"count_include_pad", int64_t{1}});
  expect({.op = "AveragePool", .data = {A({1, 1, 4})}, .attrs = attrs}, {1, 1, 4},
         {0.333333, 1, 2, 1.66667});
  expect({.op = "GlobalAveragePool", .data = {A({1, 2, 2, 2})}}, {1, 2, 1, 1}, {1.5, 5.5});
}

TEST(OnnxOps, batch_normalization_uses_the_stored_statistics) {
  expect({.op = "BatchNormalization",
          .data = {A({1, 2, 2})},
          .stored = {{1, vec({1, 2})}, {2, vec({0, 1})}, {3, vec({0.5, 2})}, {4, vec({1, 4})}},
          .attrs = {{"epsilon", 0.0F}}},
         {1, 2, 2}, {-0.5, 0.5, 1, 2});
}

TEST(OnnxOps, layer_normalization_is_over_the_dimensions_from_its_axis_on) {
  expect({.op = "LayerNormalization",
          .data = {A({2, 3})},
          .stored = {{1, vec({1, 2, 3})}, {2, vec({0, 0, 1})}}},
         {2, 3}, {-1.22474, 0, 4.67421, -1.22474, 0, 4.67421});
  expect({.op = "LayerNormalization",
          .data = {A({2, 2, 2})},
          .stored = {{1, floats_of({2, 2}, {1, 2, 3, 4})}},
          .attrs = {{"axis", int64_t{1}}}},
         {2, 2, 2}, {-1.34164, -0.894424, 1.34164, 5.36654, -1.34164, -0.894424, 1.34164, 5.36654});
}

TEST(OnnxOps, layer_normalization_gives_mean_and_deviation_when_asked) {
  const auto results = run({.op = "LayerNormalization",
                            .data = {A({2, 3})},
                            .stored = {{1, vec({1, 1, 1})}},
                            .outputs = 3});
  EXPECT_EQ(results[1].shape, (Shape{2, 1}));
  expect_near(results[1].values, {1, 4});
  expect_near(results[2].values, {1.224736, 1.224736});  // by hand: 1 / sqrt(2/3 + 1e-5)
}

TEST(OnnxOps, other_normalizations) {
  expect(
      {.op = "RMSNormalization", .data = {A({2, 3})}, .stored = {{1, vec({1, 2, 3})}}, .opset = 23},
      {2, 3}, {0, 1.54919, 4.64757, 0.734847, 1.95959, 3.67423});
  expect({.op = "InstanceNormalization",
          .data = {A({1, 2, 3})},
          .stored = {{1, vec({1, 2})}, {2, vec({0, 1})}}},
         {1, 2, 3}, {-1.22474, 0, 1.22474, -1.44947, 1, 3.44947});
  expect({.op = "GroupNormalization",
          .data = {A({1, 4, 2})},
          .stored = {{1, vec({1, 2, 1, 2})}, {2, vec({0, 0, 1, 1})}},
          .attrs = {{"num_groups", int64_t{2}}},
          .opset = 21},
         {1, 4, 2},
         {-1.34164, -0.447212, 0.894424, 2.68327, -0.341635, 0.552788, 1.89442, 3.68327});
  expect({.op = "LpNormalization", .data = {floats_of({2, 2}, {3, 4, 0, 0})}, .opset = 22}, {2, 2},
         {0.6, 0.8, 0, 0});
  // By hand: x / sqrt(1 + 0.1 sum of the squares of neighbours), sums 1, 5, 5.
  expect({.op = "LRN",
          .data = {A({1, 3, 1, 1})},
          .attrs = {{"size", int64_t{3}}, {"alpha", 0.3F}, {"beta", 0.5F}, {"bias", 1.0F}}},
         {1, 3, 1, 1}, {0, 0.816497, 1.632993});
}

TEST(OnnxOps, slice_counts_from_the_end_and_backwards) {
  expect(
      {.op = "Slice",
       .data = {A({4, 5})},
       .stored = {{1, ivec({-1, 3})}, {2, ivec({-5, 0})}, {3, ivec({0, 1})}, {4, ivec({-2, -1})}}},
      {2, 3}, {18, 17, 16, 8, 7, 6});
  expect({.op = "Slice",
          .data = {A({4, 5})},
          .attrs = {{"starts", Ints{1}}, {"ends", Ints{1000}}, {"axes", Ints{1}}},
          .opset = 9},
         {4, 4}, {1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19});
}

TEST(OnnxOps, pad_knows_constants_mirrors_and_edges) {
  expect({.op = "Pad",
          .data = {A({2, 3})},
          .stored = {{1, ivec({0, 1, 0, 2})}},
          .attrs = {{"mode", std::string("reflect")}}},
         {2, 6}, {1, 0, 1, 2, 1, 0, 4, 3, 4, 5, 4, 3});
  expect({.op = "Pad", .data = {A({3})}, .stored = {{1, ivec({1, 1})}, {2, floats_of({}, {9})}}},
         {5}, {9, 0, 1, 2, 9});
  expect({.op = "Pad",
          .data = {A({2, 3})},
          .stored = {{1, ivec({1, 1})}, {3, ivec({-1})}},
          .attrs = {{"mode", std::string("edge")}}},
         {2, 5}, {0, 0, 1, 2, 2, 3, 3, 4, 5, 5});
}

TEST(OnnxOps, gathers_take_negative_indices) {
  expect({.op = "Gather", .data = {A({3, 2}), ints_of({1, 2}, {2, -1})}}, {1, 2, 2}, {4, 5, 4, 5});
  expect({.op = "Gather", .data = {A({3, 4}), ivec({0, 2})}, .attrs = {{"axis", int64_t{1}}}},
         {3, 2}, {0, 2, 4, 6, 8, 10});
  expect({.op = "GatherElements", .data = {A({3, 3}), ints_of({2, 3}, {1, 2, 0, 2, 0, -1})}},
         {2, 3}, {3, 7, 2, 6, 1, 8});
  expect({.op = "GatherND",
          .data = {A({2, 2, 2}), ints_of({2, 1}, {1, 0})},
          .attrs = {{"batch_dims", int64_t{1}}}},
         {2, 2}, {2, 3, 4, 5});
  expect({.op = "GatherND", .data = {A({2, 2, 2}), ints_of({2, 2}, {0, 1, 1, 0})}}, {2, 2},
         {2, 3, 4, 5});
}

TEST(OnnxOps, gather_by_known_indices_is_a_slice) {
  TestModel model;
  model.input("x", {"8", "2"}).tensor("i", ints_of({1, 3}, {2, 3, 4}));
  model.node("Gather", {"x", "i"}, {"y"}).output("y");
  const ir::Graph graph = import_onnx_bytes(model.bytes(), "m.onnx");
  EXPECT_EQ(graph.entry().ops[0].kind, ir::OpKind::Slice);
  EXPECT_EQ(graph.entry().type_of(graph.entry().outputs[0].value).text(), "f32[1,3,2]");
}

TEST(OnnxOps, scatters_reduce_where_told) {
  expect({.op = "ScatterND",
          .data = {A({4}), ints_of({3, 1}, {1, 3, 1}), vec({10, 20, 30})},
          .attrs = {{"reduction", std::string("add")}}},
         {4}, {0, 41, 2, 23});
  expect({.op = "ScatterElements",
          .data = {A({2, 3}), ints_of({1, 2}, {2, 0}), floats_of({1, 2}, {9, 8})},
          .attrs = {{"axis", int64_t{1}}}},
         {2, 3}, {8, 1, 9, 3, 4, 5});
}

TEST(OnnxOps, ops_that_answer_with_places) {
  const auto top =
      run({.op = "TopK", .data = {vec({3, 1, 4, 1, 5})}, .stored = {{1, ivec({3})}}, .outputs = 2});
  expect_near(top[0].values, {5, 4, 3});
  expect_near(top[1].values, {4, 2, 0});
  const Literal x = floats_of({2, 3}, {3, 7, 7, 9, 1, 2});
  expect({.op = "ArgMax", .data = {x}, .attrs = {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}}},
         {2}, {1, 0});
  expect({.op = "ArgMax",
          .data = {x},
          .attrs = {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}}},
         {2, 1}, {2, 0});
  expect({.op = "OneHot",
          .data = {ivec({0, -1})},
          .stored = {{1, ints_of({}, {3})}, {2, vec({2, 5})}}},
         {2, 3}, {5, 2, 2, 2, 2, 5});
}

TEST(OnnxOps, running_sums_and_triangles) {
  expect({.op = "CumSum",
          .data = {vec({1, 2, 3, 4})},
          .stored = {{1, ints_of({}, {0})}},
          .attrs = {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}},
         {4}, {9, 7, 4, 0});
  const Literal x = floats_of({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect({.op = "Trilu", .data = {x}, .stored = {{1, ints_of({}, {1})}}}, {3, 3},
         {0, 2, 3, 0, 0, 6, 0, 0, 0});
  expect({.op = "Trilu", .data = {x}, .attrs = {{"upper", int64_t{0}}}}, {3, 3},
         {1, 0, 0, 4, 5, 0, 7, 8, 9});
}

TEST(OnnxOps, resizes_to_the_nearest_and_moves_depth) {
  expect({.op = "Resize",
          .data = {A({1, 1, 2, 2})},
          .stored = {{2, vec({1, 1, 2, 3})}},
          .attrs = {{"mode", std::string("nearest")},
                    {"coordinate_transformation_mode", std::string("asymmetric")},
                    {"nearest_mode", std::string("floor")}}},
         {1, 1, 4, 6}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 2, 2, 2, 3, 3, 3});
  expect({.op = "DepthToSpace",
          .data = {A({1, 4, 1, 2})},
          .attrs = {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}},
         {1, 1, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7});
}

TEST(OnnxOps, integer_and_float_remainders_and_powers) {
  expect({.op = "Mod", .data = {ivec({-7, 7, -8}), ivec({3, -3, 4})}}, {3}, {2, -2, 0});
  expect({.op = "Mod", .data = {vec({-7.5, 7.5}), vec({2, -2})}, .attrs = {{"fmod", int64_t{1}}}},
         {2}, {-1.5, 1.5});
  expect({.op = "Pow", .data = {ivec({2, 3}), vec({3, 0.5})}}, {2}, {8, 1});
  expect({.op = "Div", .data = {ivec({-7, 7}), ivec({2, -2})}}, {2}, {-3, -3});  // toward zero
  expect({.op = "IsInf",
          .data = {vec({-HUGE_VAL, 1, HUGE_VAL})},
          .attrs = {{"detect_negative", int64_t{0}}}},
         {3}, {0, 0, 1});
}

TEST(OnnxOps, reductions_take_axes_as_attribute_or_input) {
  const OnnxAttrs row = {{"axes", Ints{1}}, {"keepdims", int64_t{0}}};
  expect({.op = "ReduceLogSumExp", .data = {A({2, 3})}, .attrs = row, .opset = 13}, {2},
         {2.40761, 5.40761});
  expect({.op = "ReduceMean", .data = {A({2, 3})}, .stored = {{1, ivec({-1})}}, .opset = 18},
         {2, 1}, {1, 4});
  expect({.op = "ReduceSum", .data = {A({2, 3})}, .attrs = row, .opset = 11}, {2}, {3, 12});
  expect({.op = "ReduceSum",
          .data = {A({2, 3})},
          .attrs = {{"noop_with_empty_axes", int64_t{1}}},
          .opset = 13},
         {2, 3}, {0, 1, 2, 3, 4, 5});
  expect({.op = "ReduceL2",
          .data = {floats_of({2, 2}, {1, 2, 3, 4})},
          .attrs = {{"axes", Ints{0}}, {"keepdims", int64_t{0}}},
          .opset = 13},
         {2}, {3.16228, 4.47214});
}

TEST(OnnxOps, squeezes_take_axes_as_attribute_or_input) {
  expect({.op = "Squeeze", .data = {A({1, 2, 1})}, .attrs = {{"axes", Ints{0}}}, .opset = 11},
         {2, 1}, {0, 1});
  expect({.op = "Squeeze", .data = {A({1, 2, 1})}, .stored = {{1, ivec({-1})}}}, {1, 2}, {0, 1});
  expect({.op = "Squeeze", .data = {A({1, 2, 1})}}, {2}, {0, 1});
  expect({.op = "Unsqueeze", .data = {A({2})}, .stored = {{1, ivec({0, -1})}}}, {1, 2, 1}, {0, 1});
}

TEST(OnnxOps, split_makes_its_parts_by_attribute_input_or_number) {
  const auto uneven =
      run({.op = "Split", .data = {A({5})}, .attrs = {{"num_outputs", int64_t{2}}}, .outputs = 2});
  expect_near(uneven[0].values, {0, 1, 2});
  expect_near(uneven[1].values, {3, 4});
  const auto told = run({.op = "Split",
                         .data = {A({5})},
                         .attrs = {{"split", Ints{1, 4}}},
                         .opset = 11,
                         .outputs = 2});
  expect_near(told[1].values, {1, 2, 3, 4});
  const auto given = run(
      {.op = "Split", .data = {A({5})}, .stored = {{1, ivec({2, 3})}}, .opset = 13, .outputs = 2});
  expect_near(given[1].values, {2, 3, 4});
}

// q = A(1,2,2,2)/8, k = A(1,1,3,2)/4, v = A(1,1,3,2): two query heads share a key head.
TEST(OnnxOps, attention_of_opset_23) {
  const Literal q = A({1, 2, 2, 2}, 8), k = A({1, 1, 3, 2}, 4), v = A({1, 1, 3, 2});
  expect({.op = "Attention", .data = {q, k, v}, .opset = 23}, {1, 2, 2, 2},
         {2.05891, 3.05891, 2.29226, 3.29226, 2.51681, 3.51681, 2.7267, 3.7267});
  expect({.op = "Attention",
          .data = {q, k, v, ints_of({2, 3}, {1, 1, 0, 1, 0, 0}, DType::Bool)},
          .opset = 23},
         {1, 2, 2, 2}, {1.02209, 2.02209, 0, 1, 1.19629, 2.19629, 0, 1});
  expect({.op = "Attention",
          .data = {q, A({1, 1, 2, 2}, 4), A({1, 1, 2, 2})},
          .attrs = {{"is_causal", int64_t{1}}},
          .opset = 23},
         {1, 2, 2, 2}, {0, 1, 1.11004, 2.11004, 0, 1, 1.27961, 2.27961});
}

TEST(OnnxOps, rotary_embedding_of_opset_23) {
  Literal sin = A({3, 2}, 8);
  for (double& x : sin.floats) x = 1 - x;
  expect({.op = "RotaryEmbedding",
          .data = {A({1, 1, 2, 4}), A({3, 2}, 4), sin, ints_of({1, 2}, {0, 2})},
          .opset = 23},
         {1, 1, 2, 4}, {-2, -2.375, 0, 1.625, 1, 3.625, 8, 10.625});
}

TEST(OnnxOps, losses) {
  expect({.op = "SoftmaxCrossEntropyLoss",
          .data = {A({3, 2}, 2), ivec({0, 1, -1})},
          .attrs = {{"ignore_index", int64_t{-1}}}},
         {}, {0.724077});
  expect({.op = "NegativeLogLikelihoodLoss",
          .data = {A({2, 2}), ivec({0, 1})},
          .attrs = {{"reduction", std::string("none")}}},
         {2}, {0, -3});
}

TEST(OnnxOps, quantized_values_are_scaled_along_an_axis) {
  // By hand: (1 - 1) 2, (2 + 1) 0.5, (3 - 1) 2, (4 + 1) 0.5.
  expect({.op = "DequantizeLinear",
          .data = {ints_of({2, 2}, {1, 2, 3, 4}, DType::I8)},
          .stored = {{1, vec({2, 0.5})}, {2, ints_of({2}, {1, -1}, DType::I8)}}},
         {2, 2}, {0, 1.5, 4, 2.5});
  // By hand: round(-3 / 2) + 1 = -1 (half to even), round(300 / 2) + 1 = 151, cut at 127.
  expect({.op = "QuantizeLinear",
          .data = {vec({-3, 300})},
          .stored = {{1, floats_of({}, {2})}, {2, ints_of({}, {1}, DType::I8)}}},
         {2}, {-1, 127});
}

// By hand: gelu of the sum, or as for the standard op.
TEST(OnnxOps, contrib_activations) {
  const Literal half = vec({-2.5, -1, -0.5, 2.5}), rest = vec({0.5, 0.5, 0.5, 0.5});
  expect({.op = "BiasGelu", .data = {half}, .stored = {{1, rest}}, .domain = MicrosoftDomain}, {4},
         {-0.0455003, -0.154269, 0, 2.99595});
  expect({.op = "FastGelu", .data = {half}, .stored = {{1, rest}}, .domain = MicrosoftDomain}, {4},
         {-0.0454023, -0.154286, 0, 2.99636});
}

// By hand.
TEST(OnnxOps, contrib_attention_hides_masked_keys) {
  Literal w = A({4, 12});
  for (double& x : w.floats) x = (std::fmod(x, 5) - 2) / 4;
  // The only key that is seen is the first, so each row is its value: x[0] w[:, 8:12].
  Values value;
  for (size_t j = 8; j < 12; ++j) {
    value.push_back(0 * w.floats[j] + w.floats[12 + j] + 2 * w.floats[24 + j] +
                    3 * w.floats[36 + j]);
  }
  Values twice = value;
  twice.insert(twice.end(), value.begin(), value.end());
  expect({.op = "Attention",
          .data = {A({1, 2, 4})},
          .stored = {{1, w}, {2, vec(Values(12, 0))}, {3, ints_of({1, 2}, {1, 0}, DType::I32)}},
          .attrs = {{"num_heads", int64_t{2}}},
          .domain = MicrosoftDomain},
         {1, 2, 4}, twice);
}

TEST(OnnxOps, contrib_skip_norm_gives_what_it_normalizes) {
  const auto results = run({.op = "SkipLayerNormalization",
                            .data = {A({1, 1, 3}), A({1, 1, 3})},
                            .stored = {{2, vec({1, 1, 1})}, {3, vec({0, 0, 1})}},
                            .domain = MicrosoftDomain});
  expect_near(results[0].values, {-1.22474, 0, 2.22474});  // of 0, 2, 4
}

TEST(OnnxOps, every_op_of_the_table_is_listed_once) {
  for (std::string_view domain : {std::string_view(), MicrosoftDomain}) {
    const auto names = supported_onnx_ops(domain);
    EXPECT_FALSE(names.empty());
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  }
  EXPECT_EQ(find_onnx_handler("", "NoSuchOp"), nullptr);
  EXPECT_EQ(find_onnx_handler("other.domain", "Add"), nullptr);
  EXPECT_EQ(find_onnx_handler("ai.onnx", "Add"), find_onnx_handler("", "Add"));
}

}  // namespace
}  // namespace wafer::importers
