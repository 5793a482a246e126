#include "wafer/machine/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/machine/numbers.h"

namespace wafer::machine {
namespace {

namespace fs = std::filesystem;

// A directory of its own for each test, with the files that it writes.
class UserFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / "machine_test" / test->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  static std::string refusal(const std::string& name_or_path) {
    try {
      load(name_or_path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "(no error)";
  }

  fs::path folder_;
};

TEST(Load, knows_the_three_generations) {
  for (const char* name : {"wse1", "wse2", "wse3"}) {
    const std::vector<std::string> all = names();
    EXPECT_NE(std::find(all.begin(), all.end(), name), all.end()) << name;
  }
}

TEST(Load, knows_seven_clusters_of_gpus) {
  for (const char* name :
       {"v100-32gb", "v100-dgx2h", "a100-40gb", "a100-80gb", "h100", "h200", "b200"}) {
    EXPECT_TRUE(std::holds_alternative<GpuCluster>(load(name))) << name;
  }
}

TEST(Load, reads_a_gpu_its_node_and_its_network) {
  const GpuCluster cluster = cluster_of(load("a100-80gb"), "a test");
  EXPECT_EQ(cluster.gpu.f16.value, FlopsPerSecond(312e12));
  EXPECT_EQ(cluster.gpu.memory.value, Bytes(80e9));
  EXPECT_EQ(cluster.node.gpus.value, 8);
  EXPECT_EQ(cluster.node.link.value, BytesPerSecond(600e9 / 2));
  EXPECT_EQ(cluster.node.nic.value, BytesPerSecond(200e9 / 8));
}

TEST(Load, claims_no_calibration_for_gpus_without_measurements) {
  EXPECT_FALSE(cluster_of(load("h200"), "a test").calibrated);
  EXPECT_FALSE(cluster_of(load("b200"), "a test").calibrated);
}

TEST(WaferOf, refuses_a_cluster_and_names_it) {
  try {
    wafer_of(load("h100"), "weight streaming");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_TRUE(
        contains(error.what(), "h100 is a cluster of GPUs; weight streaming needs a wafer"));
  }
}

TEST(Load, names_a_machine_after_its_file) { EXPECT_EQ(name_of(load("wse2")), "wse2"); }

TEST(Load, reads_the_values_of_a_file_into_their_places) {
  const auto wafer = std::get<Wafer>(load("wse2"));
  EXPECT_EQ(wafer.generation, "WSE-2");
  EXPECT_EQ(wafer.process, "TSMC 7 nm");
  EXPECT_TRUE(wafer.calibrated);
  EXPECT_EQ(wafer.fabric.width.value, 757);
  EXPECT_EQ(wafer.fabric.height.value, 996);
  EXPECT_EQ(wafer.sram.bytes.value, Bytes(48 * 1024));
  EXPECT_EQ(wafer.lanes.f32_multiply_add.value, 1);
  EXPECT_EQ(wafer.router.hop.value, Cycles(1));
  EXPECT_EQ(wafer.router.hop.mark, Mark::Documented);
  EXPECT_TRUE(contains(wafer.router.hop.source, "arXiv:2404.15888"));
  EXPECT_EQ(wafer.core.input_queue_words.value, (std::vector<int64_t>{6, 6, 4, 4, 2, 2, 2, 2}));
  EXPECT_EQ(wafer.io.in.value, BytesPerSecond(1.2e12 / 8));
}

TEST(Load, claims_no_calibration_for_generations_without_training_measurements) {
  EXPECT_FALSE(std::get<Wafer>(load("wse1")).calibrated);
  EXPECT_FALSE(std::get<Wafer>(load("wse3")).calibrated);
}

TEST(Load, finds_a_source_for_every_number_of_every_shipped_machine) {
  for (const std::string& name : names()) {
    for (const Number& number : numbers(load(name))) {
      EXPECT_GE(number.source.size(), 8u) << name << " " << number.key;
      EXPECT_TRUE(mark_named(name_of(number.mark))) << name << " " << number.key;
    }
  }
}

TEST(Load, marks_as_fitted_only_the_constants_of_the_cost_models) {
  for (const std::string& name : names()) {
    for (const Number& number : numbers(load(name))) {
      const bool constant = number.key.starts_with("fitted.") ||
                            number.key.starts_with("resident.") ||
                            number.key.starts_with("pipelined.");
      EXPECT_TRUE(constant || number.mark != Mark::Fitted) << name << " " << number.key;
    }
  }
}

TEST_F(UserFile, is_found_by_its_path) {
  const std::string path = write("mine.toml", "base = \"wse2\"\ndescription = \"mine\"\n");
  const auto wafer = std::get<Wafer>(load(path));
  EXPECT_EQ(wafer.name, "mine");
  EXPECT_EQ(wafer.description, "mine");
}

TEST_F(UserFile, says_only_what_differs_from_its_base) {
  const std::string path = write("mine.toml", R"(
base = "wse2"
description = "a wafer with twice the links"
router.link_bits = { value = 64, mark = "assumed", source = "a what-if" }
)");
  const auto mine = numbers(load(path));
  const auto wse2 = numbers(load("wse2"));
  ASSERT_EQ(mine.size(), wse2.size());
  for (size_t i = 0; i < mine.size(); ++i) {
    const bool changed = mine[i].key == "router.link_bits";
    EXPECT_EQ(mine[i].value, changed ? std::vector<double>{64} : wse2[i].value) << mine[i].key;
    EXPECT_EQ(mine[i].source, changed ? "a what-if" : wse2[i].source) << mine[i].key;
  }
}

TEST_F(UserFile, is_not_calibrated_by_the_measurements_of_its_base) {
  const std::string head = "base = \"wse2\"\ndescription = \"mine\"\n";
  EXPECT_FALSE(std::get<Wafer>(load(write("a.toml", head))).calibrated);
  EXPECT_TRUE(std::get<Wafer>(load(write("b.toml", head + "calibrated = true\n"))).calibrated);
}

TEST_F(UserFile, finds_a_base_beside_itself) {
  write("first.toml", "base = \"wse3\"\ndescription = \"first\"\n");
  const std::string path =
      write("second.toml", "base = \"first.toml\"\ndescription = \"second\"\n");
  EXPECT_EQ(std::get<Wafer>(load(path)).generation, "WSE-3");
}

TEST_F(UserFile, may_not_lead_back_to_itself) {
  const std::string path = write("a.toml", "base = \"b.toml\"\ndescription = \"a\"\n");
  write("b.toml", "base = \"./a.toml\"\ndescription = \"b\"\n");
  EXPECT_TRUE(contains(refusal(path), "its base leads back to itself"));
}

TEST_F(UserFile, is_told_of_a_mistake_in_its_base_by_that_file) {
  write("broken.toml", "base = \"wse2\"\ndescription = 3\n");
  const std::string path = write("mine.toml", "base = \"broken.toml\"\ndescription = \"mine\"\n");
  EXPECT_TRUE(contains(refusal(path), "broken.toml:2:"));
}

TEST_F(UserFile, must_be_there_and_be_a_small_regular_file) {
  EXPECT_TRUE(contains(refusal((folder_ / "absent.toml").string()), "absent.toml"));
  EXPECT_TRUE(contains(refusal(folder_.string() + "/"), "not a regular file"));
  EXPECT_TRUE(contains(refusal("/dev/zero"), "not a regular file"));
  EXPECT_TRUE(contains(refusal(write("large.toml", std::string(2 << 20, '#'))),
                       "at most 1048576 bytes, found 2097152"));
}

TEST_F(UserFile, is_what_an_unknown_name_might_have_been) {
  const std::string message = refusal("wse-2");
  EXPECT_TRUE(contains(message, "did you mean wse2?"));
  EXPECT_TRUE(contains(message, "wse1, wse2, wse3"));
  EXPECT_TRUE(contains(message, "given by its path"));
}

TEST(Load, refuses_keys_of_endless_parts_and_memories_without_room) {
  std::string dots;
  for (int i = 0; i < 40000; ++i) dots += "a.";
  EXPECT_THROW(parse("[" + dots + "b]\n", "dots.toml"), InputError);
  EXPECT_THROW(parse("base = \"wse2\"\n[sram]\nreserved_bytes = { value = 49152, mark = "
                     "\"assumed\", source = \"a test, nothing else\" }\n",
                     "full.toml"),
               InputError);
}

}  // namespace
}  // namespace wafer::machine
