#include "wafer/autodiff/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "wafer/base/error.h"
#include "wafer/ir/builder.h"

namespace wafer::autodiff {
namespace {

using ir::ElementFn;
using ir::Function;
using ir::Ints;
using ir::Output;
using ir::ValueId;

bool is_float_scalar(const Function& f, ValueId v) {
  return f.type_of(v).rank() == 0 && is_float(f.type_of(v).dtype);
}

bool has_classes(const Function& f, ValueId v) {
  return f.type_of(v).rank() > 0 && is_float(f.type_of(v).dtype);
}

/// logits [.., V], labels [..] -> the mean loss of the labels that count; 0 when there is none.
ValueId mean_cross_entropy(ir::Builder& b, ValueId logits, ValueId labels, int64_t ignore_index) {
  const ValueId losses = b.cross_entropy(logits, labels, ignore_index);
  const DType dtype = b.type_of(losses).dtype;
  Ints dims(b.shape_of(losses).size());
  std::iota(dims.begin(), dims.end(), 0);
  const ValueId ignored = b.scalar(static_cast<double>(ignore_index), DType::I32);
  const ValueId counts = b.convert(b.binary(ElementFn::NotEqual, labels, ignored), dtype);
  const ValueId sum = b.reduce_sum(losses, dims);
  const ValueId count = b.reduce_sum(counts, dims);
  return b.divide(sum, b.binary(ElementFn::Maximum, count, b.scalar(1, dtype)));
}

}  // namespace

ValueId find_or_attach_loss(ir::Graph& graph, const std::string& name, int64_t ignore_index) {
  const Function& f = graph.entry();
  for (const Output& output : f.outputs) {
    if (output.name == name && is_float_scalar(f, output.value)) return output.value;
  }
  const auto logits = std::find_if(f.outputs.begin(), f.outputs.end(),
                                   [&](const Output& o) { return has_classes(f, o.value); });
  if (logits == f.outputs.end()) {
    throw InputError(
        fmt::format("{} cannot be trained: it has neither a float scalar \"{}\" among "
                    "its outputs nor float logits to put a loss on",
                    f.name, name));
  }
  const ValueId value = logits->value;
  Shape shape = f.type_of(value).shape;
  shape.pop_back();
  const bool taken = std::any_of(f.inputs.begin(), f.inputs.end(),
                                 [](const ir::Input& i) { return i.name == "labels"; });
  if (taken) {
    throw InputError(
        fmt::format("{} has an input \"labels\" but no float scalar output \"{}\": "
                    "name the output that is its loss",
                    f.name, name));
  }
  ir::Builder b(graph, graph.main);
  b.scope = "loss";
  const ValueId labels = b.input("labels", {DType::I32, shape});
  return mean_cross_entropy(b, value, labels, ignore_index);
}

}  // namespace wafer::autodiff
