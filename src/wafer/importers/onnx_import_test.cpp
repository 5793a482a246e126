// What an import makes of files as a whole: inputs, dimensions, labels, functions, errors.
#include <filesystem>
#include <fstream>

#include "support/onnx_run.h"
#include "support/test_data.h"
#include "wafer/ir/text.h"

namespace wafer::importers {
namespace {

namespace fs = std::filesystem;
using ir::Role;

ir::Graph import_model(const TestModel& model, const OnnxOptions& options = {}) {
  return import_onnx_bytes(model.bytes(), "dir/m.onnx", options);
}

const ir::Input& input_named(const ir::Graph& graph, std::string_view name) {
  for (const ir::Input& input : graph.entry().inputs) {
    if (input.name == name) return input;
  }
  throw std::runtime_error("no input " + std::string(name));
}

std::string type_of_output(const ir::Graph& graph, size_t i = 0) {
  return graph.entry().type_of(graph.entry().outputs.at(i).value).text();
}

int64_t parameters(const ir::Graph& graph) {
  int64_t count = 0;
  for (const ir::Input& input : graph.entry().inputs) {
    if (input.role == Role::Parameter) count += graph.entry().type_of(input.value).elements();
  }
  return count;
}

TEST(OnnxImport, stored_floats_are_parameters_and_scalars_are_constants) {
  TestModel model;
  model.input("x", {"2", "3"}).tensor("w", floats_of({3}, {1, 2, 3}));
  model.tensor("two", floats_of({}, {2})).tensor("unused", floats_of({9}, Values(9, 1)));
  model.node("Mul", {"x", "w"}, {"a"}).node("Mul", {"a", "two"}, {"y"}).output("y");
  const ir::Graph graph = import_model(model);
  ASSERT_EQ(graph.entry().inputs.size(), 2u);
  EXPECT_EQ(input_named(graph, "x").role, Role::Data);
  EXPECT_EQ(input_named(graph, "w").role, Role::Parameter);
  expect_near(values_of(run_graph(graph, {{"x", {1, 1, 1, 2, 2, 2}}, {"w", {1, 2, 3}}})[0]),
              {2, 4, 6, 4, 8, 12});
}

TEST(OnnxImport, statistics_of_batch_norm_are_no_parameters) {
  TestModel model;
  model.input("x", {"N", "2"});
  for (const char* name : {"scale", "bias", "mean", "var"}) {
    model.tensor(name, floats_of({2}, {1, 2}));
  }
  model.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y"}).output("y");
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(input_named(graph, "mean").role, Role::Constant);
  EXPECT_EQ(input_named(graph, "scale").role, Role::Parameter);
  EXPECT_EQ(parameters(graph), 4);
  const ir::Graph trained = import_model(model, {.batch_statistics = true});
  EXPECT_EQ(trained.entry().inputs.size(), 3u);  // the stored statistics are not read
  EXPECT_EQ(trained.entry().ops[0].kind, ir::OpKind::BatchNorm);
}

TEST(OnnxImport, weights_held_by_nodes_are_parameters) {
  TestModel model;
  const auto literal = std::make_shared<const ir::Literal>(floats_of({3, 2}, Values(6, 0.5)));
  model.input("x", {"4", "3"}).node("Constant", {}, {"w"}, {{"value", literal}});
  model.node("MatMul", {"x", "w"}, {"y"}).output("y");
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(input_named(graph, "w").role, Role::Parameter);
}

TEST(OnnxImport, a_matrix_stored_twice_is_one_parameter) {
  Values table, transposed;
  for (int64_t i = 0; i < 64 * 40; ++i) table.push_back(static_cast<double>(i % 977));
  for (int64_t c = 0; c < 40; ++c) {
    for (int64_t r = 0; r < 64; ++r) transposed.push_back(table[static_cast<size_t>(r * 40 + c)]);
  }
  const auto build = [&](const Values& head) {
    TestModel model;
    model.input("ids", {"batch"}, DType::I64).tensor("table", floats_of({64, 40}, table));
    model.tensor("head", floats_of({40, 64}, head));
    model.node("Gather", {"table", "ids"}, {"x"}).node("MatMul", {"x", "head"}, {"y"}).output("y");
    return import_model(model);
  };
  EXPECT_EQ(parameters(build(transposed)), 64 * 40);
  transposed[77] += 1;
  EXPECT_EQ(parameters(build(transposed)), 2 * 64 * 40);
}

TEST(OnnxImport, old_files_list_stored_tensors_as_inputs_too) {
  TestModel model(9);
  model.input("x", {"2"}).input("w", {"2"}).tensor("w", floats_of({2}, {1, 2}));
  model.node("Add", {"x", "w"}, {"y"}).output("y");
  EXPECT_EQ(input_named(import_model(model), "w").role, Role::Parameter);
}

TEST(OnnxImport, the_batch_stays_open_under_its_usual_names) {
  for (const char* name : {"batch", "batch_size", "N", "", "Batch"}) {
    TestModel model;
    model.input("x", {name, "3"}).node("Relu", {"x"}, {"y"}).output("y");
    EXPECT_EQ(type_of_output(import_model(model, {.batch = 7})), "f32[batch,3]") << name;
  }
}

TEST(OnnxImport, dimensions_take_the_values_given) {
  TestModel model;
  model.input("x", {"batch", "seq_len", "width", "past + 2*width"});
  model.node("Relu", {"x"}, {"y"}).output("y");
  const OnnxOptions options{.dims = {{"width", 5}, {"past", 1}}, .seq = 9};
  EXPECT_EQ(type_of_output(import_model(model, options)), "f32[batch,9,5,11]");
}

TEST(OnnxImport, every_dimension_without_a_value_is_named_with_its_places) {
  TestModel model;
  model.input("ids", {"batch", "tokens_in"}).input("past", {"batch", "heads", "tokens_in"});
  model.input("z", {"2", ""}).node("Relu", {"ids"}, {"y"}).output("y");
  const std::string error = import_error(model);
  EXPECT_TRUE(contains(error, "heads: dimension 1 of input past")) << error;
  EXPECT_TRUE(contains(error, "tokens_in: dimension 1 of input ids, dimension 2 of input past"));
  EXPECT_TRUE(contains(error, "z.1: dimension 1 of input z"));
  EXPECT_TRUE(contains(error, "--dim NAME=VALUE"));
  OnnxOptions options{.dims = {{"heads", 2}, {"tokens_in", 3}, {"z.1", 4}}};
  EXPECT_EQ(import_error(model, options), "");
  options.dims["depth"] = 3;
  const std::string unmet = import_error(model, options);
  EXPECT_TRUE(contains(unmet, "--dim depth: no input of")) << unmet;
  EXPECT_TRUE(contains(unmet, "open are batch, heads, tokens_in, z.1")) << unmet;
}

TEST(OnnxImport, a_tensor_stored_twice_is_refused) {
  TestModel model;
  const ir::Literal two{.type = {DType::F32, {Dim(2)}}, .floats = {1, 2}};
  model.input("x", {"2"}).tensor("w", two).tensor("w", two);
  model.node("Add", {"x", "w"}, {"y"}).output("y");
  EXPECT_TRUE(contains(import_error(model), "initializer w stands twice"));
}

TEST(OnnxImport, sizes_that_are_none_are_refused) {
  TestModel model;
  model.input("x", {"batch"}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_TRUE(contains(import_error(model, {.batch = 0}), "batch: expected 1"));
  EXPECT_TRUE(contains(import_error(model, {.dims = {{"n", -4}}}), "n: expected 0"));
}

TEST(OnnxImport, shape_arithmetic_is_followed_with_the_batch_open) {
  // x [batch, 6] -> Reshape(Concat(Gather(Shape(x), 0) as [1], [2, -1])) -> [batch, 2, 3]
  TestModel model;
  model.input("x", {"batch", "6"}).tensor("zero", ints_of({}, {0}));
  model.tensor("axis", ints_of({1}, {0})).tensor("rest", ints_of({2}, {2, -1}));
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"b"});
  model.node("Unsqueeze", {"b", "axis"}, {"b1"});
  model.node("Concat", {"b1", "rest"}, {"shape"}, {{"axis", int64_t{0}}});
  model.node("Reshape", {"x", "shape"}, {"y"}).output("y");
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(type_of_output(graph), "f32[batch,2,3]");
  EXPECT_EQ(graph.entry().ops.size(), 1u);
}

TEST(OnnxImport, expand_by_the_trick_with_ones_keeps_the_batch_open) {
  // Where(shape == -1, 1, shape), as PyTorch writes expand(batch, -1).
  TestModel model;
  model.input("x", {"batch", "4"}).tensor("row", floats_of({1, 4}, {1, 2, 3, 4}));
  model.tensor("m1", ints_of({1}, {-1})).tensor("ones", ints_of({2}, {1, 1}));
  model.tensor("minus", ints_of({2}, {-1, -1}));
  model.node("Shape", {"x"}, {"b"}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
  model.node("Concat", {"b", "m1"}, {"shape"}, {{"axis", int64_t{0}}});
  model.node("Equal", {"shape", "minus"}, {"is"});
  model.node("Where", {"is", "ones", "shape"}, {"target"});
  model.node("Expand", {"row", "target"}, {"y"}).output("y");
  EXPECT_EQ(type_of_output(import_model(model)), "f32[batch,4]");
}

TEST(OnnxImport, a_batch_that_must_be_a_number_becomes_the_one_given) {
  // Range(0, batch + 1)
  TestModel model;
  model.input("x", {"batch", "4"});
  model.tensor("zero", ints_of({}, {0})).tensor("one", ints_of({}, {1}));
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"b"});
  model.node("Add", {"b", "one"}, {"limit"});
  model.node("Range", {"zero", "limit", "one"}, {"y"}).output("y");
  EXPECT_EQ(type_of_output(import_model(model, {.batch = 5})), "i64[6]");
  EXPECT_TRUE(contains(import_error(model), "limit (input 1)")) << import_error(model);
}

