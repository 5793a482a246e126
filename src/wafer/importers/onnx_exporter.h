#pragma once

#include <map>
#include <optional>
#include <string>

#include "wafer/base/error.h"
#include "wafer/importers/onnx_writer.h"
#include "wafer/ir/graph.h"

namespace wafer::importers {

/// A value while it is exported. A broadcast is left to the op that uses it where that broadcasts
/// by itself, as element-wise ops of ONNX do.
struct Port {
  TensorType type;
  std::string name;              ///< of the whole value; empty while only `narrow` exists
  std::string narrow;            ///< of a value that numpy's rule stretches to the type; or empty
  ir::LiteralRef constant = {};  ///< not yet written, while both names are empty

  /// What all elements of a constant are.
  std::optional<double> splat() const;
};

/// Writes the ops of a graph, those of called functions in their place.
class OnnxExporter {
 public:
  explicit OnnxExporter(const ir::Graph& graph) : graph_(graph) {}

  /// The bytes of the model. Throws InputError with all problems.
  std::string run(const std::string& file);

  OnnxWriter& out() { return out_; }
  /// The name of a whole value, which may need an Expand.
  const std::string& whole(Port& port);
  /// A name that stretches to the value.
  const std::string& stretching(Port& port);
  /// The name of a 1-dimensional i64 value with these dimensions as elements, of which some may be
  /// symbols.
  std::string dims(const Shape& shape);
  std::string reshape(const std::string& value, const Shape& from, const Shape& to);
  /// Throws InputError: the op is known, but not so.
  [[noreturn]] static void refuse(const std::string& what) { throw InputError(what); }

 private:
  void write_constant(Port& port);

  using Frame = std::map<ir::ValueId, Port>;
  void add_inputs(Frame& frame, const std::string& file);
  void run_function(const ir::Function& function, Frame& frame, const std::string& prefix);
  void run_op(const ir::Function& function, const ir::Op& op, Frame& frame,
              const std::string& prefix);
  void run_call(const ir::Op& op, Frame& frame, const std::string& prefix);

  const ir::Graph& graph_;
  OnnxWriter out_;
  Problems problems_;
  /// Of each symbol, an input and the dimension of it that is the symbol.
  std::map<std::string, std::pair<std::string, int64_t>> symbols_;
  std::map<std::string, std::string> symbol_values_;  ///< names of i64 [1]
};

/// What an op is exported with: its operands, and the types of its results.
struct ExportCall {
  OnnxExporter& to;
  OnnxWriter& out;
  const ir::Op& op;
  std::vector<Port*> operands;
  std::vector<TensorType> types;

  const std::string& in(size_t i) const { return to.whole(*operands[i]); }
  /// An attribute that is a list of integers.
  const ir::Ints& list(ir::AttrKey key) const { return op.attrs.get<ir::Ints>(key); }
  /// The only result, as a whole value.
  std::vector<Port> one(std::string name) const;
  const TensorType& type(size_t i) const { return operands[i]->type; }
  std::string scalar(double value, size_t of = 0) const {
    return out.scalar(value, operands[of]->type.dtype);
  }
};

/// Writes one op; one port a result. Throws InputError where ONNX has no form for it.
using ExportHandler = std::vector<Port> (*)(const ExportCall& call);
/// Null when there is none.
ExportHandler find_export_handler(ir::OpKind kind);
ExportHandler find_composite_handler(ir::OpKind kind);

/// The port of a whole value.
inline Port port(const TensorType& type, std::string name) {
  return {.type = type, .name = std::move(name), .narrow = {}};
}
inline std::vector<Port> ExportCall::one(std::string name) const {
  return {port(types[0], std::move(name))};
}

}  // namespace wafer::importers
