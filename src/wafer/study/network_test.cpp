#include "wafer/study/network.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

// A folder that is gone after the test.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("wafer-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string error_of(const NetworkRequest& request) {
  try {
    open_network(request);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

// The shape of BERT-large as its authors published it.
constexpr const char* BertLarge = R"({"model_type": "bert", "hidden_size": 1024,
  "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
  "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2,
  "architectures": ["BertForSequenceClassification"]})";

TEST(Network, opens_a_name_and_a_free_form) {
  EXPECT_EQ(open_network({.model = "bert-large"}).name, "bert-large");
  EXPECT_EQ(open_network({.model = "bert-large", .seq = 256}).tokens_per_sample, 256);
  EXPECT_EQ(open_network({.model = "gpt:layers=2,hidden=128,heads=2,vocab=100", .seq = 64})
                .tokens_per_sample,
            64);
}

TEST(Network, of_a_config_json_or_its_folder_is_that_of_the_built_in_name) {
  const Folder folder;
  const std::string file = folder.write("config.json", BertLarge);
  const NetworkFacts built_in = facts_of(open_network({.model = "bert-large", .seq = 128}), 1);
  for (const std::string& model : {file, folder.path(), folder.path() + "/"}) {
    const Network network = open_network({.model = model, .seq = 128});
    EXPECT_EQ(network.name, std::filesystem::path(folder.path()).filename().string());
    EXPECT_EQ(facts_of(network, 1).parameters, built_in.parameters);
    EXPECT_EQ(facts_of(network, 1).product_flops, built_in.product_flops);
  }
}

TEST(Network, suggests_the_nearest_name) {
  EXPECT_NE(error_of({.model = "bert-lrage"}).find("bert-large"), std::string::npos);
}

TEST(Network, tells_of_files_that_are_missing_or_of_an_unknown_kind) {
  EXPECT_NE(error_of({.model = "./nothing.onnx"}).find("nothing.onnx"), std::string::npos);
  const Folder folder;
  EXPECT_NE(error_of({.model = folder.path()}).find("config.json"), std::string::npos);
  const std::string weights = folder.write("model.safetensors", "x");
  EXPECT_NE(error_of({.model = weights}).find("expected an .onnx file, a config.json"),
            std::string::npos);
}

TEST(Network, has_no_dimension_to_bind_but_that_of_a_file) {
  EXPECT_NE(error_of({.model = "gpt2", .dims = {{"n", 4}}}).find("--dim n"), std::string::npos);
}

TEST(NetworkFacts, are_the_published_counts) {
  const auto parameters = [](const char* model) {
    return facts_of(open_network({.model = model, .train = false}), 1).parameters;
  };
  EXPECT_EQ(parameters("gpt2"), 124439808);
  EXPECT_EQ(parameters("resnet50"), 25557032);
  EXPECT_EQ(encoder_parameters("bert-base"), 109482240);
  EXPECT_EQ(encoder_parameters("bert-large"), 335141888);
  EXPECT_EQ(encoder_parameters("gpt2"), std::nullopt);
}

TEST(NetworkFacts, count_work_in_proportion_to_the_batch) {
  const Network network = open_network({.model = "bert-tiny", .train = false});
  const NetworkFacts one = facts_of(network, 1), four = facts_of(network, 4);
  EXPECT_EQ(four.product_flops, 4 * one.product_flops);
  EXPECT_EQ(four.parameters, one.parameters);
  EXPECT_GT(one.ops, 0);
  double by_kind = 0;
  for (const NetworkFacts::Kind& kind : one.kinds) by_kind += kind.flops;
  EXPECT_NEAR(by_kind, one.flops, 1e-6 * one.flops);
}

}  // namespace
}  // namespace wafer::study