TEST(OnnxImport, a_fixed_batch_stays_as_it_is) {
  TestModel model;
  model.input("x", {"8", "3"}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_EQ(type_of_output(import_model(model, {.batch = 32})), "f32[8,3]");
}

TEST(OnnxImport, every_op_that_is_not_supported_is_named_at_once) {
  TestModel model;
  model.opset_import("com.acme", 3).input("x", {"2", "3"});
  model.node("Frobnicate", {"x"}, {"a"}, {}, "com.acme").node("Relu", {"a"}, {"b"});
  model.node("Det", {"x"}, {"c"}).node("Add", {"b", "c"}, {"y"}).output("y");
  const std::string error = import_error(model);
  EXPECT_TRUE(contains(
      error, "node n_a: Frobnicate (domain com.acme, opset 3) of (f32[2,3]): op is not supported"))
      << error;
  EXPECT_TRUE(contains(error, "node n_c: Det (domain ai.onnx, opset 18) of (f32[2,3])"));
  // What follows from them is not told.
  EXPECT_FALSE(contains(error, "Relu"));
  EXPECT_FALSE(contains(error, "Add"));
}

TEST(OnnxImport, attributes_that_nothing_reads_are_refused) {
  TestModel model;
  model.input("x", {"2"}).node("Relu", {"x"}, {"y"}, {{"leak", 0.5F}}).output("y");
  EXPECT_TRUE(contains(import_error(model), "attribute leak is not supported"));
}

TEST(OnnxImport, values_that_nothing_makes_and_names_made_twice_are_refused) {
  TestModel model;
  model.input("x", {"2"}).node("Add", {"x", "ghost"}, {"y"}).output("y").output("phantom");
  const std::string error = import_error(model);
  EXPECT_TRUE(contains(error, "value ghost is used, but made by no node before"));
  EXPECT_TRUE(contains(error, "value phantom is used"));
  TestModel twice;
  twice.input("x", {"2"}).node("Relu", {"x"}, {"y"}).node("Abs", {"x"}, {"y"}).output("y");
  EXPECT_TRUE(contains(import_error(twice), "makes y a second time"));
}

TEST(OnnxImport, opsets_that_are_too_old_or_unknown_are_refused) {
  for (int64_t opset : {6, 99}) {
    TestModel model(opset);
    model.input("x", {"2"}).node("Relu", {"x"}, {"y"}).output("y");
    EXPECT_TRUE(contains(import_error(model), "is written in opset " + std::to_string(opset)));
  }
}

TEST(OnnxImport, functions_are_inlined_with_their_attributes) {
  TestModel model;
  model.opset_import("local", 1).input("x", {"2"});
  const auto body = TestModel::node_bytes(
      "LeakyRelu", {"a"}, {"b"}, {}, "",
      {TestModel::reference_attribute("alpha", "slope", OnnxAttributeType::Float)});
  model.function("Twice", {"a"}, {"c"}, {body, TestModel::node_bytes("Add", {"b", "b"}, {"c"})});
  model.node("Twice", {"x"}, {"y"}, {{"slope", 0.25F}}, "local").output("y");
  const ir::Graph graph = import_model(model);
  expect_near(values_of(run_graph(graph, {{"x", {-4, 3}}})[0]), {-2, 6});
  EXPECT_TRUE(contains(ir::print_text(graph), "m.onnx:n_y/n_c"));
}

TEST(OnnxImport, functions_that_call_each_other_without_end_are_refused) {
  TestModel model;
  model.opset_import("local", 1).input("x", {"2"});
  const auto call = [](const char* out) {
    return TestModel::node_bytes("F", {"a"}, {out}, {}, "local");
  };
  model.function("F", {"a"}, {"b"}, {call("c"), call("b")});
  model.node("F", {"x"}, {"y"}, {}, "local").output("y");
  EXPECT_TRUE(contains(import_error(model), "call each other too deep"));
}

TEST(OnnxImport, functions_that_double_again_and_again_are_refused) {
  TestModel model;
  model.opset_import("local", 1).input("x", {"2"});
  for (int i = 0; i < 40; ++i) {
    const std::string inner = i == 0 ? "Relu" : "F" + std::to_string(i - 1);
    const std::string domain = i == 0 ? "" : "local";
    model.function("F" + std::to_string(i), {"a"}, {"c"},
                   {TestModel::node_bytes(inner, {"a"}, {"b"}, {}, domain),
                    TestModel::node_bytes(inner, {"b"}, {"c"}, {}, domain)});
  }
  model.node("F39", {"x"}, {"y"}, {}, "local").output("y");
  EXPECT_TRUE(contains(import_error(model), "more than 250000 nodes"));
}

TEST(OnnxImport, if_takes_the_branch_that_is_known) {
  for (int64_t taken : {0, 1}) {
    TestModel then_branch, else_branch, model;
    then_branch.node("Abs", {"x"}, {"t"}).output("t");
    else_branch.node("Neg", {"x"}, {"e"}).output("e");
    model.input("x", {"2"}).tensor("c", ints_of({}, {taken}, DType::Bool));
    model.node("If", {"c"}, {"y"}, {}, "",
               {TestModel::graph_attribute("then_branch", then_branch),
                TestModel::graph_attribute("else_branch", else_branch)});
    model.output("y");
    expect_near(values_of(run_graph(import_model(model), {{"x", {-1, 2}}})[0]),
                taken != 0 ? Values{1, 2} : Values{1, -2});
  }
}

TEST(OnnxImport, if_on_data_is_refused_by_name) {
  TestModel branch, model;
  branch.node("Abs", {"x"}, {"t"}).output("t");
  model.input("x", {"2"}).input("c", {}, DType::Bool);
  model.node("If", {"c"}, {"y"}, {}, "", {TestModel::graph_attribute("then_branch", branch)});
  model.output("y");
  EXPECT_TRUE(contains(import_error(model), "condition depends on data"));
}

TEST(OnnxImport, places_and_labels_come_from_node_names) {
  TestModel model;
  WireWriter node;
  node.put(1, std::string_view("x"));
  node.put(2, std::string_view("y"));
  node.put(3, std::string_view("/bert/encoder/layer.3/attention/self/Relu"));
  node.put(4, std::string_view("Relu"));
  model.input("x", {"2"}).raw(1, node.bytes()).output("y");
  const ir::Graph graph = import_model(model);
  const ir::Op& op = graph.entry().ops.back();
  EXPECT_EQ(op.layer, "layer.3");
  EXPECT_EQ(op.scope, "attention/self");
  EXPECT_EQ(op.location, "m.onnx:/bert/encoder/layer.3/attention/self/Relu");
}

TEST(OnnxImport, labels_come_from_the_modules_that_pytorch_writes) {
  WireWriter scopes, node;
  scopes.put(1, std::string_view("pkg.torch.onnx.name_scopes"));
  scopes.put(2, std::string_view("['', 'm', 'm.layers.11', 'm.layers.11.mlp', 'relu']"));
  node.put(1, std::string_view("x"));
  node.put(2, std::string_view("y"));
  node.put(4, std::string_view("Relu"));
  node.put(9, std::string_view(scopes.bytes()));
  TestModel model;
  model.input("x", {"2"}).raw(1, node.bytes()).output("y");
  const ir::Graph graph = import_model(model);
  EXPECT_EQ(graph.entry().ops.back().layer, "layers.11");
  EXPECT_EQ(graph.entry().ops.back().scope, "mlp");
}

/// A folder of its own, with a model whose tensor lies in a file beside it.
class OnnxExternal : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_ / "inside");
  }
  /// i64 [2], the shape that x is brought to.
  std::string import_with(const std::string& location, const std::string& offset = "8",
                          const std::string& length = "16") {
    WireWriter tensor;
    tensor.put(1, int64_t{2});
    tensor.put(2, static_cast<int64_t>(OnnxType::Int64));
    tensor.put(8, std::string_view("s"));
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
             {"location", location}, {"offset", offset}, {"length", length}}) {
      WireWriter pair;
      pair.put(1, std::string_view(key));
      pair.put(2, std::string_view(value));
      tensor.put(13, std::string_view(pair.bytes()));
    }
    tensor.put(14, int64_t{1});
    TestModel model;
    model.input("x", {"6"}).raw(5, tensor.bytes());
    model.node("Reshape", {"x", "s"}, {"y"}).output("y");
    std::ofstream(folder_ / "m.onnx", std::ios::binary) << model.bytes();
    try {
      return type_of_output(import_onnx((folder_ / "m.onnx").string()));
    } catch (const InputError& error) {
      return error.what();
    }
  }
  void write(const fs::path& path) {
    const std::vector<int64_t> numbers = {99, 2, 3};
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(numbers.data()), 24);
  }
  fs::path folder_;
};

