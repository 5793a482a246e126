#include "wafer/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "wafer/report/chart_parts.h"
#include "wafer/report/chart_scale.h"
#include "wafer/report/typeset.h"

namespace wafer::report {
namespace {

using Point = std::pair<double, double>;

constexpr double NarrowBelow = 560;  // names stand above the area instead of beside it
constexpr double NameGap = 16;       // between two names
constexpr double TickGapY = 24;

struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  void add(double value) { least = std::min(least, value), most = std::max(most, value); }
};

/// A chart on its way to the page.
class Drawing {
 public:
  Drawing(const LineChart& chart, const ChartPlace& place)
      : chart_(chart), place_(place), narrow_(place.width < NarrowBelow) {
    set_height();
    const auto [rx, ry] = ranges();
    y_ = Scale(ry.least, ry.most, bottom_, top_);
    set_width();
    x_ = Scale(rx.least, rx.most, left_, right_);
  }

  std::string run() const {
    std::string s = frame();
    for (size_t i = 0; i < chart_.series.size(); ++i) s += band(i);
    for (size_t i = 0; i < chart_.series.size(); ++i) s += series(i);
    s += words_inside();
    return s + (narrow_ ? names_above() : names_beside());
  }

 private:
  bool is_named(const Series& s) const {
    return s.style != Series::Style::Line && chart_.series.size() > 1 && s.words.empty();
  }

  void set_height() {
    const auto named = std::count_if(chart_.series.begin(), chart_.series.end(),
                                     [&](const Series& s) { return is_named(s); });
    top_ = place_.own_file ? 52 : 14;
    if (narrow_) top_ += NameGap * static_cast<double>(named);
    bottom_ = place_.height - 46;
  }

  // Beside the numbers of y and the names of lines.
  void set_width() {
    size_t numbers = 0, names = 0;
    for (const double value : y_.ticks(TickGapY)) {
      numbers = std::max(numbers, length_of(typeset(value, chart_.y.unit)));
    }
    for (const Series& s : chart_.series) {
      if (is_named(s)) names = std::max(names, length_of(s.name));
    }
    const auto width = [](size_t characters) {
      return static_cast<double>(characters) * CharacterWidth;
    };
    left_ = width(numbers) + 12 + (place_.own_file ? 24 : 0);
    const double beside = names > 0 && !narrow_ ? width(names) + 28 : 24;
    right_ = place_.width - std::min(beside, place_.width * 0.32);
  }

  std::pair<Range, Range> ranges() const {
    Range x, y;
    for (const Series& series : chart_.series) {
      for (const auto& [px, py] : series.points) {
        x.add(px), y.add(py * (1 + series.error)), y.add(py * (1 - series.error));
      }
    }
    if (x.least > x.most) x.add(0), x.add(1), y.add(0), y.add(1);  // no point
    if (chart_.x.range) x = {chart_.x.range->first, chart_.x.range->second};
    if (chart_.y.range) y = {chart_.y.range->first, chart_.y.range->second};
    return {x, y};
  }

  // Every n-th of those that were asked for, or of the scale's, so that their words are apart.
  std::vector<double> x_ticks() const {
    const std::vector<double> all = chart_.x.ticks.empty() ? x_.ticks(1) : chart_.x.ticks;
    size_t longest = 0;
    for (const double value : all) {
      longest = std::max(longest, length_of(typeset(value, chart_.x.unit)));
    }
    const double gap = static_cast<double>(longest) * CharacterWidth + 6;
    std::vector<double> some;
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
      if (some.empty() || std::abs(x_.place(*at) - x_.place(some.back())) >= gap) {
        some.push_back(*at);
      }
    }
    return some;
  }

  static std::string label(const ChartAxis& axis) {
    return axis.unit.empty() ? axis.name : fmt::format("{} [{}]", axis.name, axis.unit);
  }

  std::string frame() const {
    std::string s;
    for (const double value : y_.ticks(TickGapY)) {
      const double at = y_.place(value);
      s += svg_line(left_, at, right_, at, "grid");
      s += svg_text(left_ - 8, at + 4, "end", typeset(value, chart_.y.unit), "class=\"quiet\"");
    }
    for (const double value : x_ticks()) {
      const double at = x_.place(value);
      s += svg_line(at, bottom_, at, bottom_ + 5, "axis");
      s += svg_text(at, bottom_ + 19, "middle", typeset(value, chart_.x.unit), "class=\"quiet\"");
    }
    s += svg_line(left_, bottom_, right_, bottom_, "axis");
    s += svg_text((left_ + right_) / 2, bottom_ + 40, "middle", label(chart_.x));
    if (place_.own_file) {
      s += svg_text(18, (top_ + bottom_) / 2, "middle", label(chart_.y),
                    fmt::format("transform=\"rotate(-90 18 {:.1f})\"", (top_ + bottom_) / 2));
    }
    return s;
  }

