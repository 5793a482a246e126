// What is exported and read again is the same network.
#include "wafer/importers/onnx_export.h"

#include <cmath>
#include <set>

#include "support/onnx_run.h"
#include "wafer/ir/builder.h"
#include "wafer/ir/cost.h"
#include "wafer/models/models.h"

namespace wafer::importers {
namespace {

using ir::Graph;

Graph again(const Graph& graph) { return import_onnx_bytes(onnx_bytes(graph, "m.onnx"), "m.onnx"); }

ir::Cost cost(const Graph& graph) {
  const Graph bound = ir::bind(graph, {{"batch", 4}});
  return ir::cost_of(bound, bound.main);
}

void expect_equal_cost(const char* name, const models::BuildOptions& options) {
  SCOPED_TRACE(name);
  const Graph built = models::build(name, options);
  const Graph read = again(built);
  EXPECT_EQ(models::parameter_count(read), models::parameter_count(built));
  const ir::Cost a = cost(built), b = cost(read);
  EXPECT_DOUBLE_EQ(b.product.value, a.product.value);
  EXPECT_NEAR(b.total() / a.total(), 1, 0.001);
  EXPECT_NEAR(b.read / a.read, 1, 0.001);
  EXPECT_NEAR(b.written / a.written, 1, 0.001);
}

TEST(OnnxExport, models_read_again_cost_the_same) {
  for (const char* name : {"bert-base", "gpt2", "vit-base", "resnet50",
                           "llama:layers=3,hidden=256,heads=8,vocab=1000,kv_heads=2"}) {
    expect_equal_cost(name, {.dtype = DType::F16, .train = true});
    expect_equal_cost(name, {.dtype = DType::F32, .train = false});
  }
}

/// Values that look random, the same for one name.
Values values_for(const std::string& name, const TensorType& type) {
  Values values;
  size_t seed = 7;
  for (char c : name) seed = seed * 31 + static_cast<unsigned char>(c);
  for (int64_t i = 0; i < type.elements(); ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const double x = static_cast<double>(seed >> 40) / (1 << 24);  // 0 to 1
    values.push_back(is_float(type.dtype) ? x - 0.5 : std::floor(x * 2));
  }
  return values;
}

TEST(OnnxExport, models_read_again_compute_the_same) {
  for (const char* name : {"gpt:layers=2,hidden=32,heads=4,vocab=19,seq=6",
                           "bert:layers=1,hidden=32,heads=4,vocab=19,seq=6",
                           "llama:layers=1,hidden=32,heads=4,vocab=19,seq=6,kv_heads=2"}) {
    SCOPED_TRACE(name);
    for (const bool train : {false, true}) {
      const Graph built = models::build(name, {.dtype = DType::F32, .train = train});
      std::map<std::string, Values> given;
      const Graph bound = ir::bind(built, {{"batch", 2}});
      for (const ir::Input& input : bound.entry().inputs) {
        given[input.name] = values_for(input.name, bound.entry().type_of(input.value));
      }
      const auto expected = run_graph(bound, given);
      const auto actual = run_graph(ir::bind(again(built), {{"batch", 2}}), given);
      expect_near(values_of(actual[0]), values_of(expected[0]), 1e-9);
    }
  }
}

TEST(OnnxExport, layers_keep_their_labels) {
  const Graph read =
      again(models::build("gpt:layers=2,hidden=32,heads=4,vocab=19,seq=6", {.train = false}));
  std::set<std::string> layers;
  for (const ir::Op& op : read.entry().ops) layers.insert(op.layer);
  EXPECT_TRUE(layers.count("layer.0") == 1 && layers.count("layer.1") == 1);
}

TEST(OnnxExport, writes_a_file_that_is_read) {
  const std::string path = testing::TempDir() + "exported.onnx";
  const Graph built = models::build("gpt:layers=1,hidden=32,heads=4,vocab=19,seq=6");
  export_onnx(built, path);
  EXPECT_EQ(models::parameter_count(import_onnx(path)), models::parameter_count(built));
  EXPECT_THROW(export_onnx(built, "/nowhere/at/all.onnx"), InputError);
}

TEST(OnnxExport, primitive_ops_read_again_compute_the_same) {
  Graph graph;
  ir::Builder b(graph, graph.add_function("main"));
  graph.main = ir::FunctionId(0);
  const ir::ValueId x = b.input("x", {DType::F32, {Dim::symbol("batch"), 4, 6}});
  const ir::ValueId w = b.input("w", {DType::F32, {5, 4, 6}});
  using ir::ElementFn;
  ir::ValueId y = b.emit1(ir::OpKind::Reverse, {x}, {{ir::AttrKey::Dims, ir::Ints{2}}});
  y = b.slice(y, {0, 1, 0}, {-1, 4, 6}, {1, 1, 2});
  y = b.concatenate({y, b.unary(ElementFn::Rsqrt, b.unary(ElementFn::Exp, y))}, 1);
  const ir::ValueId low = b.scalar(-1, DType::F32);
  y = b.emit1(ir::OpKind::Pad, {y, low},
              {{ir::AttrKey::Low, ir::Ints{0, 0, 1}},
               {ir::AttrKey::High, ir::Ints{0, -2, 2}},
               {ir::AttrKey::Interior, ir::Ints{0, 0, 0}}});
  y = b.dot_general(y, w, {{1, 2}, {1, 2}});  // [batch, 5], by Einsum
  y = b.add(y, b.convert(b.iota({DType::I32, {5}}, 0), DType::F32));
  b.output("y", b.reduce(ElementFn::Maximum, y, {1}));
  b.output("all", b.reshape(y, {Dim(5) * Dim::symbol("batch")}));
  const Graph bound = ir::bind(graph, {{"batch", 3}});
  std::map<std::string, Values> given;
  for (const ir::Input& input : bound.entry().inputs) {
    given[input.name] = values_for(input.name, bound.entry().type_of(input.value));
  }
  const auto expected = run_graph(bound, given);
  const auto actual = run_graph(ir::bind(again(graph), {{"batch", 3}}), given);
  for (size_t i = 0; i < 2; ++i) expect_near(values_of(actual[i]), values_of(expected[i]), 1e-6);
}

TEST(OnnxExport, every_op_without_a_form_is_named) {
  Graph graph;
  ir::Builder b(graph, graph.add_function("main"));
  graph.main = ir::FunctionId(0);
  b.location = "net:softmax";
  const ir::ValueId x = b.input("x", {DType::F32, {2, 3}});
  const ir::ValueId grad = b.emit1(ir::OpKind::SoftmaxGrad, {x, x});
  b.output("y", b.emit1(ir::OpKind::AllReduce, {grad},
                        {{ir::AttrKey::Fn, ir::ElementFn::Add},
                         {ir::AttrKey::Group, std::string("data")}}));
  try {
    onnx_bytes(graph, "m.onnx");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_TRUE(contains(error.what(), "softmax_grad in main (net:softmax)")) << error.what();
    EXPECT_TRUE(contains(error.what(), "all_reduce in main"));
  }
}

TEST(OnnxExport, a_type_that_onnx_lacks_is_named) {
  const Graph built = models::build("gpt:layers=1,hidden=32,heads=4,vocab=19,seq=6",
                                    {.dtype = DType::Cb16, .train = false});
  try {
    onnx_bytes(built, "m.onnx");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_TRUE(contains(error.what(), "cb16")) << error.what();
  }
}

}  // namespace
}  // namespace wafer::importers