TEST_F(OnnxExternal, data_is_read_where_it_is_needed) {
  write(folder_ / "m.data");
  EXPECT_EQ(import_with("m.data"), "f32[2,3]");
  write(folder_ / "inside" / "m.data");
  EXPECT_EQ(import_with("inside/m.data"), "f32[2,3]");
}

TEST_F(OnnxExternal, data_that_is_absent_is_told_where_it_is_needed) {
  EXPECT_TRUE(contains(import_with("absent.data"), "must be known"));
}

TEST_F(OnnxExternal, data_outside_the_folder_is_refused) {
  write(folder_.parent_path() / "outside.data");
  EXPECT_TRUE(contains(import_with("../outside.data"), "in the folder of the model"));
  EXPECT_TRUE(contains(import_with("inside/../../outside.data"), "in the folder of the model"));
  EXPECT_TRUE(contains(import_with((folder_ / "m.data").string()), "in the folder of the model"));
  fs::remove(folder_ / "link.data");
  fs::create_symlink(folder_.parent_path() / "outside.data", folder_ / "link.data");
  EXPECT_TRUE(contains(import_with("link.data"), "leads out"));
}

TEST_F(OnnxExternal, data_beyond_its_file_is_refused) {
  write(folder_ / "m.data");
  EXPECT_TRUE(contains(import_with("m.data", "16"), "which has 24"));
  EXPECT_TRUE(contains(import_with("m.data", "18446744073709551608"), "which has 24"));
  EXPECT_TRUE(contains(import_with("m.data", "8", "8"), "8 bytes of external data"));
  EXPECT_TRUE(contains(import_with("m.data", "0x8"), "not an offset"));
  EXPECT_TRUE(contains(import_with("m.data", "99999999999999999999"), "not an offset"));
}

