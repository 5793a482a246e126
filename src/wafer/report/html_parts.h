#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wafer/report/chart.h"
#include "wafer/report/table.h"

namespace wafer::report {

/// A section of a page: <section> with its heading, reached by #id.
struct Section {
  std::string id;
  std::string title;
  std::string body;  ///< HTML
};
std::string html_of(const Section& section);
/// Links to sections, for the top of a page.
std::string navigation(const std::vector<Section>& sections);

std::string paragraph(std::string_view words, std::string_view style = "");
/// A list of words, of element ul or ol; nothing of none.
std::string html_list(const std::vector<std::string>& lines, std::string_view element = "ul");

/// A table as HTML; numbers are <data> elements that carry the whole value, in SI units, and the
/// key of their column.
std::string html_of(const Table& table, std::string_view caption);
/// Columns as rows: the first column's cells become the titles. For few rows of many columns.
std::string html_sideways(const Table& table, std::string_view caption);

/// A chart as a figure, drawn twice: for screens and paper, and for narrow screens.
template <typename Chart>
std::string figure(const Chart& chart, std::string_view caption, double height = 340) {
  const ChartPlace wide{.width = 860, .height = height, .own_file = false};
  const ChartPlace narrow{.width = 360, .height = 320, .own_file = false};
  return "<figure>\n<div class=\"wide\">\n" + svg(chart, wide) +
         "</div>\n<div class=\"narrow\">\n" + svg(chart, narrow) + "</div>\n<figcaption>" +
         std::string(caption) + "</figcaption>\n</figure>\n";
}

/// The style of a page, that of its charts included.
std::string page_style();

/// `bytes` in base64.
std::string base64(std::string_view bytes);

}  // namespace wafer::report
