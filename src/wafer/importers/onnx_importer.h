#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "wafer/base/error.h"
#include "wafer/importers/fold.h"
#include "wafer/importers/onnx.h"
#include "wafer/importers/onnx_call.h"
#include "wafer/importers/onnx_dims.h"
#include "wafer/importers/onnx_tensor.h"
#include "wafer/importers/onnx_tie.h"

namespace wafer::importers {

/// The names that are visible at a place: those of a graph or of a function being inlined, and for
/// a branch those around it.
struct OnnxFrame {
  OnnxFrame* outer = nullptr;  ///< of a branch
  const std::map<std::string_view, int64_t>* opsets = nullptr;
  /// Attributes given to the function that is being inlined.
  std::map<std::string_view, const OnnxAttribute*> attributes;
  /// Where names of nodes of an inlined function are shown as part of, ends in '/'.
  std::string prefix;
  std::unordered_map<std::string_view, Term> terms;
  std::unordered_map<std::string_view, const OnnxTensor*> initializers;
  /// Made by a Constant or ConstantOfShape node, where some exporters keep weights.
  std::set<std::string_view> constants;
  /// Values that could not be made: what to say on use, or empty when it has been said.
  std::unordered_map<std::string_view, std::string> missing;
};

/// The file asks for more than any model does; ends the import at once.
class OnnxTooMuch : public InputError {
 public:
  using InputError::InputError;
};

/// Turns a parsed model into a graph. Use once.
class OnnxImporter {
 public:
  OnnxImporter(const OnnxModel& model, WireSource& source, ExternalData external,
               const OnnxOptions& options, bool open_batch);

  /// Throws InputError with all problems.
  ir::Graph run();
  /// Whether run() left the batch open.
  bool batch_is_open() const { return dims_.batch_is_open(); }

  Folder& fold() { return fold_; }
  const OnnxOptions& options() const { return options_; }
  /// The elements of a tensor of the file; throws where its data is absent.
  Known elements(const OnnxTensor& tensor);
  /// The stored tensor of that name; null when there is none.
  const OnnxTensor* stored(const OnnxFrame& frame, std::string_view name) const;
  /// A tensor of the file as a constant, or, if it holds more floats than constants do, as a
  /// parameter called `name`.
  Term constant_of(const OnnxTensor& tensor, std::string_view name);
  /// `term` as a parameter called `name`, if a node holds it as a constant of several floats.
  Term as_weight(OnnxFrame& frame, std::string_view name, const Term& term);
  void set_role(const Term& term, ir::Role role);

 private:
  /// Throws InputError for a name that stands twice.
  void store_initializers(const OnnxGraph& graph, OnnxFrame& frame) const;
  void add_inputs(OnnxFrame& frame);
  void add_outputs(OnnxFrame& frame);
  void import_nodes(const std::vector<OnnxNode>& nodes, OnnxFrame& frame, int depth);
  void import_node(const OnnxNode& node, OnnxFrame& frame, int depth);
  void import_if(const OnnxNode& node, OnnxFrame& frame, int depth);
  void import_function(const OnnxFunction& function, const OnnxNode& node, OnnxFrame& frame,
                       int depth);
  Terms call_handler(const OnnxNode& node, OnnxFrame& frame);

  /// The value of a name, or null after saying why there is none.
  const Term* find(OnnxFrame& frame, std::string_view name);
  Term term_of(const OnnxTensor& tensor, std::string_view name);
  Term tied_or_parameter(const OnnxTensor& tensor, std::string_view name, const TensorType& type);
  Term parameter(std::string_view name, const TensorType& type, ir::Role role);
  void set_outputs(const OnnxNode& node, OnnxFrame& frame, const Terms& results);
  /// The node's outputs stand as missing, and what follows from that is not told again.
  void fail_node(const OnnxNode& node, OnnxFrame& frame, const std::string& problem);
  std::string describe(const OnnxNode& node, OnnxFrame& frame);
  void set_place(const OnnxNode& node, const OnnxFrame& frame);
  int64_t opset_of(const OnnxFrame& frame, std::string_view domain) const;

  const OnnxModel& model_;
  WireSource& source_;
  ExternalData external_;
  const OnnxOptions& options_;
  OnnxDims dims_;
  std::string file_;  ///< its name without the folder, for locations
  ir::Graph graph_;
  ir::Builder builder_;
  Folder fold_;
  Problems problems_;
  std::map<std::string_view, int64_t> opsets_;
  std::map<std::pair<std::string_view, std::string_view>, const OnnxFunction*> functions_;
  std::set<std::string> input_names_;
  TiedMatrices matrices_;
  int64_t nodes_left_ = 250000;
};

}  // namespace wafer::importers