TEST(OnnxImport, weights_need_not_be_there) {
  WireWriter tensor;
  for (int64_t d : {int64_t{1} << 20, int64_t{1} << 20}) tensor.put(1, d);
  tensor.put(2, static_cast<int64_t>(OnnxType::Float16));
  tensor.put(8, std::string_view("w"));
  tensor.put(14, int64_t{1});
  TestModel model;
  model.input("x", {"batch", "1048576"}, DType::F16).raw(5, tensor.bytes());
  model.node("MatMul", {"x", "w"}, {"y"}).output("y");
  EXPECT_EQ(parameters(import_model(model)), int64_t{1} << 40);
}

TEST(OnnxImport, stored_bytes_that_disagree_with_their_shape_are_refused) {
  WireWriter tensor;
  tensor.put(1, int64_t{4});
  tensor.put(2, static_cast<int64_t>(OnnxType::Float));
  tensor.put(8, std::string_view("w"));
  tensor.put(9, std::string_view("12345678"));
  TestModel model;
  model.input("x", {"4"}).raw(5, tensor.bytes()).node("Add", {"x", "w"}, {"y"}).output("y");
  EXPECT_TRUE(contains(import_error(model), "8 bytes where f32[4] takes 16"));
}

// Published parameter counts: torchvision resnet50, SqueezeNet 1.1 of the ONNX model zoo.
TEST(OnnxImport, networks_of_the_onnx_repository) {
  SKIP_WITHOUT_TEST_DATA("graphs/onnx/light_resnet50.onnx");
  const auto count = [](const char* file) {
    return parameters(import_onnx(test_data(std::string("graphs/onnx/") + file).string()));
  };
  EXPECT_EQ(count("light_resnet50.onnx"), 25557032);
  EXPECT_EQ(count("light_squeezenet.onnx"), 1235496);
}

TEST(OnnxImport, a_gpt2_of_contrib_ops_with_a_cache) {
  SKIP_WITHOUT_TEST_DATA("graphs/onnx/tiny-random-gpt2-fp32_past.onnx");
  const OnnxOptions options{.dims = {{"past_seq_len", 3}, {"total_seq_len", 10}}, .seq = 7};
  const ir::Graph graph =
      import_onnx(test_data("graphs/onnx/tiny-random-gpt2-fp32_past.onnx").string(), options);
  EXPECT_EQ(type_of_output(graph, 0), "f32[batch,7,1000]");
  EXPECT_EQ(type_of_output(graph, 1), "f32[2,batch,4,10,8]");
  int attentions = 0;
  for (const ir::Op& op : graph.entry().ops) {
    if (op.kind != ir::OpKind::Attention) continue;
    ++attentions;
    EXPECT_TRUE(op.attrs.get<bool>(ir::AttrKey::Causal));
  }
  EXPECT_EQ(attentions, 5);
}

}  // namespace
}  // namespace wafer::importers
