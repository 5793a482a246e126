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
constexpr double WaferWidth = 760, Left = 20, Top = 74, LegendWidth = 250, Bottom = 24;
constexpr double FontSize = 9, CharacterWidth = 5.1;

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

constexpr const char* Style =
    "<style>\n"
    ".wafer-map { background: #fff; font: 12px system-ui, sans-serif; --ink: #1d2330; --soft: "
    "#5d6675;\n"
    "  --free: #eef0f3; --gap: #fff; --product: #7fb0e8; --attention: #f0b45c; --nonlinear: "
    "#8fce8f;\n"
    "  --norm: #e58f9f; --sum: #c9b3ea; --loss: #e07b4f; --table: #7fcfc9; --fifo: #c6ccd6; }\n"
    "@media (prefers-color-scheme: dark) { .wafer-map { background: #16181c; --ink: #e6e9ef;\n"
    "  --soft: #9aa3b2; --free: #23272e; --gap: #16181c; --product: #2f659f; --attention: "
    "#94651b;\n"
    "  --nonlinear: #37723a; --norm: #96404f; --sum: #65488f; --loss: #97431f; --table: #24726d;\n"
    "  --fifo: #474f5c; } }\n"
    ".wafer-map text { fill: var(--ink); } .wafer-map .title { font-size: 16px; font-weight: 600; "
    "}\n"
    ".wafer-map .soft { fill: var(--soft); } .wafer-map .free { fill: var(--free); }\n"
    ".wafer-map .kernel rect { stroke: var(--gap); stroke-width: 0.7; }\n"
    ".wafer-map .kernel:hover rect { stroke: var(--ink); stroke-width: 1.6; }\n"
    ".wafer-map .kernel text { font-size: 9px; }\n";

std::string style() {
  std::string css = Style;
  for (const KindLook& look : Looks) {
    css += fmt::format(".wafer-map .{0} {{ fill: var(--{0}); }}\n", look.css);
  }
  return css + "</style>\n";
}

class Map {
 public:
  explicit Map(const plan::Plan& plan)
      : plan_(plan), p_(*plan.pipeline), scale_(WaferWidth / static_cast<double>(p_.width)) {
    for (const PipelineKernel& k : p_.kernels) {
      if (k.number > 0) counted_.insert(k.layer);
    }
  }

  std::string svg() const {
    const double wafer_height = scale_ * static_cast<double>(p_.height);
    const double width = Left + WaferWidth + LegendWidth;
    std::string s = fmt::format(
        "<svg class=\"wafer-map\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n{3}",
        width, Top + std::max(wafer_height, 330.0) + Bottom, xml_text(title()), style());
    s += heading();
    s +=
        fmt::format("<rect class=\"free\" x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"{:.2f}\"/>\n",
                    Left, Top, WaferWidth, wafer_height);
    for (const PipelineKernel& k : p_.kernels) s += kernel(k);
    return s + legend() + "</svg>\n";
  }

 private:
  std::string title() const {
    return fmt::format("{} on {}: all layers at once", plan_.model, plan_.machine);
  }

  std::string heading() const {
    const int64_t used = p_.kernel_pes() + p_.fifo_pes(), all = p_.width * p_.height;
    const std::string facts = fmt::format(
        "a sample every {} cycles; {} of {} PEs in use ({:.0f} %), {} x {} in all",
        grouped(static_cast<int64_t>(p_.period.value)), grouped(used), grouped(all),
        100 * static_cast<double>(used) / static_cast<double>(all), p_.width, p_.height);
    return fmt::format(
        "<text class=\"title\" x=\"{0}\" y=\"32\">{1}</text>\n"
        "<text class=\"soft\" x=\"{0}\" y=\"54\">{2}</text>\n",
        Left, xml_text(title()), xml_text(facts));
  }

  std::string kernel(const PipelineKernel& k) const {
    const double x = Left + scale_ * static_cast<double>(k.at.x);
    const double y = Top + scale_ * static_cast<double>(k.at.y);
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

  std::string legend() const {
    const double x = Left + WaferWidth + 24;
    double y = Top + 10;
    std::string s;
    for (const KindLook& look : Looks) {
      int64_t count = 0, pes = 0;
      for (const PipelineKernel& k : p_.kernels) {
        if (k.kind != look.kind) continue;
        ++count;
        pes += k.pes;
      }
      if (count == 0) continue;
      s += fmt::format(
          "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"14\" height=\"14\" rx=\"2\"/>\n"
          "<text x=\"{}\" y=\"{}\">{}</text>\n"
          "<text class=\"soft\" x=\"{}\" y=\"{}\">{} of them, {} PEs</text>\n",
          look.css, x, y, x + 22, y + 11, look.meaning, x + 22, y + 26, count, grouped(pes));
      y += 40;
    }
    return s + fmt::format(
                   "<rect class=\"free\" x=\"{}\" y=\"{}\" width=\"14\" height=\"14\" rx=\"2\"/>\n"
                   "<text x=\"{}\" y=\"{}\">free</text>\n",
                   x, y, x + 22, y + 11);
  }

  const plan::Plan& plan_;
  const Pipeline& p_;
  const double scale_;
  std::set<std::string> counted_;  ///< layers that there are several of
};

}  // namespace

std::string wafer_map_svg(const plan::Plan& plan) {
  if (plan.pipeline) return Map(plan).svg();
  throw InputError(
      "a map shows where kernels lie when all layers are on the wafer at once; with weight "
      "streaming each layer has the whole wafer in its turn: use --mode pipelined");
}

}  // namespace wafer::report
