#pragma once

#include "wafer/importers/fold.h"
#include "wafer/importers/onnx_tensor.h"

namespace wafer::importers {

/// Finds matrices that a file stores twice, perhaps transposed, as some exporters do to embeddings
/// that serve as output layer too. Only data that is there is compared, a sample of it first;
/// matrices whose sample is all one value tell nothing.
class TiedMatrices {
 public:
  struct Match {
    Term term;        ///< of the matrix that was added
    bool transposed;  ///< the new one is its transpose
  };
  /// The matrix added before that `tensor` equals.
  std::optional<Match> match(const OnnxTensor& tensor, ExternalData& external) const;
  void add(const OnnxTensor& tensor, ExternalData& external, const Term& term);

 private:
  struct Matrix {
    int32_t data_type = 0;
    std::string_view bytes;
    int64_t rows = 0, columns = 0;
    int64_t width = 0;  ///< of an element, bytes

    int64_t count() const { return rows * columns; }
    const char* at(int64_t row, int64_t column) const {
      return bytes.data() + (row * columns + column) * width;
    }
  };
  static std::optional<Matrix> matrix_of(const OnnxTensor& tensor, ExternalData& external);
  static bool agree(const Matrix& a, const Matrix& b, bool transposed, int64_t stride);

  std::vector<std::pair<Matrix, Term>> matrices_;
};

}  // namespace wafer::importers
