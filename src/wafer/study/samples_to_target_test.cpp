#include "wafer/study/samples_to_target.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "wafer/base/error.h"
#include "wafer/study/workbench.h"

namespace wafer::study {
namespace {

SamplesToTarget parse(const std::string& rows) {
  return samples_to_target(Csv::parse("batch,samples,target,source\n" + rows, "curve.csv"));
}

std::string problem(const std::string& rows) {
  try {
    parse(rows);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// A curve in a file of its own for the time of a test.
class CurveFile {
 public:
  explicit CurveFile(const std::string& rows)
      : path_((std::filesystem::temp_directory_path() /
               (std::string("curve_") +
                ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv"))
                  .string()) {
    std::ofstream(path_) << "batch,samples,target,source\n" << rows;
  }
  ~CurveFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr const char* Doubling = "100,1000,loss 2,here\n400,4000,loss 2,there\n";

TEST(SamplesToTarget, keeps_the_source_of_each_batch) {
  const SamplesToTarget curve = parse(Doubling);
  EXPECT_EQ(curve.target, "loss 2");
  ASSERT_EQ(curve.points.size(), 2u);
  EXPECT_EQ(curve.points.at(400).samples, 4000);
  EXPECT_EQ(curve.points.at(400).source, "there");
}

TEST(SamplesToTarget, names_every_line_that_is_wrong) {
  const std::string what = problem("0,1000,a,b\n10,many,a,b\n20,5,c,b\n20,5,a,b\n");
  EXPECT_NE(what.find("line 2, column batch"), std::string::npos) << what;
  EXPECT_NE(what.find("line 3, column samples: expected a number from 1, found \"many\""),
            std::string::npos)
      << what;
  EXPECT_NE(what.find("line 4: target \"c\", and before it \"a\""), std::string::npos) << what;
  EXPECT_NE(what.find("line 5: batch 20 again"), std::string::npos) << what;
  EXPECT_NE(problem("").find("no line with a batch"), std::string::npos);
}

TEST(TargetOf, takes_a_batch_of_the_curve_as_it_was_measured) {
  const CurveFile file(Doubling);
  const Target target = target_of(file.path(), 400);
  EXPECT_EQ(target.samples, 4000);
  EXPECT_EQ(target.quality, "loss 2");
  EXPECT_EQ(target.source, "there");
}

TEST(TargetOf, goes_straight_between_neighbours_in_logarithms) {
  // 200 is half way from 100 to 400 in logarithms, 2000 from 1000 to 4000.
  const CurveFile file(Doubling);
  const Target target = target_of(file.path(), 200);
  EXPECT_NEAR(target.samples, 2000, 1e-9);
  EXPECT_EQ(target.source, "between batches 100 and 400 of here");
}

TEST(TargetOf, refuses_batches_that_nobody_measured) {
  const CurveFile file(Doubling);
  EXPECT_THROW(target_of(file.path(), 99), InputError);
  EXPECT_THROW(target_of(file.path(), 401), InputError);
}

TEST(TargetOf, takes_a_number_for_any_batch) {
  EXPECT_EQ(target_of("3.5e6", 7).samples, 3.5e6);
  EXPECT_THROW(target_of("0", 7), InputError);
}

TEST(TargetOf, tells_the_curves_that_there_are) {
  try {
    target_of("mlperf", 256);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("mlperf-bert-v0.7, mlperf-bert-v2.0"), std::string::npos);
  }
}

TEST(TargetOf, knows_the_samples_that_mlperf_bert_needs) {
  // Mean of the 20 runs at batch 448, mlcommons/logging @7bbf792.
  EXPECT_NEAR(target_of("mlperf-bert-v2.0", 448).samples, 2625459, 1);
}

Result mlperf(int64_t systems, int64_t batch) {
  Question q{.model = "bert-large-mlm", .machine = "a100-40gb"};
  q.systems = systems;
  q.batch = batch;
  q.seq = 256;  // not padded: lengths spread evenly over 0 to 512
  q.cluster.length_variation = 0.577;
  q.samples_to_target = "mlperf-bert-v0.7";
  return answer(q);
}

TEST(Mlperf, bert_scales_from_8_to_256_gpus_as_measured) {
  // NVIDIA's logs of MLPerf Training v0.7: 26234.9 samples/s on 256 A100, 1188.8 on 8; 49.01 and
  // 3.36 minutes.
  const Result few = mlperf(8, 256), many = mlperf(256, 5120);
  const double rates = many.answer.samples_per_second / few.answer.samples_per_second;
  EXPECT_NEAR(rates, 26234.9 / 1188.8, 0.1 * 26234.9 / 1188.8);
  const double needed = many.target->samples / few.target->samples;
  EXPECT_NEAR(needed, 4500480.0 / 3000064, 1e-12);
  const double times = few.time_to_target->value / many.time_to_target->value;
  EXPECT_NEAR(times, rates / needed, 1e-9);
  EXPECT_NEAR(times, 49.01 / 3.36, 0.1 * 49.01 / 3.36);
}

TEST(Mlperf, inference_has_no_target) {
  Question q{.model = "bert-large", .machine = "a100-40gb"};
  q.phase = Phase::Infer;
  q.samples_to_target = "1e6";
  EXPECT_THROW(check(q), InputError);
}

}  // namespace
}  // namespace wafer::study
