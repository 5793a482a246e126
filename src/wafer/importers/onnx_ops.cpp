#include "wafer/importers/onnx_ops.h"

#include <algorithm>
#include <map>

namespace wafer::importers {
namespace {

using Table = std::map<std::string_view, OnnxHandler>;

Table standard_table() {
  Table table;
  for (const auto& ops : {onnx_elementwise_ops(), onnx_activation_ops(), onnx_shape_ops(),
                          onnx_layout_ops(), onnx_index_ops(), onnx_reduce_ops(), onnx_window_ops(),
                          onnx_product_ops(), onnx_norm_ops(), onnx_attention_ops()}) {
    for (const OnnxOp& op : ops) table.emplace(op.name, op.handler);
  }
  return table;
}

const Table& table_of(std::string_view domain) {
  static const Table standard = standard_table();
  static const Table contrib = [] {
    Table table;
    for (const OnnxOp& op : onnx_contrib_ops()) table.emplace(op.name, op.handler);
    return table;
  }();
  static const Table none;
  if (domain.empty() || domain == "ai.onnx") return standard;
  return domain == MicrosoftDomain ? contrib : none;
}

}  // namespace

OnnxHandler find_onnx_handler(std::string_view domain, std::string_view op) {
  const Table& table = table_of(domain);
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

std::vector<std::string_view> supported_onnx_ops(std::string_view domain) {
  std::vector<std::string_view> names;
  for (const auto& [name, handler] : table_of(domain)) names.push_back(name);
  return names;
}

}  // namespace wafer::importers
