#include "wafer/report/sweep.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "wafer/base/error.h"
#include "wafer/report/sweep_plot.h"

namespace wafer::report {
namespace {

using Json = nlohmann::ordered_json;
using study::Value;

std::vector<study::SweepColumn> columns() {
  return {{.name = "wse2.lanes.f16", .unit = {}, .of_machine = true},
          {.name = "batch", .unit = {}},
          {.name = "step_seconds", .unit = "s", .better = study::Better::Less},
          {.name = "parallelism.tensor", .unit = {}},
          {.name = "reason", .unit = {}}};
}

study::SweepRow answered() {
  return {.index = 0, .values = {4.0, int64_t{96}, 0.125, int64_t{2}, Value()}};
}

study::SweepRow failed() {
  return {.index = 1,
          .values = {8.0, int64_t{97}, Value(), Value(), std::string("wrong:\n a|b, \"c\"")}};
}

std::string written(SweepFormat format, const std::vector<study::SweepRow>& rows) {
  SweepWriter writer(format, columns());
  std::string text = writer.begin();
  for (const study::SweepRow& row : rows) text += writer.row(row);
  return text + writer.end();
}

TEST(SweepWriter, writes_csv) {
  EXPECT_EQ(written(SweepFormat::Csv, {answered(), failed()}),
            "wse2.lanes.f16,batch,step_seconds,parallelism.tensor,reason\n"
            "4,96,0.125,2,\n"
            "8,97,,,\"wrong:\n a|b, \"\"c\"\"\"\n");
}

TEST(SweepWriter, writes_an_array_with_a_row_a_line) {
  const std::string text = written(SweepFormat::Json, {answered(), failed()});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  const Json rows = Json::parse(text);
  EXPECT_EQ(rows[0]["wse2.lanes.f16"], 4);
  EXPECT_EQ(rows[0]["parallelism"]["tensor"], 2);
  EXPECT_EQ(rows[0]["reason"], nullptr);
  EXPECT_EQ(rows[1]["step_seconds"], nullptr);
  EXPECT_EQ(rows[1]["reason"], "wrong:\n a|b, \"c\"");
  EXPECT_EQ(Json::parse(written(SweepFormat::Json, {})), Json::array());
}

TEST(SweepWriter, writes_json_lines) {
  const std::string text = written(SweepFormat::JsonLines, {answered(), failed()});
  EXPECT_EQ(text.substr(0, text.find('\n')),
            R"({"wse2.lanes.f16":4.0,"batch":96,"step_seconds":0.125,)"
            R"("parallelism":{"tensor":2},"reason":null})");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(SweepWriter, writes_a_table_of_markdown_for_people) {
  EXPECT_EQ(written(SweepFormat::Markdown, {answered(), failed()}),
            "| wse2.lanes.f16 | batch | step_seconds | parallelism.tensor | reason |\n"
            "|---|---|---|---|---|\n"
            "| 4 | 96 | 125 ms | 2 |  |\n"
            "| 8 | 97 |  |  | wrong:  a\\|b, \"c\" |\n");
}

TEST(SweepCounts, are_told_in_a_sentence) {
  EXPECT_EQ(text(study::SweepCounts{.points = 9, .answered = 9}), "9 points: 9 answered\n");
  EXPECT_EQ(text(study::SweepCounts{.points = 9, .answered = 6, .no_room = 2, .refused = 1}),
            "9 points: 6 answered, 2 do not fit, 1 refused\n");
}

study::SweepRequest request(const std::vector<std::string>& axes) {
  study::SweepRequest r{.question = {.model = "bert-tiny"}, .axes = {}, .threads = 1};
  for (const std::string& axis : axes) r.axes.emplace_back(axis);
  return r;
}

LineChart plotted(const study::SweepRequest& r, const std::string& x, const std::string& y) {
  SweepPlot plot(r, x, y);
  study::sweep(r, [&](const study::SweepRow& row) { plot.add(row); });
  return plot.plot();
}

TEST(SweepPlot, has_a_line_for_each_combination_of_the_other_axes) {
  const LineChart plot = plotted(request({"machine=wse2,wse3", "batch=64,32", "seq=64,128"}), "",
                                 "samples_per_second");
  EXPECT_EQ(plot.x.name, "batch");
  ASSERT_EQ(plot.series.size(), 4U);
  EXPECT_EQ(plot.series[0].name, "wse2, seq 64");
  EXPECT_EQ(plot.series[3].name, "wse3, seq 128");
  ASSERT_EQ(plot.series[0].points.size(), 2U);
  EXPECT_EQ(plot.series[0].points[0].first, 32);  // from left to right
  EXPECT_EQ(plot.series[0].points[1].first, 64);
}

TEST(SweepPlot, goes_along_a_key_as_well) {
  const LineChart plot =
      plotted(request({"batch=32,64"}), "step_seconds", "energy_joules_per_step");
  EXPECT_EQ(plot.x.unit, "s");
  ASSERT_EQ(plot.series.size(), 1U);
  EXPECT_EQ(plot.series[0].points.size(), 2U);
}

TEST(SweepPlot, leaves_out_points_without_an_answer) {
  EXPECT_EQ(plotted(request({"batch=0,64"}), "", "step_seconds").series[0].points.size(), 1U);
}

TEST(SweepPlot, refuses_what_has_no_numbers) {
  EXPECT_THROW(SweepPlot(request({"machine=wse2,wse3"}), "", "step_seconds"), InputError);
  EXPECT_THROW(SweepPlot(request({"batch=1,2"}), "", "step_second"), InputError);
  EXPECT_THROW(SweepPlot(request({"batch=1,2"}), "bach", "step_seconds"), InputError);
}

}  // namespace
}  // namespace wafer::report
