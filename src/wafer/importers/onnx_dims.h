#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "wafer/importers/onnx.h"
#include "wafer/importers/onnx_model.h"

namespace wafer::importers {

/// Gives the named dimensions of a file's inputs their values.
class OnnxDims {
 public:
  /// With `open_batch`, the batch becomes ir::BatchSymbol instead of options.batch.
  /// Throws InputError when a value of the options is no size.
  OnnxDims(const OnnxOptions& options, bool open_batch);

  /// The shape of an input. A dimension without a value is remembered, and stands as 1.
  Shape shape_of(const OnnxValueInfo& input);
  /// The batch occurs, and was left open.
  bool batch_is_open() const { return batch_is_open_; }
  /// Throws InputError naming every dimension without a value and where it occurs, or a value
  /// of the options for a dimension that no input has.
  void throw_if_unbound(const std::string& file) const;

 private:
  Dim dim_of(const OnnxValueInfo& input, size_t d);
  /// A name, or sums and products of names and numbers.
  std::optional<Dim> evaluate(std::string_view text);
  std::optional<Dim> value_of(const std::string& name);
  std::optional<Dim> batch();
  void throw_if_unmet(const std::string& file) const;

  const OnnxOptions& options_;
  bool open_batch_;
  bool batch_is_open_ = false;
  std::map<std::string, std::vector<std::string>> places_;  ///< of unbound names
  std::set<std::string> met_;                               ///< names in the inputs' shapes
};

}  // namespace wafer::importers
