#include "wafer/base/mapped_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "wafer/base/error.h"

namespace wafer {
namespace {

std::filesystem::path write_file(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(MappedFile, shows_the_bytes_of_a_file) {
  const MappedFile file(write_file("mapped_file_bytes", std::string("a\0b\n", 4)));
  EXPECT_EQ(file.bytes(), std::string_view("a\0b\n", 4));
}

TEST(MappedFile, of_an_empty_file_is_empty) {
  EXPECT_TRUE(MappedFile(write_file("mapped_file_empty", "")).bytes().empty());
}

TEST(MappedFile, moves_its_bytes) {
  MappedFile file(write_file("mapped_file_moved", "xyz"));
  const MappedFile other = std::move(file);
  EXPECT_EQ(other.bytes(), "xyz");
}

TEST(MappedFile, refuses_a_folder_and_an_absent_file_by_name) {
  EXPECT_THROW(MappedFile("/"), InputError);
  try {
    const MappedFile absent("/nowhere/model.onnx");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("/nowhere/model.onnx"), std::string::npos);
  }
}

}  // namespace
}  // namespace wafer
