#include "wafer/importers/onnx_tie.h"

#include <cstring>

namespace wafer::importers {
namespace {

constexpr int64_t SmallestTied = int64_t{1} << 11;
constexpr int64_t SampleSize = 64;
/// Bounds the comparisons; real models have fewer.
constexpr size_t MostMatrices = 4096;

/// An odd stride does not keep to one column.
int64_t sample_stride(int64_t count) { return (count / SampleSize) | 1; }

}  // namespace

std::optional<TiedMatrices::Matrix> TiedMatrices::matrix_of(const OnnxTensor& tensor,
                                                            ExternalData& external) {
  if (tensor.dims.size() != 2) return std::nullopt;
  const TensorType type = type_of(tensor);
  Matrix m{.data_type = tensor.data_type,
           .bytes = tensor.raw,
           .rows = tensor.dims[0],
           .columns = tensor.dims[1],
           .width = size_in_bytes(type.dtype)};
  if (m.count() < SmallestTied) return std::nullopt;
  const int64_t size = (Dim(m.count()) * Dim(m.width)).value();
  if (tensor.external) {
    const std::optional<std::string_view> bytes = external.bytes(tensor, size);
    if (!bytes) return std::nullopt;
    m.bytes = *bytes;
  }
  if (static_cast<int64_t>(m.bytes.size()) != size) return std::nullopt;
  bool constant = true;
  for (int64_t i = 0; i < m.count() && constant; i += sample_stride(m.count())) {
    constant = std::memcmp(m.at(0, i), m.at(0, 0), static_cast<size_t>(m.width)) == 0;
  }
  return constant ? std::nullopt : std::optional<Matrix>(m);
}

/// Whether b is a's data, element (r, c) of a being (c, r) of b if transposed, looking at every
/// stride-th element.
bool TiedMatrices::agree(const Matrix& a, const Matrix& b, bool transposed, int64_t stride) {
  for (int64_t i = 0; i < a.count(); i += stride) {
    const char* other = transposed ? b.at(i % a.columns, i / a.columns) : b.at(0, i);
    if (std::memcmp(a.at(0, i), other, static_cast<size_t>(a.width)) != 0) return false;
  }
  return true;
}

std::optional<TiedMatrices::Match> TiedMatrices::match(const OnnxTensor& tensor,
                                                       ExternalData& external) const {
  const std::optional<Matrix> b = matrix_of(tensor, external);
  if (!b) return std::nullopt;
  const int64_t stride = sample_stride(b->count());
  for (const auto& [a, term] : matrices_) {
    if (a.data_type != b->data_type) continue;
    const bool same = a.rows == b->rows && a.columns == b->columns;
    if (same && agree(a, *b, false, stride) && agree(a, *b, false, 1)) return Match{term, false};
    const bool reversed = a.rows == b->columns && a.columns == b->rows;
    if (reversed && agree(a, *b, true, stride) && agree(a, *b, true, 1)) return Match{term, true};
  }
  return std::nullopt;
}

void TiedMatrices::add(const OnnxTensor& tensor, ExternalData& external, const Term& term) {
  if (matrices_.size() >= MostMatrices) return;
  if (const std::optional<Matrix> m = matrix_of(tensor, external)) matrices_.emplace_back(*m, term);
}

}  // namespace wafer::importers
