#include "wafer/plan/pipelined.h"

#include <gtest/gtest.h>

#include "wafer/plan/plan.h"

namespace wafer::plan {
namespace {

PipelineKernel kernel(const char* name, int64_t pes, Rectangle at) {
  PipelineKernel k;
  k.name = name;
  k.layer = "layer";
  k.pes = pes;
  k.at = at;
  return k;
}

Pipeline two() {
  Pipeline p;
  p.period = Cycles(100);
  p.width = 4;
  p.height = 2;
  p.region = 8;
  p.kernels = {kernel("a", 4, {0, 0, 2, 2}), kernel("b", 3, {2, 0, 2, 2})};
  return p;
}

TEST(Pipeline, counts_PEs_of_kernels_and_fifos_apart) {
  Pipeline p = two();
  p.kernels[1].kind = PipelineKernel::Kind::Fifo;
  EXPECT_EQ(p.kernel_pes(), 4);
  EXPECT_EQ(p.fifo_pes(), 3);
}

TEST(Pipeline, holds_where_rectangles_are_disjoint_and_large_enough) {
  EXPECT_TRUE(problems_of(two()).empty());
}

TEST(Pipeline, names_each_problem) {
  Pipeline p = two();
  p.kernels[1].at.x = 1;
  p.kernels[0].pes = 5;
  p.region = 7;
  EXPECT_EQ(problems_of(p),
            (std::vector<std::string>{"kernels take 8 PEs of 7",
                                      "a needs 5 PEs, lies on 2 x 2 at 0, 0", "b overlaps a"}));
  p = two();
  p.kernels[1].at.y = 1;
  p.period = Cycles(0);
  EXPECT_EQ(problems_of(p),
            (std::vector<std::string>{"the period is too short", "b sticks out: 2 x 2 at 2, 1"}));
}

TEST(Pipeline, is_printed_kernel_by_kernel) {
  Plan plan;
  plan.target = Target::WaferPipelined;
  plan.pipeline = two();
  EXPECT_NE(print_text(plan).find("layer 0/a [product] 4 PEs on 2 x 2 at 0, 0"), std::string::npos);
  EXPECT_NE(print_json(plan).find("\"period_cycles\": 100.0"), std::string::npos);
}

TEST(Pipeline, is_asked_for_in_a_plan_of_that_target) {
  Plan plan;
  plan.target = Target::WaferPipelined;
  plan.training = false;
  EXPECT_EQ(problems_of(plan), (std::vector<std::string>{"no pipeline"}));
}

}  // namespace
}  // namespace wafer::plan
