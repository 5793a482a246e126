#include "wafer/study/coverage.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"
#include "wafer/machine/load.h"

namespace wafer::study {
namespace {

const machine::Wafer& wse2() {
  static const machine::Wafer wafer = std::get<machine::Wafer>(machine::load("wse2"));
  return wafer;
}

Situation bert_at(double seq_len, double hidden) {
  return {.machine = "wse2",
          .layers = 24,
          .hidden = hidden,
          .seq_len = seq_len,
          .tokens_per_micro_batch = 131072,
          .kernels = {"attention", "weight_stream_gemm"}};
}

// Measurements at sequence 128 and 2048, width 1024 and 4096.
Coverage two_rows() {
  Coverage c{.machine = "wse2", .numbers = fingerprint(wse2()), .expected_error = 0.08};
  cover(c, bert_at(128, 1024));
  cover(c, bert_at(2048, 4096));
  return c;
}

TEST(Coverage, has_the_least_and_the_most_of_its_rows) {
  const Coverage c = two_rows();
  EXPECT_EQ(c.rows, 2);
  EXPECT_EQ(c.ranges.at("seq_len").least, 128);
  EXPECT_EQ(c.ranges.at("seq_len").most, 2048);
  EXPECT_EQ(c.precision_bits, std::vector<int>{16});
}

TEST(Trust, gives_the_expected_error_and_no_reason_inside_the_ranges) {
  const Trust t = trust({two_rows()}, bert_at(512, 2048), wse2());
  EXPECT_EQ(t.expected_error, 0.08);
  EXPECT_TRUE(t.extrapolated.empty());
}

TEST(Trust, names_the_axis_that_lies_outside) {
  const Trust t = trust({two_rows()}, bert_at(512, 6144), wse2());
  ASSERT_EQ(t.extrapolated.size(), 1u);
  EXPECT_EQ(t.extrapolated[0], "hidden width 6144: measurements cover 1024 to 4096");
  EXPECT_EQ(t.expected_error, 0.08);
}

TEST(Trust, names_a_kernel_and_a_precision_that_no_row_had) {
  Situation s = bert_at(128, 1024);
  s.kernels = {"attention", "convolution"};
  s.precision_bits = 32;
  const Trust t = trust({two_rows()}, s, wse2());
  ASSERT_EQ(t.extrapolated.size(), 2u);
  EXPECT_EQ(t.extrapolated[0], "precision of 32 bit: measurements cover 16 bit");
  EXPECT_EQ(t.extrapolated[1], "kernel convolution: no measured network has it");
}

TEST(Trust, expects_no_error_where_no_row_of_the_kind_counts) {
  Situation s = bert_at(128, 1024);
  s.phase = Phase::Infer;
  const Trust t = trust({two_rows()}, s, wse2());
  EXPECT_FALSE(t.expected_error);
  ASSERT_EQ(t.extrapolated.size(), 1u);
  EXPECT_EQ(t.extrapolated[0], "no measurement of phase infer in mode streamed on wse2 counts");
}

TEST(Trust, expects_no_error_of_a_machine_with_other_numbers_and_the_same_name) {
  const machine::Machine faster = machine::overridden(machine::Machine(wse2()), "clock_hz", 1e9);
  const Trust t = trust({two_rows()}, bert_at(128, 1024), faster);
  EXPECT_FALSE(t.expected_error);
  ASSERT_EQ(t.extrapolated.size(), 2u);
  EXPECT_EQ(t.extrapolated[0], "machine wse2 is not calibrated: its rates come from documents");
  EXPECT_EQ(t.extrapolated[1], "machine wse2 has other numbers than the one that was validated");
}

TEST(Trust, holds_a_cluster_against_the_coverage_of_its_kind) {
  Situation s = bert_at(128, 1024);
  s.machine = "h100";
  s.mode = Mode::Cluster;
  const machine::Machine h100 = machine::load("h100");
  Coverage c{.machine = "h100",
             .mode = Mode::Cluster,
             .numbers = fingerprint(h100),
             .expected_error = 0.03};
  cover(c, s);
  EXPECT_EQ(trust({c}, s, h100).expected_error, 0.03);
  s.systems = 64;
  const Trust t = trust({c}, s, h100);
  ASSERT_EQ(t.extrapolated.size(), 1u);
  EXPECT_EQ(t.extrapolated[0], "systems 64: measurements cover only 1");
}

TEST(CoverageFile, is_read_as_it_was_written) {
  Coverage cluster = two_rows();
  cluster.mode = Mode::Cluster;
  const std::string text = print_coverage({two_rows(), cluster});
  EXPECT_EQ(print_coverage(parse_coverage(text, "coverage.json")), text);
}

TEST(CoverageFile, is_refused_with_its_name_when_it_is_not_what_is_expected) {
  for (const char* text : {"", "[1]", "{\"groups\": [{}]}",
                           "{\"groups\": [{\"machine\": \"w\", \"mode\": \"odd\"}]}"}) {
    try {
      parse_coverage(text, "coverage.json");
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()).find("coverage.json: "), 0u) << text;
    }
  }
}

}  // namespace
}  // namespace wafer::study
