#include "wafer/compile/precision.h"

namespace wafer::compile {
namespace {

bool changes(DType type) {
  return is_float(type) && size_in_bytes(type) >= 2 && size_in_bytes(type) <= 4;
}

ir::LiteralRef rounded(const ir::Literal& literal, DType precision) {
  ir::Literal copy = literal;
  copy.type.dtype = precision;
  for (double& x : copy.floats) x = round_to(precision, x);
  return std::make_shared<const ir::Literal>(std::move(copy));
}

}  // namespace

ir::Graph in_precision(const ir::Graph& graph, DType precision) {
  ir::Graph result = graph;
  for (ir::Function& function : result.functions) {
    for (ir::Value& value : function.values) {
      if (changes(value.type.dtype)) value.type.dtype = precision;
    }
    for (ir::Op& op : function.ops) {
      if (op.kind != ir::OpKind::Constant) continue;
      const auto& literal = op.attrs.get<ir::LiteralRef>(ir::AttrKey::Value);
      if (changes(literal->type.dtype)) {
        op.attrs.set(ir::AttrKey::Value, rounded(*literal, precision));
      }
    }
  }
  return result;
}

}  // namespace wafer::compile
