// Files that lie: an import ends with a graph or with InputError (or CapacityError), nothing else.
#include <fstream>
#include <iterator>

#include "support/onnx_run.h"
#include "support/test_data.h"
#include "wafer/importers/onnx_export.h"
#include "wafer/models/models.h"

namespace wafer::importers {
namespace {

/// Whether the import ends well: true for a graph, false for an error that names the file.
bool survives(const std::string& bytes) {
  try {
    import_onnx_bytes(bytes, "m.onnx", {.batch = 2, .seq = 3});
    return true;
  } catch (const InputError&) {
    return false;
  } catch (const CapacityError&) {
    return false;
  }
}

std::string small_network() {
  return onnx_bytes(models::build("llama:layers=1,hidden=32,heads=4,vocab=19,seq=6,kv_heads=2",
                                  {.dtype = DType::F32, .train = false}),
                    "m.onnx");
}

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_truncations_survive(const std::string& bytes, size_t step) {
  size_t imported = 0;
  for (size_t length = 0; length < bytes.size(); length += step) {
    imported += survives(bytes.substr(0, length)) ? 1 : 0;
  }
  EXPECT_LE(imported, 1u);  // what misses its end is no model
}

TEST(OnnxHostile, a_file_cut_at_every_97th_byte) {
  const std::string bytes = small_network();
  ASSERT_TRUE(survives(bytes));
  expect_truncations_survive(bytes, 97);
}

TEST(OnnxHostile, a_file_with_a_bit_turned) {
  const std::string bytes = small_network();
  size_t seed = 1;
  for (int i = 0; i < 600; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    std::string turned = bytes;
    turned[(seed >> 33) % bytes.size()] ^= static_cast<char>(1U << (seed >> 61));
    survives(turned);  // either way, it ends
  }
}

TEST(OnnxHostile, a_file_with_a_byte_that_counts_to_the_end) {
  const std::string bytes = small_network();
  for (size_t at = 0; at < bytes.size(); at += 53) {
    std::string lying = bytes;
    lying[at] = '\x7f';
    survives(lying);
    lying[at] = '\xff';
    survives(lying);
  }
}

TEST(OnnxHostile, cut_files_of_others) {
  SKIP_WITHOUT_TEST_DATA("graphs/onnx/light_squeezenet.onnx");
  expect_truncations_survive(file_bytes(test_data("graphs/onnx/light_squeezenet.onnx").string()),
                             97);
  expect_truncations_survive(
      file_bytes(test_data("graphs/onnx/tiny-random-gpt2-fp32_past.onnx").string()), 97 * 97);
}

TEST(OnnxHostile, nothing_and_other_files) {
  EXPECT_TRUE(contains(import_error(TestModel()), "no outputs"));
  EXPECT_FALSE(survives(""));
  EXPECT_FALSE(survives("HloModule jit_step, entry_computation_layout={()->f32[]}\n"));
  EXPECT_FALSE(survives(std::string(1000, '\0')));
  EXPECT_FALSE(survives("{\"architectures\": [\"BertModel\"]}"));
}

TEST(OnnxHostile, dimensions_without_measure) {
  for (const char* huge : {"4611686018427387904", "9223372036854775807"}) {
    TestModel model;
    model.input("x", {huge, huge}).node("Relu", {"x"}, {"y"}).output("y");
    EXPECT_FALSE(survives(model.bytes()));
  }
  TestModel model;
  WireWriter tensor;
  for (int i = 0; i < 3; ++i) tensor.put(1, int64_t{1} << 40);
  tensor.put(2, static_cast<int64_t>(OnnxType::Int64));
  tensor.put(8, std::string_view("w"));
  model.input("x", {"2"}).raw(5, tensor.bytes()).node("Reshape", {"x", "w"}, {"y"}).output("y");
  EXPECT_FALSE(survives(model.bytes()));
}

TEST(OnnxHostile, constants_that_would_fill_memory_stay_small) {
  TestModel model;
  model.tensor("shape", ints_of({2}, {int64_t{1} << 30, int64_t{1} << 30}));
  model.node("ConstantOfShape", {"shape"}, {"c"}).node("Exp", {"c"}, {"y"}).output("y");
  EXPECT_TRUE(survives(model.bytes()));
  TestModel range;
  range.tensor("a", ints_of({}, {0})).tensor("b", ints_of({}, {INT64_MAX}));
  range.tensor("c", ints_of({}, {1})).node("Range", {"a", "b", "c"}, {"y"}).output("y");
  EXPECT_FALSE(survives(range.bytes()));
}

TEST(OnnxHostile, attributes_out_of_all_bounds) {
  const std::vector<std::pair<const char*, OnnxAttrs>> nodes = {
      {"Transpose", {{"perm", ir::Ints{5, -9}}}},
      {"Transpose", {{"perm", ir::Ints{0, 0}}}},
      {"Concat", {{"axis", int64_t{1} << 60}}},
      {"Softmax", {{"axis", INT64_MIN}}},
      {"Flatten", {{"axis", int64_t{99}}}},
      {"Split", {{"num_outputs", int64_t{1} << 62}}},
      {"MaxPool", {{"kernel_shape", ir::Ints{INT64_MAX, -1}}}},
      {"ReduceSum", {{"keepdims", INT64_MIN}}},
      {"Cast", {{"to", int64_t{1} << 40}}},
      {"Gather", {}},
      {"Relu", {{"axis", std::string("x")}}},
      {"DepthToSpace", {{"blocksize", INT64_MAX}}},
      {"SpaceToDepth", {{"blocksize", int64_t{0}}}},
      {"EyeLike", {{"k", INT64_MAX}}},
      {"LRN", {{"size", INT64_MAX}}},
      {"Einsum", {{"equation", std::string("....,..->.")}}},
  };
  for (const auto& [op, attrs] : nodes) {
    SCOPED_TRACE(op);
    TestModel model;
    model.input("x", {"2", "3"}).node(op, {"x"}, {"y"}, attrs).output("y");
    survives(model.bytes());
    TestModel image;
    image.input("x", {"1", "4", "2", "2"}).node(op, {"x", "x"}, {"y"}, attrs).output("y");
    survives(image.bytes());
  }
}

}  // namespace
}  // namespace wafer::importers
