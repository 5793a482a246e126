#include "wafer/report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "wafer/base/human.h"

namespace wafer::report {
namespace {

constexpr double Width = 860, Height = 480;
constexpr double Left = 96, Right = 620, Top = 48, Bottom = 412;  // of the area of points
constexpr double LogarithmicFrom = 20;                            // most / least
constexpr size_t MostNames = 18;                                  // in the legend

// Okabe and Ito's colours, which the colour-blind tell apart; black is the text's.
constexpr std::array Colors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                               "#e69f00", "#56b4e9", "#8a7f00"};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

/// Where values of one direction lie on the page.
class Scale {
 public:
  Scale(double least, double most, double begin, double end) : begin_(begin), end_(end) {
    logarithmic_ = least > 0 && most / least > LogarithmicFrom;
    if (logarithmic_) {
      least_ = std::floor(std::log10(least) * 4) / 4;
      most_ = std::ceil(std::log10(most) * 4) / 4;
      return;
    }
    if (least > 0 && least < most / 2) least = 0;
    if (least == most)
      least -= std::abs(least) / 2 + (least == 0 ? 1 : 0), most += std::abs(most) / 2;
    step_ = nice((most - least) / 5);
    least_ = std::floor(least / step_) * step_;
    most_ = std::ceil(most / step_) * step_;
    if (most_ == least_) most_ += step_;
  }

  double place(double value) const {
    const double v = logarithmic_ ? std::log10(value) : value;
    return begin_ + (v - least_) / (most_ - least_) * (end_ - begin_);
  }

  std::vector<double> ticks() const {
    std::vector<double> all;
    if (!logarithmic_) {
      const auto count = static_cast<int>(std::lround((most_ - least_) / step_));
      for (int i = 0; i <= count; ++i) all.push_back(least_ + i * step_);
      return all;
    }
    // One a decade, or 1, 2 and 5 of each where there are few.
    const bool few = most_ - least_ < 2.6;
    for (double d = std::floor(least_); d <= most_; ++d) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        if (digit != 1 && !few) continue;
        const double value = digit * std::pow(10, d);
        const double at = std::log10(value);
        if (at >= least_ - 1e-9 && at <= most_ + 1e-9) all.push_back(value);
      }
    }
    return all;
  }

 private:
  // The next of 1, 2, 5, 10, ... above.
  static double nice(double step) {
    const double power = std::pow(10, std::floor(std::log10(step)));
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (step <= digit * power * (1 + 1e-9)) return digit * power;
    }
    return 10 * power;
  }

  double begin_, end_, least_ = 0, most_ = 1, step_ = 1;
  bool logarithmic_ = false;
};

template <typename Of>
Scale scale_of(const Plot& plot, double begin, double end, Of of) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const Series& series : plot.series) {
    for (const auto& point : series.points) {
      least = std::min(least, of(point));
      most = std::max(most, of(point));
    }
  }
  if (least > most) least = 0, most = 1;  // no point
  return {least, most, begin, end};
}

std::string label(const PlotAxis& axis) {
  return escaped(axis.unit.empty() ? axis.name : fmt::format("{} [{}]", axis.name, axis.unit));
}

std::string frame(const Plot& plot, const Scale& x, const Scale& y) {
  std::string s;
  for (const double value : x.ticks()) {
    const double at = x.place(value);
    s += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>\n",
                     at, Top, Bottom);
    s += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", at,
                     Bottom + 18, escaped(human(value, plot.x.unit)));
  }
  for (const double value : y.ticks()) {
    const double at = y.place(value);
    s += fmt::format("<line class=\"grid\" x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\"/>\n",
                     at, Left, Right);
    s += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", Left - 8,
                     at + 4, escaped(human(value, plot.y.unit)));
  }
  s += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (Left + Right) / 2,
                   Bottom + 44, label(plot.x));
  s += fmt::format(
      "<text x=\"20\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 20 "
      "{0})\">{1}</text>\n",
      (Top + Bottom) / 2, label(plot.y));
  return s + fmt::format("<text class=\"title\" x=\"{}\" y=\"26\">{}</text>\n", Left,
                         escaped(plot.title));
}

std::string line_of(const Series& series, const char* color, const Scale& x, const Scale& y) {
  std::string path, marks;
  for (const auto& [px, py] : series.points) {
    const double cx = x.place(px), cy = y.place(py);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", cx, cy);
    marks += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}: {:.6g}, {:.6g}"
        "</title></circle>\n",
        cx, cy, escaped(series.name), px, py);
  }
  return fmt::format("<g fill=\"{0}\" stroke=\"{0}\">\n<path fill=\"none\" d=\"{1}\"/>\n{2}</g>\n",
                     color, path, marks);
}

std::string legend(const Plot& plot) {
  std::string s;
  for (size_t i = 0; i < std::min(plot.series.size(), MostNames); ++i) {
    const double y = Top + 8 + 20 * static_cast<double>(i);
    s += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{}\"/>\n", Right + 20, y,
                     Colors[i % Colors.size()]);
    s += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", Right + 30, y + 4,
                     escaped(plot.series[i].name));
  }
  if (plot.series.size() <= MostNames) return s;
  return s + fmt::format("<text x=\"{}\" y=\"{}\">and {} more</text>\n", Right + 30,
                         Top + 12 + 20 * static_cast<double>(MostNames),
                         plot.series.size() - MostNames);
}

constexpr const char* Style =
    "<style>\n"
    "svg { background: #fff; font: 12px system-ui, sans-serif; }\n"
    "text { fill: #222; } .title { font-size: 15px; font-weight: 600; }\n"
    ".grid { stroke: #ddd; } path { stroke-width: 1.5; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "svg { background: #16181c; } text { fill: #ddd; } .grid { stroke: #333840; }\n"
    "}\n"
    "</style>\n";

}  // namespace

std::string svg(const Plot& plot) {
  const Scale x = scale_of(plot, Left, Right, [](const auto& p) { return p.first; });
  const Scale y = scale_of(plot, Bottom, Top, [](const auto& p) { return p.second; });
  std::string s = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n{3}",
      Width, Height, escaped(plot.title), Style);
  s += frame(plot, x, y);
  for (size_t i = 0; i < plot.series.size(); ++i) {
    s += line_of(plot.series[i], Colors[i % Colors.size()], x, y);
  }
  return s + legend(plot) + "</svg>\n";
}

}  // namespace wafer::report
