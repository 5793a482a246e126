#include <fmt/format.h>

#include <algorithm>

#include "wafer/report/chart.h"
#include "wafer/report/chart_parts.h"
#include "wafer/report/typeset.h"

namespace wafer::report {
namespace {

constexpr double NarrowBelow = 560;  // names stand above their bars
constexpr double BarHeight = 18, RowHeight = 28, NameHeight = 18, LegendHeight = 22;

class Drawing {
 public:
  Drawing(const BarChart& chart, const ChartPlace& place)
      : chart_(chart), place_(place), narrow_(place.width < NarrowBelow) {
    double names = 0, words = 0;
    for (const BarChart::Bar& bar : chart_.bars) {
      names = std::max(names, width_of(bar.name));
      words = std::max(words, width_of(bar.words));
      most_ = std::max({most_, bar.limit.value_or(0), sum_of(bar) * (1 + bar.error)});
    }
    left_ = narrow_ ? 4 : std::min(names + 14, place.width * 0.34);
    right_ = place.width - std::min(words + 12, place.width * (narrow_ ? 0.62 : 0.4));
    top_ = place.own_file ? 52 : 6;
  }

  std::string run() {
    std::string s = legend();
    for (const BarChart::Bar& bar : chart_.bars) s += draw(bar);
    return s;
  }

  double height() const { return top_ + 4; }  // after run()

 private:
  static double width_of(std::string_view words) {
    return static_cast<double>(length_of(words)) * CharacterWidth;
  }

  static double sum_of(const BarChart::Bar& bar) {
    double sum = 0;
    for (const BarChart::Part& part : bar.parts) sum += part.value;
    return sum;
  }

  double place(double value) const {
    return left_ + (most_ > 0 ? value / most_ : 0) * (right_ - left_);
  }

  // Names of the kinds that there are, in as many lines as they need.
  std::string legend() {
    std::string s;
    if (chart_.kinds.size() < 2) return s;
    double x = left_;
    for (size_t kind = 0; kind < chart_.kinds.size(); ++kind) {
      const bool used = std::any_of(chart_.bars.begin(), chart_.bars.end(), [&](const auto& bar) {
        return std::any_of(bar.parts.begin(), bar.parts.end(),
                           [&](const auto& part) { return part.kind == kind && part.value > 0; });
      });
      if (!used) continue;
      const double width = width_of(chart_.kinds[kind]) + 34;
      if (x > left_ && x + width > place_.width) x = left_, top_ += LegendHeight;
      s += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"11\" height=\"11\" rx=\"2\"/>\n",
          ink(kind), x, top_ + 1);
      s += svg_text(x + 17, top_ + 11, "start", chart_.kinds[kind]);
      x += width;
    }
    top_ += LegendHeight + 4;
    return s;
  }

  std::string draw(const BarChart::Bar& bar) {
    std::string s;
    if (narrow_) {
      s += svg_text(left_, top_ + 13, "start", fitted(bar.name, place_.width - left_));
      top_ += NameHeight;
    } else {
      s += svg_text(left_ - 10, top_ + 13, "end", fitted(bar.name, left_ - 12));
    }
    if (bar.limit) s += rectangle("track", 0, *bar.limit, "");
    double begin = 0;
    for (const BarChart::Part& part : bar.parts) {
      if (!(part.value > 0)) continue;
      s += rectangle(ink(part.kind), begin, begin + part.value, words_of(part, bar.name));
      begin += part.value;
    }
    if (bar.error > 0) s += whisker(begin, bar.error);
    const double end = std::max(place(bar.limit.value_or(0)), place(begin * (1 + bar.error)));
    s += svg_text(end + 8, top_ + 13, "start", bar.words, "class=\"quiet\"");
    top_ += RowHeight;
    return s;
  }

  std::string words_of(const BarChart::Part& part, const std::string& bar) const {
    if (!part.words.empty()) return part.words;
    return fmt::format("{}: {}", part.kind < chart_.kinds.size() ? chart_.kinds[part.kind] : bar,
                       typeset(part.value, chart_.unit));
  }

  std::string rectangle(std::string_view style, double from, double to,
                        std::string_view words) const {
    const double x = place(from), width = std::max(place(to) - x, 0.8);
    const std::string told = words.empty() ? "" : fmt::format("<title>{}</title>", escaped(words));
    return fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\">{}"
        "</rect>\n",
        style, x, top_, width, BarHeight, told);
  }

  std::string whisker(double value, double error) const {
    const double low = place(value * (1 - error)), high = place(value * (1 + error));
    const double y = top_ + BarHeight / 2;
    return svg_line(low, y, high, y, "whisker") + svg_line(low, y - 4, low, y + 4, "whisker") +
           svg_line(high, y - 4, high, y + 4, "whisker");
  }

  const BarChart& chart_;
  const ChartPlace& place_;
  const bool narrow_;
  double left_ = 0, right_ = 0, top_ = 0, most_ = 0;
};

}  // namespace

std::string svg(const BarChart& chart, const ChartPlace& place) {
  Drawing drawing(chart, place);
  const std::string drawn = drawing.run();
  return framed(place.width, drawing.height(), chart.title, chart.about, place.own_file, drawn);
}

}  // namespace wafer::report
