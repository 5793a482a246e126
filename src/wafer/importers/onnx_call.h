#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wafer/importers/fold.h"
#include "wafer/importers/onnx_model.h"

namespace wafer::importers {

class OnnxImporter;
struct OnnxFrame;

/// One node while it is imported: what its handler sees. Inputs and attributes are asked for by
/// place and name; what is asked for and absent, or not as the specification has it, throws
/// InputError (the importer adds node, op, domain and opset).
class OnnxCall {
 public:
  OnnxCall(OnnxImporter& importer, OnnxFrame& frame, const OnnxNode& node, Terms inputs,
           int64_t opset);

  Folder& fold;
  const OnnxNode& node;
  /// The version of the node's operator set.
  const int64_t opset;

  size_t input_count() const { return inputs_.size(); }
  /// Input i is given: there, and its name not empty.
  bool has(size_t i) const;
  const Term& in(size_t i) const;
  /// Input i as a weight: a constant of several floats (some exporters write weights so) becomes a
  /// parameter.
  const Term& weight(size_t i);
  /// Input i as a statistic of batch normalisation: no parameter to train.
  const Term& statistic(size_t i);
  /// Output i is given a name.
  bool wants(size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }

  /// Known elements of input i, numbers all. `what` names them in the message.
  ir::Ints ints_in(size_t i, const char* what) const;
  /// Known elements of input i, of which some may be open dimensions.
  Shape dims_in(size_t i, const char* what) const;
  int64_t int_in(size_t i, const char* what) const;
  double float_in(size_t i, const char* what) const;
  /// Also of a stored tensor of floats, which is no parameter then.
  std::vector<double> floats_in(size_t i, const char* what) const;

  bool has_attribute(std::string_view name) const { return attribute(name) != nullptr; }
  int64_t integer(std::string_view name, std::optional<int64_t> otherwise = {}) const;
  double real(std::string_view name, std::optional<double> otherwise = {}) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  ir::Ints ints(std::string_view name, const ir::Ints& otherwise = {}) const;
  std::vector<float> floats(std::string_view name) const;
  /// The elements of a tensor attribute.
  Known tensor(std::string_view name) const;
  /// A tensor attribute as a value: a constant, or a parameter when it holds millions of floats.
  Term constant_tensor(std::string_view name);

  /// A list that was an attribute before opset `since` and is input i from it on; nothing when it
  /// is not given.
  std::optional<ir::Ints> list(size_t i, std::string_view name, int64_t since) const;
  /// axis as a dimension of a tensor of this rank, negative ones counted from the end.
  int64_t axis(int64_t value, int rank) const;
  ir::Ints axes(const ir::Ints& values, int rank) const;

  /// Refuses attributes that nothing has asked for and that could change the result.
  void refuse_unread_attributes() const;
  /// Throws InputError: the op is known, but not so.
  [[noreturn]] void refuse(const std::string& what) const;
  /// Refuses unless the attribute is absent or has this value.
  void require(std::string_view name, int64_t value) const;
  /// Refuses input i when it is given.
  void refuse_input(size_t i, const char* what) const;

  /// Options of the import.
  bool batch_statistics() const;

 private:
  const OnnxAttribute* attribute(std::string_view name) const;
  const OnnxAttribute* attribute(std::string_view name, OnnxAttributeType type) const;
  const Known& known_in(size_t i, const char* what) const;

  OnnxImporter& importer_;
  OnnxFrame& frame_;
  Terms inputs_;
  mutable std::set<std::string_view> read_;  ///< attributes asked for
};

/// Makes the results of a node, one for each output or fewer.
using OnnxHandler = Terms (*)(OnnxCall& call);

}  // namespace wafer::importers
