// Types of gather and scatter.
#include <algorithm>

#include "wafer/ir/typing.h"

namespace wafer::ir {
namespace {

/// Attributes that gather and scatter share. For a scatter, offset_dims are the window dimensions
/// of the updates.
struct Indexing {
  const Ints& offset_dims;
  const Ints& collapsed;
  const Ints& start_index_map;
  Ints operand_batch;
  Ints indices_batch;
  int64_t vector_dim;
};

Indexing indexing_of(const Typing& t) {
  return {.offset_dims = t.ints(AttrKey::OffsetDims),
          .collapsed = t.ints(AttrKey::CollapsedDims),
          .start_index_map = t.ints(AttrKey::StartIndexMap),
          .operand_batch = t.attrs.get_or<Ints>(AttrKey::OperandBatchDims, {}),
          .indices_batch = t.attrs.get_or<Ints>(AttrKey::IndicesBatchDims, {}),
          .vector_dim = t.integer(AttrKey::IndexVectorDim)};
}

/// Which operand dimensions do not appear in the window.
std::vector<bool> hidden_dims(const Typing& t, const Indexing& x) {
  const size_t rank = t.operands[0].shape.size();
  Ints hidden = x.collapsed;
  hidden.insert(hidden.end(), x.operand_batch.begin(), x.operand_batch.end());
  t.require_dims("IDX3", hidden, rank, "collapsed_dims and operand_batch_dims");
  std::vector<bool> result(rank, false);
  for (int64_t d : hidden) result[static_cast<size_t>(d)] = true;
  return result;
}

/// Rules IDX2 and IDX4: the map of index components to operand dimensions.
void check_map(const Typing& t, const Indexing& x) {
  const TensorType& operand = t.operands[0];
  const TensorType& indices = t.operands[1];
  const auto rank = static_cast<int64_t>(indices.shape.size());
  t.require_integer("IDX1", indices, "indices");
  t.require(x.vector_dim >= 0 && x.vector_dim <= rank, "IDX2",
            "index_vector_dim is 0 to the rank of the indices ({}); found {}", rank, x.vector_dim);
  const Dim length =
      x.vector_dim == rank ? Dim(1) : indices.shape[static_cast<size_t>(x.vector_dim)];
  t.require(length == Dim(static_cast<int64_t>(x.start_index_map.size())), "IDX2",
            "start_index_map has {} entries, but an index has {}", x.start_index_map.size(),
            length);
  Ints mapped = x.start_index_map;
  mapped.insert(mapped.end(), x.operand_batch.begin(), x.operand_batch.end());
  t.require_dims("IDX4", mapped, operand.shape.size(), "start_index_map and operand_batch_dims");
}

/// Rule IDX5: batch dimensions of operand and indices go in pairs of equal size.
void check_batch(const Typing& t, const Indexing& x) {
  const Shape& operand = t.operands[0].shape;
  const Shape& indices = t.operands[1].shape;
  t.require(x.operand_batch.size() == x.indices_batch.size(), "IDX5",
            "batch dimensions go in pairs; found {} and {}", x.operand_batch.size(),
            x.indices_batch.size());
  t.require_dims("IDX5", x.indices_batch, indices.size(), "indices_batch_dims");
  for (size_t i = 0; i < x.operand_batch.size(); ++i) {
    const Dim& a = operand[static_cast<size_t>(x.operand_batch[i])];
    const Dim& b = indices[static_cast<size_t>(x.indices_batch[i])];
    t.require(x.indices_batch[i] != x.vector_dim && a == b, "IDX5",
              "batch dimension {} of the operand ({}) does not go with {} of the indices ({})",
              x.operand_batch[i], a, x.indices_batch[i], b);
  }
}

/// Rule IDX6: puts window dimensions at offset_dims and those of the indices, without the index
/// itself, in the places left.
Shape merged_shape(const Typing& t, const Indexing& x, const Shape& window) {
  Shape outer;
  const Shape& indices = t.operands[1].shape;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (static_cast<int64_t>(i) != x.vector_dim) outer.push_back(indices[i]);
  }
  t.require(window.size() == x.offset_dims.size(), "IDX6",
            "offset_dims has {} entries, but the window has {} dimensions", x.offset_dims.size(),
            window.size());
  const size_t rank = outer.size() + window.size();
  t.require_dims("IDX6", x.offset_dims, rank, "offset_dims");
  t.require(std::is_sorted(x.offset_dims.begin(), x.offset_dims.end()), "IDX6",
            "offset_dims must ascend");
  Shape merged;
  size_t next_window = 0;
  for (size_t i = 0; i < rank; ++i) {
    const bool in_window =
        next_window < window.size() && x.offset_dims[next_window] == static_cast<int64_t>(i);
    merged.push_back(in_window ? window[next_window] : outer[i - next_window]);
    if (in_window) ++next_window;
  }
  return merged;
}

}  // namespace

Types type_gather(const Typing& t) {
  const TensorType& operand = t.operands[0];
  const Indexing x = indexing_of(t);
  const std::vector<bool> hidden = hidden_dims(t, x);
  check_map(t, x);
  check_batch(t, x);
  const Ints& sizes = t.ints(AttrKey::Sizes);
  t.require_length("GAT1", sizes, operand.shape.size(), AttrKey::Sizes);
  Shape window;
  for (size_t i = 0; i < sizes.size(); ++i) {
    t.require(sizes[i] >= -1 && may_be_at_most(Dim(sizes[i]), operand.shape[i]), "GAT2",
              "size {} is not within dimension {} of {}", sizes[i], i, operand);
    t.require(!hidden[i] || sizes[i] == 1, "GAT3",
              "a collapsed or batch dimension has size 1; found {} in dimension {}", sizes[i], i);
    if (!hidden[i]) window.push_back(sizes[i] == -1 ? operand.shape[i] : Dim(sizes[i]));
  }
  return {{operand.dtype, merged_shape(t, x, window)}};
}

Types type_scatter(const Typing& t) {
  const TensorType& operand = t.operands[0];
  const TensorType& updates = t.operands[2];
  const Indexing x = indexing_of(t);
  const std::vector<bool> hidden = hidden_dims(t, x);
  check_map(t, x);
  check_batch(t, x);
  t.require_dims("IDX6", x.offset_dims, updates.shape.size(), "offset_dims");
  Shape window;
  for (int64_t d : x.offset_dims) window.push_back(updates.shape[static_cast<size_t>(d)]);
  const TensorType expected{operand.dtype, merged_shape(t, x, window)};
  t.require(updates == expected, "SCT1", "updates must be {}; found {}", expected, updates);
  size_t next = 0;
  for (size_t i = 0; i < hidden.size(); ++i) {
    if (hidden[i]) continue;
    t.require(next < window.size() && may_be_at_most(window[next], operand.shape[i]), "SCT2",
              "the window of the updates {} does not fit into {}", updates, operand);
    ++next;
  }
  t.require(next == window.size(), "SCT2", "the window of {} has {} dimensions, but {} leaves {}",
            updates, window.size(), operand, next);
  if (const AttrValue* fn = t.attrs.find(AttrKey::Fn)) {
    t.require_reduction("RED6", std::get<ElementFn>(*fn), operand.dtype);
  }
  return {operand};
}

}  // namespace wafer::ir
