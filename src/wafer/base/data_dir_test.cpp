#include "wafer/base/data_dir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "wafer/base/error.h"

namespace wafer {
namespace {

namespace fs = std::filesystem;

/// Two directories, "mine" before "ours", both with a machine a; ours has b as well.
class DataDir : public testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    root_ = fs::path(testing::TempDir()) / ("wafer_data_dir_" + test);
    fs::remove_all(root_);
    write("mine/machines/a.toml");
    write("mine/machines/notes.txt");
    write("ours/machines/a.toml");
    write("ours/machines/b.toml");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& relative) {
    fs::create_directories((root_ / relative).parent_path());
    std::ofstream(root_ / relative) << relative;
  }
  std::vector<fs::path> dirs() const { return {root_ / "mine", root_ / "ours"}; }

  fs::path root_;
};

TEST_F(DataDir, earlier_directory_hides_the_later) {
  EXPECT_EQ(find_data("machines/a.toml", dirs()), root_ / "mine/machines/a.toml");
  EXPECT_EQ(find_data("machines/b.toml", dirs()), root_ / "ours/machines/b.toml");
}

TEST_F(DataDir, names_every_place_looked_at_when_there_is_no_such_file) {
  try {
    find_data("machines/c.toml", dirs());
    FAIL() << "there is no c.toml";
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("WAFER_DATA_DIR"), std::string::npos) << text;
    EXPECT_NE(text.find((root_ / "mine/machines/c.toml").string()), std::string::npos) << text;
    EXPECT_NE(text.find((root_ / "ours/machines/c.toml").string()), std::string::npos) << text;
  }
}

TEST_F(DataDir, lists_the_files_of_all_directories_by_name) {
  const std::map<std::string, fs::path> expected = {{"a", root_ / "mine/machines/a.toml"},
                                                    {"b", root_ / "ours/machines/b.toml"}};
  EXPECT_EQ(list_data("machines", ".toml", dirs()), expected);
  EXPECT_TRUE(list_data("absent", ".toml", dirs()).empty());
}

TEST_F(DataDir, asks_the_environment_first_and_the_source_tree_last) {
  ASSERT_EQ(setenv("WAFER_DATA_DIR", (root_ / "mine").c_str(), 1), 0);
  const std::vector<fs::path> searched = data_dirs();
  ASSERT_EQ(unsetenv("WAFER_DATA_DIR"), 0);
  EXPECT_EQ(searched.front(), root_ / "mine");
  EXPECT_EQ(searched.back(), fs::path(WAFER_SOURCE_DIR));
  EXPECT_EQ(data_dirs().size(), searched.size() - 1);
}

}  // namespace
}  // namespace wafer
