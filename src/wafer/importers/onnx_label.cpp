#include "wafer/importers/onnx_label.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace wafer::importers {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The last but one module of PyTorch's list, "['', 'm', 'm.layer.0', 'm.layer.0.fc', 'view']"; the
/// last is the node itself.
std::string module_path(const OnnxNode& node) {
  for (const OnnxKeyValue& entry : node.metadata) {
    if (entry.key != "pkg.torch.onnx.name_scopes") continue;
    const std::vector<std::string> quoted = split(entry.value, '\'');
    // ["[", "m", ", ", "m.layer.0", ", ", .., "]"]: names and separators in turn.
    std::vector<std::string> names;
    for (const std::string& part : quoted) {
      if (part.find_first_of("[], ") == std::string::npos) names.push_back(part);
    }
    return names.size() < 2 ? std::string() : names[names.size() - 2];
  }
  return {};
}

/// Parts of a path in which a number is joined to the part before it.
std::vector<std::string> path_of(const OnnxNode& node, std::string_view prefix) {
  std::string path = module_path(node);
  if (!path.empty()) {
    std::vector<std::string> joined;
    for (std::string& part : split(path, '.')) {
      if (is_number(part) && !joined.empty()) {
        joined.back() += "." + part;
      } else {
        joined.push_back(std::move(part));
      }
    }
    return joined;
  }
  path = std::string(prefix) + std::string(node.name);
  if (path.find('/') == std::string::npos) return {};
  std::vector<std::string> parts = split(path, '/');
  if (!parts.empty()) parts.pop_back();  // the op
  return parts;
}

bool ends_in_number(const std::string& part) {
  const size_t dot = part.rfind('.');
  return dot != std::string::npos && dot > 0 && is_number(std::string_view(part).substr(dot + 1));
}

}  // namespace

OnnxLabel label_of(const OnnxNode& node, std::string_view prefix) {
  const std::vector<std::string> path = path_of(node, prefix);
  const auto layer = std::find_if(path.begin(), path.end(), ends_in_number);
  OnnxLabel label;
  if (layer != path.end()) label.layer = *layer;
  for (auto part = layer == path.end() ? path.begin() : layer + 1; part != path.end(); ++part) {
    label.scope += (label.scope.empty() ? "" : "/") + *part;
  }
  return label;
}

}  // namespace wafer::importers
