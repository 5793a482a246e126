#include "wafer/report/chart_parts.h"

#include <fmt/format.h>

#include <array>

#include "wafer/report/chart.h"
#include "wafer/report/typeset.h"

namespace wafer::report {
namespace {

// Okabe and Ito's hues, which the colour-blind tell apart, as dark or light as 3:1 against the page
// needs (WCAG 2.2, 1.4.11).
constexpr std::array<const char*, ColourCount> OnLight = {
    "#0072b2", "#c85200", "#00805c", "#a8518a", "#8f6c00", "#56606d", "#6a4fb3"};
constexpr std::array<const char*, ColourCount> OnDark = {"#56b4e9", "#f08a4b", "#2fc39a", "#dd93bf",
                                                         "#e3b341", "#a3acb9", "#b09cf0"};

std::string colours(const std::array<const char*, ColourCount>& palette) {
  std::string css;
  for (size_t i = 0; i < ColourCount; ++i) css += fmt::format(" --c{}: {};", i, palette[i]);
  return css;
}

// The start of a character at or before a byte.
size_t boundary(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

}  // namespace

std::string ink(size_t colour) { return fmt::format("k{}", colour % ColourCount); }

std::string svg_text(double x, double y, std::string_view anchor, std::string_view words,
                     std::string_view more) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}{}>{}</text>\n", x, y,
                     anchor, more.empty() ? "" : " ", more, escaped(words));
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", style, x1,
      y1, x2, y2);
}

std::string svg_mark(double x, double y, size_t colour, std::string_view words) {
  const std::string told = words.empty() ? "" : fmt::format("<title>{}</title>", escaped(words));
  constexpr const char* Forms[] = {"M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",  // disc
                                   "M-3.2 -3.2h6.4v6.4h-6.4z",                       // square
                                   "M0 -4.4L4.2 3.2H-4.2z",                          // triangle
                                   "M0 -4.6L4.6 0L0 4.6L-4.6 0z"};                   // diamond
  return fmt::format(
      "<path class=\"mark {}\" transform=\"translate({:.1f} {:.1f})\" d=\"{}\">{}</path>\n",
      ink(colour), x, y, Forms[colour % std::size(Forms)], told);
}

std::string fitted(std::string_view words, double width) {
  const auto most = static_cast<size_t>(std::max(4.0, width / CharacterWidth));
  if (length_of(words) <= most) return std::string(words);
  size_t bytes = 0;
  for (size_t n = 0; n + 3 < most && bytes < words.size(); ++n) {
    ++bytes;
    while (bytes < words.size() && boundary(words, bytes) != bytes) ++bytes;
  }
  return std::string(words.substr(0, bytes)) + "...";
}

std::string chart_style() {
  std::string css = fmt::format(
      ":root {{{} --ink: #1c2127; --quiet: #5b6470; --rule: #e3e6ea; --page: #ffffff; --track: "
      "#eef0f3; }}\n"
      "@media (prefers-color-scheme: dark) {{ :root {{{} --ink: #e6e9ee; --quiet: #a0a9b6; "
      "--rule: #2c323b; --page: #14171c; --track: #20252d; }} }}\n",
      colours(OnLight), colours(OnDark));
  css +=
      ".chart { font: 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', "
      "sans-serif; font-variant-numeric: tabular-nums; }\n"
      ".chart text { fill: var(--ink); }\n"
      ".chart .quiet { fill: var(--quiet); }\n"
      ".chart .title { font-size: 15px; font-weight: 600; }\n"
      ".chart .grid { stroke: var(--rule); }\n"
      ".chart .axis { stroke: var(--quiet); }\n"
      ".chart .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }\n"
      ".chart .roof { stroke-width: 1.5; }\n"
      ".chart .lead { fill: none; stroke-width: 1; opacity: .6; }\n"
      ".chart .band { stroke: none; opacity: .14; }\n"
      ".chart .mark { stroke: var(--page); stroke-width: 1; }\n"
      ".chart .track { fill: var(--track); stroke: var(--rule); }\n"
      ".chart .whisker { stroke: var(--ink); stroke-width: 1.5; }\n";
  for (size_t i = 0; i < ColourCount; ++i) {
    css += fmt::format(
        ".chart .k{0} {{ fill: var(--c{0}); }} .chart .s{0} {{ stroke: var(--c{0}); }}\n", i);
  }
  return css;
}

std::string framed(double width, double height, std::string_view title, std::string_view about,
                   bool own_file, const std::string& drawing) {
  std::string s = fmt::format(
      "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n",
      width, height, escaped(title));
  if (!about.empty()) s += fmt::format("<desc>{}</desc>\n", escaped(about));
  if (own_file) {
    s += "<style>\n" + chart_style() + "svg { background: var(--page); }\n</style>\n";
    s += svg_text(24, 28, "start", title, "class=\"title\"");
  }
  return s + drawing + "</svg>\n";
}

}  // namespace wafer::report
