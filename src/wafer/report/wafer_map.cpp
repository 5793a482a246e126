#include "wafer/report/wafer_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "wafer/base/error.h"
#include "wafer/report/xml.h"

namespace wafer::report {
namespace {

using plan::Pipeline;
using plan::PipelineKernel;
using Kind = PipelineKernel::Kind;

// Of the page, in pixels.
constexpr double FontSize = 9, CharacterWidth = 5.1, LegendRow = 40;

struct Layout {
  double wafer_width, left, top, legend_width, bottom;
  bool is_file;          ///< with title, style and background
  bool is_legend_below;  ///< beside the wafer otherwise
};
constexpr Layout layout_of(MapPlace place) {
  if (place == MapPlace::File) return {760, 20, 74, 250, 24, true, false};
  if (place == MapPlace::Page) return {650, 0, 2, 210, 2, false, false};
  return {360, 0, 2, 0, 2, false, true};
}

struct KindLook {
  Kind kind;
  const char* css;      ///< class
  const char* meaning;  ///< in the legend
};
constexpr std::array Looks = {
    KindLook{Kind::Product, "product", "matrix product"},
    KindLook{Kind::Attention, "attention", "attention"},
    KindLook{Kind::Nonlinear, "nonlinear", "activation function"},
    KindLook{Kind::Norm, "norm", "norm"},
    KindLook{Kind::Sum, "sum", "sum, look-up"},
    KindLook{Kind::Loss, "loss", "loss"},
    KindLook{Kind::Table, "table", "embeddings, biases"},
    KindLook{Kind::Fifo, "fifo", "FIFO of activations"},
};

const KindLook& look_of(Kind kind) {
  return *std::find_if(Looks.begin(), Looks.end(),
                       [&](const KindLook& look) { return look.kind == kind; });
}

// "745,500"
std::string grouped(int64_t value) {
  std::string digits = fmt::format("{}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

// Okabe and Ito's hues, which the colour-blind tell apart, so light or dark that names on them
// have a contrast of 4.5:1 (WCAG 2.2, 1.4.3).
constexpr std::array<std::array<const char*, 3>, 9> Colours = {{{"free", "#eef0f3", "#23272e"},
                                                                {"product", "#8ec1ea", "#1f5d8c"},
                                                                {"attention", "#f2b76b", "#8a5510"},
                                                                {"nonlinear", "#6fc7a4", "#1b6b52"},
                                                                {"norm", "#e3a3c8", "#87446d"},
                                                                {"sum", "#b9b6f0", "#4a4f9e"},
                                                                {"loss", "#e88a63", "#9c3f12"},
                                                                {"table", "#e9dc6b", "#6f6411"},
                                                                {"fifo", "#c6ccd6", "#4a525f"}}};

std::string colours(size_t column) {
  std::string css;
  for (const auto& colour : Colours)
    css += fmt::format(" --map-{}: {};", colour[0], colour[column]);
  return css;
}

constexpr const char* OwnColours =
    ":root { --ink: #1d2330; --quiet: #5d6675; --page: #fff; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --quiet: #9aa3b2; --page: "
    "#16181c; } }\n"
    ".wafer-map { background: var(--page); }\n";

class Map {
 public:
  Map(const plan::Plan& plan, MapPlace place)
      : plan_(plan),
        p_(*plan.pipeline),
        at_(layout_of(place)),
        scale_(at_.wafer_width / static_cast<double>(p_.width)),
        wafer_height_(scale_ * static_cast<double>(p_.height)) {
    for (const PipelineKernel& k : p_.kernels) {
      if (k.number > 0) counted_.insert(k.layer);
    }
  }

  std::string svg() const {
    std::string s =
        fmt::format("<rect class=\"free\" x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"{:.2f}\"/>\n",
                    at_.left, at_.top, at_.wafer_width, wafer_height_);
    for (const PipelineKernel& k : p_.kernels) s += kernel(k);
    double end = at_.top + wafer_height_;
    s += legend(end);
    const double width = at_.left + at_.wafer_width + at_.legend_width;
    return fmt::format(
               "<svg class=\"wafer-map\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
               "{0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n"
               "<title>{2}</title>\n<desc>{3}</desc>\n{4}",
               width, end + at_.bottom, xml_text(title()), xml_text(facts()),
               at_.is_file ? heading() : "") +
           s + "</svg>\n";
  }

 private:
  std::string title() const {
    return fmt::format("{} on {}: all layers at once", plan_.model, plan_.machine);
  }

  std::string facts() const {
    const int64_t used = p_.kernel_pes() + p_.fifo_pes(), all = p_.width * p_.height;
    return fmt::format("a sample every {} cycles; {} of {} PEs in use ({:.0f} %), {} x {} in all",
                       grouped(static_cast<int64_t>(p_.period.value)), grouped(used), grouped(all),
                       100 * static_cast<double>(used) / static_cast<double>(all), p_.width,
                       p_.height);
  }

  std::string heading() const {
    return fmt::format(
        "<style>\n{3}{4}</style>\n"
        "<text class=\"title\" x=\"{0}\" y=\"32\">{1}</text>\n"
        "<text class=\"soft\" x=\"{0}\" y=\"54\">{2}</text>\n",
        at_.left, xml_text(title()), xml_text(facts()), OwnColours, map_style());
  }

  std::string kernel(const PipelineKernel& k) const {
    const double x = at_.left + scale_ * static_cast<double>(k.at.x);
    const double y = at_.top + scale_ * static_cast<double>(k.at.y);
    const double width = scale_ * static_cast<double>(k.at.width);
    const double height = scale_ * static_cast<double>(k.at.height);
    const std::string about = fmt::format("{}, {}: {} PEs on {} x {}", layer_of(k), k.name,
                                          grouped(k.pes), k.at.width, k.at.height);
    std::string s = fmt::format(
        "<g class=\"kernel\"><title>{}</title><rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" "
        "width=\"{:.2f}\" height=\"{:.2f}\"/>",
        xml_text(about), look_of(k.kind).css, x, y, width, height);
    const std::string label = label_of(k, width, height);
    if (!label.empty()) {
      s += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\">{}</text>",
                       x + width / 2, y + height / 2 + FontSize / 3, xml_text(label));
    }
    return s + "</g>\n";
  }

  // The longest of its names that fits; none where no name does.
  std::string label_of(const PipelineKernel& k, double width, double height) const {
    if (height < FontSize + 1) return {};
    const std::string last = k.name.substr(k.name.rfind('/') + 1);
    for (const std::string& text : {fmt::format("{} {}", layer_of(k), k.name),
                                    number_of(k) + k.name, number_of(k) + last, last}) {
      if (CharacterWidth * static_cast<double>(text.size()) + 4 <= width) return text;
    }
    return {};
  }

  // "layer 3", "head".
  std::string layer_of(const PipelineKernel& k) const {
    return counted_.count(k.layer) == 0 ? k.layer : fmt::format("{} {}", k.layer, k.number);
  }
  std::string number_of(const PipelineKernel& k) const {
    return counted_.count(k.layer) == 0 ? "" : fmt::format("{} ", k.number);
  }

  // Moves `end`, where the drawing ends below, so that the legend is in it.
  std::string legend(double& end) const {
    const double first = at_.is_legend_below ? 2 : at_.left + at_.wafer_width + 24;
    double x = first, y = at_.is_legend_below ? end + 14 : at_.top + 10;
    std::string s;
    const auto entry = [&](const char* css, const char* meaning, const std::string& words) {
      s += fmt::format(
          "<rect class=\"{}\" x=\"{}\" y=\"{:.1f}\" width=\"14\" height=\"14\" rx=\"2\"/>\n"
          "<text x=\"{}\" y=\"{:.1f}\">{}</text>\n",
          css, x, y, x + 22, y + 11, meaning);
      if (!words.empty()) {
        s += fmt::format("<text class=\"soft\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", x + 22, y + 26,
                         words);
      }
      end = std::max(end, y + 32);
      const bool is_left = at_.is_legend_below && x == first;  // two to a row
      x = is_left ? first + at_.wafer_width / 2 : first;
      if (!is_left) y += LegendRow;
    };
    for (const KindLook& look : Looks) {
      int64_t count = 0, pes = 0;
      for (const PipelineKernel& k : p_.kernels) {
        if (k.kind != look.kind) continue;
        ++count;
        pes += k.pes;
      }
      if (count == 0) continue;
      entry(look.css, look.meaning, fmt::format("{} of them, {} PEs", count, grouped(pes)));
    }
    entry("free", "free", "");
    return s;
  }

  const plan::Plan& plan_;
  const Pipeline& p_;
  const Layout at_;
  const double scale_, wafer_height_;
  std::set<std::string> counted_;  ///< layers that there are several of
};

}  // namespace

std::string map_colours_on_light() { return colours(1); }

std::string map_style() {
  std::string css =
      fmt::format(":root {{{} }}\n@media (prefers-color-scheme: dark) {{ :root {{{} }} }}\n",
                  colours(1), colours(2));
  css +=
      ".wafer-map { font: 12px system-ui, sans-serif; }\n"
      ".wafer-map text { fill: var(--ink); } .wafer-map .title { font-size: 16px; font-weight: "
      "600; }\n"
      ".wafer-map text.soft { fill: var(--quiet); }\n"
      ".wafer-map .kernel rect { stroke: var(--page); stroke-width: 0.7; }\n"
      ".wafer-map .kernel:hover rect { stroke: var(--ink); stroke-width: 1.6; }\n"
      ".wafer-map .kernel text { font-size: 9px; }\n";
  for (const auto& colour : Colours) {
    css += fmt::format(".wafer-map .{0} {{ fill: var(--map-{0}); }}\n", colour[0]);
  }
  return css;
}

std::string wafer_map_svg(const plan::Plan& plan, MapPlace place) {
  if (plan.pipeline) return Map(plan, place).svg();
  throw InputError(
      "a map shows where kernels lie when all layers are on the wafer at once; with weight "
      "streaming each layer has the whole wafer in its turn: use --mode pipelined");
}

}  // namespace wafer::report
