// docs/machines.md says what the code does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "support/contains.h"
#include "wafer/machine/fields.h"
#include "wafer/machine/figures.h"
#include "wafer/machine/load.h"

namespace wafer::machine {
namespace {

std::string document() {
  std::ifstream file(std::string(WAFER_SOURCE_DIR) + "/docs/machines.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The rows of one kind of machine, in the part of the document that starts with `heading`.
template <typename M>
void expect_rows(const std::string& heading) {
  const std::string whole = document();
  const size_t begin = whole.find("## " + heading + "\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string text = whole.substr(begin, whole.find("\n## ", begin) - begin);
  size_t rows = 0;
  const M machine;
  visit_numbers(machine, [&]<typename T>(const Field& field, const Sourced<T>&) {
    const char* kind = List<T> ? "list of whole" : Whole<T> ? "whole" : "number";
    EXPECT_TRUE(
        contains(text, fmt::format("\n| `{}` | {} | {} | {:g} | {:g} | {} |\n", field.key,
                                   field.unit, kind, field.least, field.most, field.meaning)));
    ++rows;
  });
  size_t found = 0;
  for (size_t at = 0; (at = text.find("\n| `", at)) != std::string::npos;) ++found, ++at;
  EXPECT_EQ(found, rows);
}

TEST(MachinesDocument, has_the_row_of_every_number_of_a_wafer_and_no_other) {
  expect_rows<Wafer>("Numbers of a wafer");
}

TEST(MachinesDocument, has_the_row_of_every_number_of_a_cluster_and_no_other) {
  expect_rows<GpuCluster>("Numbers of a GPU cluster");
}

TEST(MachinesDocument, shows_a_machine_that_loads) {
  const std::string text = document();
  const size_t begin = text.find("base = \"wse3\"");
  ASSERT_NE(begin, std::string::npos);
  const std::string example = text.substr(begin, text.find("```", begin) - begin);
  const auto wafer = std::get<Wafer>(parse(example, "example.toml"));
  EXPECT_EQ(wafer.clock.value, Hertz(1.5e9));
  EXPECT_EQ(wafer.io.in.value, BytesPerSecond(12 * 400e9 / 8));
  EXPECT_EQ(wafer.sram.bytes.value, Bytes(2 * 48 * 1024));
  EXPECT_EQ(wafer.lanes.f16_multiply_add.value, 8);
}

}  // namespace
}  // namespace wafer::machine
