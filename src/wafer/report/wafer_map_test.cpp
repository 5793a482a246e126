#include "wafer/report/wafer_map.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "wafer/base/error.h"
#include "wafer/report/xml.h"

namespace wafer::report {
namespace {

using plan::PipelineKernel;

plan::Plan two_kernels() {
  plan::Plan plan;
  plan.model = "a<b";
  plan.machine = "wse2";
  plan.target = plan::Target::WaferPipelined;
  plan::Pipeline& p = plan.pipeline.emplace();
  p.period = Cycles(1234567);
  p.width = 760;
  p.height = 500;
  PipelineKernel up;
  up.name = "mlp/up";
  up.layer = "layer";
  up.number = 3;
  up.pes = 12000;
  up.at = {10, 20, 200, 60};
  PipelineKernel fifo = up;
  fifo.name = "fifo";
  fifo.kind = PipelineKernel::Kind::Fifo;
  fifo.pes = 16;
  fifo.at = {210, 20, 4, 4};
  p.kernels = {up, fifo};
  return plan;
}

// The wafer is drawn 760 wide from 20, 74: a PE a pixel here.
TEST(WaferMap, draws_each_kernel_where_it_lies) {
  const std::string svg = wafer_map_svg(two_kernels());
  EXPECT_TRUE(contains(svg,
                       "class=\"product\" x=\"30.00\" y=\"94.00\" width=\"200.00\" "
                       "height=\"60.00\""));
  EXPECT_TRUE(contains(svg, "class=\"fifo\" x=\"230.00\" y=\"94.00\" width=\"4.00\""));
}

TEST(WaferMap, names_what_there_is_room_to_name_and_tells_the_rest_at_the_pointer) {
  const std::string svg = wafer_map_svg(two_kernels());
  EXPECT_TRUE(contains(svg, ">layer 3 mlp/up</text>"));
  EXPECT_FALSE(contains(svg, "fifo</text>"));
  EXPECT_TRUE(contains(svg, "<title>layer 3, fifo: 16 PEs on 4 x 4</title>"));
}

TEST(WaferMap, says_what_colors_mean_and_how_full_the_wafer_is) {
  const std::string svg = wafer_map_svg(two_kernels());
  EXPECT_TRUE(contains(svg, ">matrix product</text>"));
  EXPECT_TRUE(contains(svg, ">1 of them, 12,000 PEs</text>"));
  EXPECT_FALSE(contains(svg, ">attention</text>"));  // there is none
  EXPECT_TRUE(contains(svg, "a sample every 1,234,567 cycles; 12,016 of 380,000 PEs in use (3 %)"));
}

TEST(WaferMap, is_whole_and_safe_and_follows_the_readers_colors) {
  const std::string svg = wafer_map_svg(two_kernels());
  EXPECT_TRUE(contains(svg, "a&lt;b on wse2"));
  EXPECT_FALSE(contains(svg, "a<b"));
  EXPECT_TRUE(contains(svg, "prefers-color-scheme: dark"));
  EXPECT_FALSE(contains(svg, "href"));
  EXPECT_EQ(svg.rfind("</svg>\n"), svg.size() - 7);
}

TEST(WaferMap, is_refused_where_layers_take_turns) {
  EXPECT_THROW(wafer_map_svg(plan::Plan{}), InputError);
}

TEST(XmlText, escapes_markup_and_control_characters) {
  EXPECT_EQ(xml_text("<a href=\"x\">&\n"), "&lt;a href=&quot;x&quot;&gt;&amp; ");
}

}  // namespace
}  // namespace wafer::report
