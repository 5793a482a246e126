#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/contains.h"
#include "support/op_samples.h"
#include "wafer/ir/text.h"

namespace wafer::ir {
namespace {

using Json = nlohmann::ordered_json;

/// y = gelu(x w) called once as a layer, then y + 0.5.
Graph network(Dim batch) {
  Graph graph;
  graph.name = "net";
  const FunctionId layer = graph.add_function("layer");
  Builder inner(graph, layer);
  const ValueId x = inner.input("x", {DType::F32, {batch, 4}});
  const ValueId w = inner.input("w", {DType::F32, {4, 3}});
  inner.output("y", inner.gelu(inner.matmul(x, w), false));
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId in = b.input("in", {DType::F32, {batch, 4}});
  const ValueId weight = b.parameter("w", {DType::F32, {4, 3}});
  b.layer = "layer.0";
  const ValueId out = b.call(layer, {in, weight})[0];
  b.layer = "";
  b.location = "net.onnx:add";
  b.output("out", b.add(out, 0.5));
  return graph;
}

TEST(PrintJson, has_parameters_flops_and_ops) {
  const Json json = Json::parse(print_json(network(2)));
  EXPECT_EQ(json["name"], "net");
  EXPECT_EQ(json["main"], "main");
  EXPECT_EQ(json["parameters"], 12);
  // 2*2*4*3 in the product, 5 for each of 6 elements of gelu, 6 for the sum.
  EXPECT_EQ(json["flops"], 48 + 30 + 6);
  ASSERT_EQ(json["functions"].size(), 2U);
  const Json& main = json["functions"][1];
  EXPECT_EQ(
      main["inputs"][1],
      Json::parse(R"({"value": "%1", "type": "f32[4,3]", "name": "w", "role": "parameter"})"));
  EXPECT_EQ(main["ops"][0], Json::parse(R"({"kind": "call", "operands": ["%0", "%1"],
      "results": [{"value": "%2", "type": "f32[2,3]"}], "attrs": {"body": "layer"},
      "phase": "forward", "layer": "layer.0", "scope": "", "loc": ""})"));
  EXPECT_EQ(main["ops"][1]["attrs"], Json::parse(R"({"value": {"splat": 0.5}})"));
  EXPECT_EQ(main["ops"][1]["loc"], "net.onnx:add");
  EXPECT_EQ(main["outputs"][0]["name"], "out");
}

TEST(PrintJson, keeps_its_keys_in_order) {
  const Json json = Json::parse(print_json(network(2)));
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += key + " ";
  EXPECT_EQ(keys, "name main parameters flops functions ");
}

TEST(PrintJson, has_no_flops_before_the_batch_is_bound) {
  const Json json = Json::parse(print_json(network(Dim::symbol("batch"))));
  EXPECT_TRUE(json["flops"].is_null());
  EXPECT_EQ(json["parameters"], 12);
}

TEST(PrintJson, stands_names_that_are_no_utf8) {
  Graph graph = network(2);
  graph.name = "\xff";
  EXPECT_EQ(Json::parse(print_json(graph))["name"], "\xef\xbf\xbd");  // the replacement character
}

TEST(PrintDot, draws_functions_layers_calls_and_composites) {
  const std::string dot = print_dot(network(2));
  EXPECT_TRUE(contains(dot, "label=\"@layer\""));
  EXPECT_TRUE(contains(dot, "label=\"layer.0 (forward)\""));
  EXPECT_TRUE(contains(dot, "f1_o0 [fillcolor=\"#ffd966\", label=\"call @layer\\nw\\nf32[2,3]\"]"));
  EXPECT_TRUE(contains(dot, "label=\"gelu\\nf32[2,3]\""));
  EXPECT_TRUE(contains(dot, "f1_i0 -> f1_o0;"));
}

TEST(PrintDot, writes_numbers_where_they_are_used) {
  const std::string dot = print_dot(network(2));
  EXPECT_TRUE(contains(dot, "label=\"add 0.5\\nf32[2,3]\""));
  EXPECT_FALSE(contains(dot, "label=\"constant"));
  EXPECT_FALSE(contains(dot, "label=\"broadcast_in_dim"));
}

TEST(PrintDot, counts_parameters_where_they_are_many) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  std::vector<ValueId> weights;
  for (int i = 0; i < 5; ++i) {
    weights.push_back(b.parameter("w" + std::to_string(i), {DType::F32, {2}}));
    b.function().inputs.back().donated_output = i;
  }
  b.concatenate(weights, 0);
  for (int i = 0; i < 5; ++i) b.output("w" + std::to_string(i), weights[static_cast<size_t>(i)]);
  const std::string dot = print_dot(graph);
  EXPECT_TRUE(contains(dot, "label=\"concatenate\\n5 parameters\\nf32[10]\""));
  EXPECT_FALSE(contains(dot, "ellipse"));  // neither the parameters nor what they become
}

TEST(PrintDot, is_read_by_graphviz) {
  if (std::system("command -v dot > /dev/null 2>&1") != 0) GTEST_SKIP() << "dot is not installed";
  Graph graph = graph_of_samples();
  graph.name = graph.entry().name = "a \"quoted\" \\ name\n";
  for (Op& op : graph.entry().ops) op.layer = "layer \"0\"";
  const std::string file = ::testing::TempDir() + "wafer_ir_samples.dot";
  std::ofstream(file) << print_dot(graph);
  EXPECT_EQ(std::system(("dot -Tcanon '" + file + "' > /dev/null").c_str()), 0);
}

}  // namespace
}  // namespace wafer::ir
