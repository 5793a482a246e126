#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "wafer/importers/onnx_export.h"
#include "wafer/models/models.h"
#include "wafer/study/workbench.h"

// Nothing keys on names: a model that comes through the ONNX door costs what its name costs.

namespace wafer::study {
namespace {

namespace fs = std::filesystem;

/// The model's name in letters and digits: tests of several models run at once.
std::string file_name(const std::string& model) {
  std::string name = model;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

class OnnxDoor : public testing::TestWithParam<const char*> {};

TEST_P(OnnxDoor, an_export_costs_what_the_name_costs) {
  const std::string model = GetParam();
  const models::ModelSpec spec = models::parse(model);
  const fs::path file = fs::path(testing::TempDir()) / (file_name(model) + ".onnx");
  importers::export_onnx(models::build(spec, {.dtype = DType::F32, .train = false}), file.string());
  Workbench bench;
  const int64_t seq = models::sequence_length(spec);
  Question named{.model = model, .batch = 64};
  Question exported{.model = file.string(), .batch = 64};
  if (seq > 1 && model != "vit-base") exported.seq = seq;
  const Result a = bench.answer(named);
  const Result b = bench.answer(exported);
  EXPECT_NEAR(b.answer.samples_per_second / a.answer.samples_per_second, 1, 0.01);
  EXPECT_NEAR(b.answer.model_flops_per_step / a.answer.model_flops_per_step, 1, 0.01);
  EXPECT_EQ(a.micro_batch, b.micro_batch);
  fs::remove(file);
}

INSTANTIATE_TEST_SUITE_P(Models, OnnxDoor,
                         testing::Values("bert-base", "bert-large", "gpt2", "gpt3-1.3b", "vit-base",
                                         "llama:layers=4,hidden=512,heads=8,kv_heads=2,vocab=1000",
                                         "resnet50"),
                         [](const auto& info) { return file_name(info.param); });

}  // namespace
}  // namespace wafer::study
