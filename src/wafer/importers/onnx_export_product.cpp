// Products and windows as ONNX nodes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "wafer/importers/known.h"
#include "wafer/importers/onnx_export_ops.h"
#include "wafer/ir/convolution.h"

namespace wafer::importers {

using ir::AttrKey;
using ir::ElementFn;
using ir::Ints;

namespace {

/// The entries of the spatial dimensions, or nothing where batch or feature have another than
/// `outer`.
std::optional<Ints> spatial(const Ints& all, int64_t outer) {
  if (all.size() < 3 || all[0] != outer || all[1] != outer) return std::nullopt;
  return Ints(all.begin() + 2, all.end());
}

}  // namespace

Ports export_reduce_window(const ExportCall& c) {
  const auto window = spatial(c.list(AttrKey::Window), 1);
  const auto strides = spatial(c.list(AttrKey::Strides), 1);
  const auto low = spatial(c.list(AttrKey::PaddingLow), 0);
  const auto high = spatial(c.list(AttrKey::PaddingHigh), 0);
  if (!window || !strides || !low || !high) OnnxExporter::refuse("a window over batch or features");
  Ints pads = *low;
  pads.insert(pads.end(), high->begin(), high->end());
  OnnxAttrs attrs = {{"kernel_shape", *window}, {"strides", *strides}, {"pads", pads}};
  const auto fn = c.op.attrs.get<ElementFn>(AttrKey::Fn);
  if ((fn == ElementFn::Maximum || fn == ElementFn::Add) &&
      !is_neutral_element(fn, c.operands[1]->splat(), c.types[0].dtype)) {
    OnnxExporter::refuse("a window with an initial value");
  }
  if (fn == ElementFn::Maximum) return c.one(c.out.node("MaxPool", {c.in(0)}, attrs));
  if (fn != ElementFn::Add) OnnxExporter::refuse(fmt::format("a window of {}", name_of(fn)));
  attrs.push_back({"count_include_pad", int64_t{1}});
  const double count = static_cast<double>(elements_in(*window));
  return c.one(c.out.node("Mul", {c.out.node("AveragePool", {c.in(0)}, attrs), c.scalar(count)}));
}

namespace {

/// The operand in the type of the result, where a product is computed wider than its operands.
std::string widened(const ExportCall& c, size_t i) {
  if (c.type(i).dtype == c.types[0].dtype) return c.in(i);
  return c.out.node("Cast", {c.in(i)}, {{"to", export_type(c.types[0].dtype)}});
}

Ints last_exchanged(int rank) {
  Ints permutation(static_cast<size_t>(rank));
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return permutation;
}

/// "abc,adc->abd": a letter for each dimension.
std::string equation(const ExportCall& c, const ir::DimPairs& contract, const ir::DimPairs& batch) {
  std::string left(c.type(0).shape.size(), ' '), right(c.type(1).shape.size(), ' '), result;
  char next = 'a';
  for (size_t i = 0; i < batch.lhs.size(); ++i) {
    left[static_cast<size_t>(batch.lhs[i])] = right[static_cast<size_t>(batch.rhs[i])] = next;
    result += next++;
  }
  for (size_t i = 0; i < contract.lhs.size(); ++i) {
    left[static_cast<size_t>(contract.lhs[i])] = right[static_cast<size_t>(contract.rhs[i])] =
        next++;
  }
  for (std::string* side : {&left, &right}) {
    for (char& letter : *side) {
      if (letter != ' ') continue;
      letter = next++;
      result += letter;
    }
  }
  if (next > 'z' + 1) OnnxExporter::refuse("a product of too many dimensions");
  return left + "," + right + "->" + result;
}

}  // namespace

/// MatMul where the dimensions are as it wants them, perhaps with the right side transposed; else
/// Einsum.
Ports export_dot_general(const ExportCall& c) {
  const auto& contract = c.op.attrs.get<ir::DimPairs>(AttrKey::Contract);
  const auto batch = c.op.attrs.get_or<ir::DimPairs>(AttrKey::Batch, {});
  const int left = c.type(0).rank(), right = c.type(1).rank();
  Ints leading(batch.lhs.size());
  std::iota(leading.begin(), leading.end(), 0);
  const auto outer = static_cast<int>(leading.size());
  const bool last_left = contract.lhs == Ints{left - 1} && contract.rhs.size() == 1;
  const bool fits = batch == ir::DimPairs{leading, leading} && right == outer + 2 &&
                    (outer == 0 || left == right) && last_left && left >= 2;
  const std::string a = widened(c, 0);
  std::string b = widened(c, 1);
  if (!fits) {
    return c.one(c.out.node("Einsum", {a, b}, {{"equation", equation(c, contract, batch)}}));
  }
  if (contract.rhs[0] == right - 1) {
    b = c.out.node("Transpose", {b}, {{"perm", last_exchanged(right)}});
  }
  return c.one(c.out.node("MatMul", {a, b}));
}

namespace {

bool is_plain(const ir::ConvolutionSpec::Layout& layout) {
  if (layout.batch != 0 || layout.feature != 1) return false;
  for (size_t d = 0; d < layout.spatial.size(); ++d) {
    if (layout.spatial[d] != d + 2) return false;
  }
  return true;
}

}  // namespace

Ports export_convolution(const ExportCall& c) {
  const ir::ConvolutionSpec spec = ir::convolution_spec(c.op.attrs, c.type(0).rank());
  const bool plain = is_plain(spec.input) && is_plain(spec.kernel) && is_plain(spec.output) &&
                     spec.batch_groups == 1 &&
                     spec.lhs_dilation == Ints(spec.lhs_dilation.size(), 1);
  Ints pads = spec.padding_low;
  pads.insert(pads.end(), spec.padding_high.begin(), spec.padding_high.end());
  const bool pads_outward = std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p >= 0; });
  if (!plain || !pads_outward) {
    OnnxExporter::refuse("a convolution with a dilated input, negative padding or other layouts");
  }
  return c.one(c.out.node("Conv", {widened(c, 0), widened(c, 1)},
                          {{"strides", spec.strides},
                           {"pads", pads},
                           {"dilations", spec.rhs_dilation},
                           {"group", spec.feature_groups}}));
}

}  // namespace wafer::importers
