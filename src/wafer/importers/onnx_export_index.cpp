#include "wafer/importers/onnx_export_ops.h"

#include <algorithm>

#include "wafer/importers/onnx_model.h"

namespace wafer::importers {
namespace {

using ir::AttrKey;
using ir::Ints;

Ints counting(int64_t from, int64_t to) {
  Ints result;
  for (int64_t i = from; i < to; ++i) result.push_back(i);
  return result;
}

/// The attributes that say which dimensions indices address.
struct Addressing {
  Ints offset_dims, collapsed, start_index_map, operand_batch, indices_batch;
  int64_t vector_dim = 0;
  int64_t indices_rank = 0;

  explicit Addressing(const ExportCall& c)
      : offset_dims(c.op.attrs.get<Ints>(AttrKey::OffsetDims)),
        collapsed(c.op.attrs.get<Ints>(AttrKey::CollapsedDims)),
        start_index_map(c.op.attrs.get<Ints>(AttrKey::StartIndexMap)),
        operand_batch(c.op.attrs.get_or<Ints>(AttrKey::OperandBatchDims, {})),
        indices_batch(c.op.attrs.get_or<Ints>(AttrKey::IndicesBatchDims, {})),
        vector_dim(c.op.attrs.get<int64_t>(AttrKey::IndexVectorDim)),
        indices_rank(c.type(1).rank()) {}

  /// Single indices of one dimension, with no batch.
  bool is_rows() const {
    return operand_batch.empty() && vector_dim == indices_rank && start_index_map.size() == 1 &&
           collapsed == start_index_map;
  }
  /// Index vectors of the dimensions behind the leading batch ones, in order.
  bool is_nd() const {
    const auto batch = static_cast<int64_t>(operand_batch.size());
    const auto k = static_cast<int64_t>(start_index_map.size());
    return operand_batch == counting(0, batch) && indices_batch == operand_batch &&
           collapsed == start_index_map && start_index_map == counting(batch, batch + k) &&
           (vector_dim == indices_rank || vector_dim == indices_rank - 1);
  }
  int64_t outer_rank() const { return vector_dim == indices_rank ? indices_rank : vector_dim; }
};

bool takes_whole(const ExportCall& c, const Addressing& a) {
  const Ints& sizes = c.op.attrs.get<Ints>(AttrKey::Sizes);
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    const auto has = [&](const Ints& dims) {
      return std::find(dims.begin(), dims.end(), dim) != dims.end();
    };
    if (has(a.collapsed) || has(a.operand_batch)) continue;
    if (sizes[d] != -1 && Dim(sizes[d]) != c.type(0).shape[d]) return false;
  }
  return true;
}

/// Indices [.., K]; single ones get a dimension of 1.
std::string vectors(const ExportCall& c, const Addressing& a) {
  if (a.vector_dim != a.indices_rank) return c.in(1);
  return c.out.node("Unsqueeze", {c.in(1), c.out.ints({-1})});
}

}  // namespace

Ports export_gather(const ExportCall& c) {
  const Addressing a(c);
  const int64_t rank = c.type(0).rank();
  if (takes_whole(c, a) && a.is_rows()) {
    const int64_t axis = a.collapsed[0];
    Ints expected = counting(0, axis);
    for (int64_t d = axis + 1; d < rank; ++d) expected.push_back(d - 1 + a.indices_rank);
    if (a.offset_dims == expected) {
      return {port(c.types[0], c.out.node("Gather", {c.in(0), c.in(1)}, {{"axis", axis}}))};
    }
  }
  const int64_t outer = a.outer_rank();
  const auto free = static_cast<int64_t>(a.offset_dims.size());
  if (!takes_whole(c, a) || !a.is_nd() || a.offset_dims != counting(outer, outer + free)) {
    OnnxExporter::refuse("gathers other than whole rows");
  }
  std::string indices = vectors(c, a);
  if (c.type(1).dtype != DType::I64) {  // GatherND takes no other
    indices = c.out.node("Cast", {indices}, {{"to", static_cast<int64_t>(OnnxType::Int64)}});
  }
  const auto batch = static_cast<int64_t>(a.operand_batch.size());
  return {port(c.types[0], c.out.node("GatherND", {c.in(0), indices}, {{"batch_dims", batch}}))};
}

Ports export_scatter(const ExportCall& c) {
  const Addressing a(c);
  const int64_t outer = a.outer_rank();
  const auto free = static_cast<int64_t>(a.offset_dims.size());
  if (!a.is_nd() || !a.operand_batch.empty() || a.offset_dims != counting(outer, outer + free)) {
    OnnxExporter::refuse("scatters other than whole rows");
  }
  std::string reduction = "none";
  if (const ir::AttrValue* fn = c.op.attrs.find(AttrKey::Fn)) {
    const auto by = std::get<ir::ElementFn>(*fn);
    reduction = by == ir::ElementFn::Add        ? "add"
                : by == ir::ElementFn::Multiply ? "mul"
                : by == ir::ElementFn::Maximum  ? "max"
                : by == ir::ElementFn::Minimum  ? "min"
                                                : "";
    if (reduction.empty()) OnnxExporter::refuse("scatters by another function");
  }
  std::string indices = vectors(c, a);
  if (c.type(1).dtype != DType::I64) {
    indices = c.out.node("Cast", {indices}, {{"to", static_cast<int64_t>(OnnxType::Int64)}});
  }
  return {port(c.types[0],
               c.out.node("ScatterND", {c.in(0), indices, c.in(2)}, {{"reduction", reduction}}))};
}

}  // namespace wafer::importers