  std::string path_of(const std::vector<Point>& points) const {
    std::string path;
    for (const auto& [px, py] : points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x_.place(px), y_.place(py));
    }
    return path;
  }

  std::string band(size_t i) const {
    const Series& series = chart_.series[i];
    if (series.error <= 0 || series.error >= 1 || series.points.size() < 2) return "";
    std::vector<Point> around;
    for (const auto& [px, py] : series.points) around.emplace_back(px, py * (1 + series.error));
    for (auto p = series.points.rbegin(); p != series.points.rend(); ++p) {
      around.emplace_back(p->first, p->second * (1 - series.error));
    }
    return fmt::format("<path class=\"band {}\" d=\"{}z\"/>\n", ink(i), path_of(around));
  }

  std::string series(size_t i) const {
    const Series& series = chart_.series[i];
    const bool is_roof = series.style == Series::Style::Line;
    std::string s;
    if (series.style != Series::Style::Marks && !series.points.empty()) {
      s += fmt::format("<path class=\"curve s{}{}\" d=\"{}\"/>\n", i % ColourCount,
                       is_roof ? " roof" : "", path_of(series.points));
    }
    if (is_roof) return s;
    for (size_t k = 0; k < series.points.size(); ++k) {
      const auto& [px, py] = series.points[k];
      const std::string& name = k < series.words.size() ? series.words[k] : series.name;
      s += svg_mark(x_.place(px), y_.place(py), i,
                    fmt::format("{}: {} {}, {} {}", name, chart_.x.name, typeset(px, chart_.x.unit),
                                chart_.y.name, typeset(py, chart_.y.unit)));
    }
    return s;
  }

  struct Box {
    double x1, y1, x2, y2;
    bool meets(const Box& o) const { return x1 < o.x2 && o.x1 < x2 && y1 < o.y2 && o.y1 < y2; }
  };

  // A roof's name, just above its longest part.
  std::string name_along(const Series& series, std::vector<Box>& taken) const {
    double longest = 0, x = 0, y = 0, angle = 0;
    for (size_t k = 0; k + 1 < series.points.size(); ++k) {
      const double ax = x_.place(series.points[k].first), ay = y_.place(series.points[k].second);
      const double bx = x_.place(series.points[k + 1].first);
      const double by = y_.place(series.points[k + 1].second);
      const double length = std::hypot(bx - ax, by - ay);
      if (length <= longest) continue;
      longest = length;
      x = (ax + bx) / 2, y = (ay + by) / 2;
      angle = std::atan2(by - ay, bx - ax);
    }
    const double width = static_cast<double>(length_of(series.name)) * CharacterWidth;
    if (longest < width) return "";
    for (double at = -width / 2; at <= width / 2; at += 6) {
      const double bx = x + at * std::cos(angle) + 8 * std::sin(angle);
      const double by = y + at * std::sin(angle) - 8 * std::cos(angle);
      taken.push_back({bx - 7, by - 7, bx + 7, by + 7});
    }
    return svg_text(0, -6, "middle", series.name,
                    fmt::format("class=\"quiet\" transform=\"translate({:.1f} {:.1f}) "
                                "rotate({:.1f})\"",
                                x, y, angle * 180 / M_PI));
  }

  // Names of roofs; words of marks to the right or left, above or below, where nothing else stands.
  std::string words_inside() const {
    std::vector<Box> taken;
    std::string s;
    for (const Series& series : chart_.series) {
      if (series.style == Series::Style::Line) s += name_along(series, taken);
    }
    for (const Series& series : chart_.series) {
      if (series.style != Series::Style::Marks) continue;
      for (const auto& [px, py] : series.points) {
        const double x = x_.place(px), y = y_.place(py);
        taken.push_back({x - 4, y - 4, x + 4, y + 4});
      }
    }
    for (const Series& series : chart_.series) {
      for (size_t k = 0; k < std::min(series.words.size(), series.points.size()); ++k) {
        const auto& [px, py] = series.points[k];
        s += placed(x_.place(px), y_.place(py), series.words[k], taken);
      }
    }
    return s;
  }

  std::string placed(double x, double y, const std::string& words, std::vector<Box>& taken) const {
    const double width = static_cast<double>(length_of(words)) * CharacterWidth;
    struct Way {
      double x, y;
      const char* anchor;
    };
    const Way ways[] = {{x + 8, y + 4, "start"},  {x - 8, y + 4, "end"},    {x, y - 9, "middle"},
                        {x, y + 17, "middle"},    {x + 8, y + 17, "start"}, {x - 8, y + 17, "end"},
                        {x + 8, y - 10, "start"}, {x - 8, y - 10, "end"}};
    for (const Way& way : ways) {
      const double begin = *way.anchor == 's'   ? way.x
                           : *way.anchor == 'e' ? way.x - width
                                                : way.x - width / 2;
      const Box box{begin, way.y - 11, begin + width, way.y + 3};
      const bool inside =
          box.x1 >= left_ && box.x2 <= place_.width && box.y1 >= 0 && box.y2 <= bottom_;
      if (!inside || std::any_of(taken.begin(), taken.end(),
                                 [&](const Box& other) { return box.meets(other); })) {
        continue;
      }
      taken.push_back(box);
      return svg_text(way.x, way.y, way.anchor, words);
    }
    return "";  // it is told when the mark is pointed at
  }

  struct Name {
    size_t series;
    double x, end, at;  ///< where its line ends, and where it stands
  };

  // Names where the lines end, moved apart where they are close.
  std::string names_beside() const {
    std::vector<Name> names;
    for (size_t i = 0; i < chart_.series.size(); ++i) {
      const Series& series = chart_.series[i];
      if (!is_named(series) || series.points.empty()) continue;
      const auto& [px, py] = series.points.back();
      names.push_back({i, x_.place(px), y_.place(py), 0});
    }
    std::stable_sort(names.begin(), names.end(),
                     [](const Name& a, const Name& b) { return a.end < b.end; });
    const auto most = static_cast<size_t>((bottom_ - top_) / NameGap);
    const size_t left_out = names.size() > most ? names.size() - most + 1 : 0;
    names.resize(names.size() - left_out);
    spread(names);
    std::string s;
    for (const Name& name : names) s += name_beside(name);
    if (left_out == 0) return s;
    return s + svg_text(right_ + 22, bottom_ + 4, "start", fmt::format("and {} more", left_out));
  }

  void spread(std::vector<Name>& names) const {
    double least = top_ + 4;
    for (Name& name : names) {
      name.at = std::max(name.end, least);
      least = name.at + NameGap;
    }
    double most = bottom_ - 2;
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      name->at = std::min(name->at, most);
      most = name->at - NameGap;
    }
  }

  std::string name_beside(const Name& name) const {
    const std::string& words = chart_.series[name.series].name;
    const size_t colour = name.series % ColourCount;
    std::string s;
    if (std::abs(name.at - name.end) > 1 || name.x < right_ - 1) {
      s += fmt::format(
          "<path class=\"lead s{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", colour,
          name.x, name.end, right_ + 2, name.end, right_ + 10, name.at);
    }
    s += svg_mark(right_ + 14, name.at, colour, "");
    return s +
           svg_text(right_ + 22, name.at + 4, "start", fitted(words, place_.width - right_ - 24));
  }

  std::string names_above() const {
    std::string s;
    double y = top_ - 10;
    for (size_t i = chart_.series.size(); i-- > 0;) {
      if (!is_named(chart_.series[i])) continue;
      s += svg_mark(left_ + 4, y - 8, i, "");
      s += svg_text(left_ + 14, y - 4, "start",
                    fitted(chart_.series[i].name, place_.width - left_ - 16));
      y -= NameGap;
    }
    return s;
  }

  const LineChart& chart_;
  const ChartPlace& place_;
  const bool narrow_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
  Scale x_{0, 1, 0, 1}, y_{0, 1, 0, 1};
};

}  // namespace

std::string svg(const LineChart& chart, const ChartPlace& place) {
  return framed(place.width, place.height, chart.title, chart.about, place.own_file,
                Drawing(chart, place).run());
}

}  // namespace wafer::report
