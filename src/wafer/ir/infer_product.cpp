// Types of dot_general and convolution.
#include "wafer/ir/convolution.h"
#include "wafer/ir/typing.h"

namespace wafer::ir {
namespace {

bool is_fp8(DType dtype) { return dtype == DType::F8e4m3fn || dtype == DType::F8e5m2; }

/// Rules PRD1 to PRD3: the element type of a product.
DType product_type(const Typing& t) {
  const DType a = t.operands[0].dtype;
  const DType b = t.operands[1].dtype;
  t.require(a == b || (is_fp8(a) && is_fp8(b)), "PRD1",
            "operands must have one element type (8-bit floats may mix); found {} and {}",
            t.operands[0], t.operands[1]);
  t.require(a != DType::Bool, "PRD1", "multiplies numbers; found {}", t.operands[0]);
  if (const AttrValue* value = t.attrs.find(AttrKey::Accumulate)) {
    const auto accumulate = dtype_named(std::get<std::string>(*value));
    t.require(accumulate.has_value() && is_float(*accumulate) == is_float(a), "PRD3",
              "accumulate names an element type of the class of {}; found \"{}\"", name_of(a),
              std::get<std::string>(*value));
  }
  if (t.declared.empty()) {
    t.require(a == b, "PRD2", "a product of {} and {} needs a declared type", name_of(a),
              name_of(b));
    return a;
  }
  const DType result = t.declared_one().dtype;
  t.require(result != DType::Bool && is_float(result) == is_float(a), "PRD2",
            "the result of {} and {} is declared as {}; floats give floats, integers integers",
            name_of(a), name_of(b), name_of(result));
  return result;
}

/// Rules DOT1 and DOT2; marks the dimensions used.
void check_pairs(const Typing& t, const DimPairs& pairs, std::vector<bool>& lhs_used,
                 std::vector<bool>& rhs_used) {
  const TensorType& lhs = t.operands[0];
  const TensorType& rhs = t.operands[1];
  t.require(pairs.lhs.size() == pairs.rhs.size(), "DOT1",
            "dimensions go in pairs; found {} on the left and {} on the right", pairs.lhs.size(),
            pairs.rhs.size());
  for (size_t i = 0; i < pairs.lhs.size(); ++i) {
    const size_t l = t.require_dim("DOT1", pairs.lhs[i], lhs.shape.size());
    const size_t r = t.require_dim("DOT1", pairs.rhs[i], rhs.shape.size());
    t.require(!lhs_used[l] && !rhs_used[r], "DOT1", "a dimension stands in two pairs ([{}]x[{}])",
              l, r);
    t.require(lhs.shape[l] == rhs.shape[r], "DOT2",
              "dimension {} of {} and dimension {} of {} must be equal", l, lhs, r, rhs);
    lhs_used[l] = rhs_used[r] = true;
  }
}

void append_unused(const Shape& from, const std::vector<bool>& used, Shape& to) {
  for (size_t i = 0; i < from.size(); ++i) {
    if (!used[i]) to.push_back(from[i]);
  }
}

ConvolutionSpec::Layout layout_of(const Attributes& attrs, AttrKey key, char batch, char feature,
                                  int rank) {
  std::string text = {batch, feature};
  for (int i = 0; i < rank - 2; ++i) text += static_cast<char>('0' + i);
  const std::string expected = text;
  text = attrs.get_or<std::string>(key, text);
  const auto place = [&](char c) {
    const size_t at = text.find(c);
    if (at == std::string::npos || text.size() != expected.size()) {
      throw InputError(fmt::format(
          "convolution: {} must be the letters of \"{}\" in some order; found \"{}\" [CONV2]",
          name_of(key), expected, text));
    }
    return at;
  };
  ConvolutionSpec::Layout layout{place(batch), place(feature), {}};
  for (size_t i = 2; i < expected.size(); ++i) layout.spatial.push_back(place(expected[i]));
  return layout;
}

Ints list_of(const Attributes& attrs, AttrKey key, size_t length, int64_t otherwise) {
  Ints list = attrs.get_or<Ints>(key, Ints(length, otherwise));
  if (list.size() != length) {
    throw InputError(
        fmt::format("convolution: {} needs one entry a spatial dimension: {}, not {} [CONV3]",
                    name_of(key), length, list.size()));
  }
  return list;
}

/// Rules CONV4 and CONV5: channels and groups fit; input [b, f, ..], kernel [o, i, ..].
void check_channels(const Typing& t, const ConvolutionSpec& spec) {
  const TensorType& input = t.operands[0];
  const TensorType& kernel = t.operands[1];
  const int64_t groups = spec.feature_groups;
  t.require(groups >= 1 && spec.batch_groups >= 1 && (groups == 1 || spec.batch_groups == 1),
            "CONV5", "groups are at least 1, and only one sort of them above; found {} and {}",
            groups, spec.batch_groups);
  t.require(kernel.shape[spec.kernel.feature] * Dim(groups) == input.shape[spec.input.feature],
            "CONV4", "{} groups of the kernel's {} input features must be the input's {}", groups,
            kernel.shape[spec.kernel.feature], input.shape[spec.input.feature]);
  const Dim& out = kernel.shape[spec.kernel.batch];
  t.require(divide_exact(out, Dim(groups)) && divide_exact(out, Dim(spec.batch_groups)), "CONV5",
            "{} output features do not divide into {} groups", out,
            std::max(groups, spec.batch_groups));
}

}  // namespace

ConvolutionSpec convolution_spec(const Attributes& attrs, int rank) {
  if (rank < 2 || rank > 12) {
    throw InputError(fmt::format(
        "convolution: takes batch, feature and up to 10 spatial dimensions; found rank {} [CONV1]",
        rank));
  }
  const auto spatial = static_cast<size_t>(rank - 2);
  return {.input = layout_of(attrs, AttrKey::LhsLayout, 'b', 'f', rank),
          .kernel = layout_of(attrs, AttrKey::KernelLayout, 'o', 'i', rank),
          .output = layout_of(attrs, AttrKey::OutLayout, 'b', 'f', rank),
          .strides = list_of(attrs, AttrKey::Strides, spatial, 1),
          .padding_low = list_of(attrs, AttrKey::PaddingLow, spatial, 0),
          .padding_high = list_of(attrs, AttrKey::PaddingHigh, spatial, 0),
          .lhs_dilation = list_of(attrs, AttrKey::LhsDilation, spatial, 1),
          .rhs_dilation = list_of(attrs, AttrKey::RhsDilation, spatial, 1),
          .feature_groups = attrs.get_or<int64_t>(AttrKey::FeatureGroups, 1),
          .batch_groups = attrs.get_or<int64_t>(AttrKey::BatchGroups, 1)};
}

Types type_dot_general(const Typing& t) {
  const Shape& lhs = t.operands[0].shape;
  const Shape& rhs = t.operands[1].shape;
  std::vector<bool> lhs_used(lhs.size(), false);
  std::vector<bool> rhs_used(rhs.size(), false);
  const DimPairs batch = t.attrs.get_or<DimPairs>(AttrKey::Batch, {});
  check_pairs(t, batch, lhs_used, rhs_used);
  check_pairs(t, t.attrs.get<DimPairs>(AttrKey::Contract), lhs_used, rhs_used);
  TensorType type{product_type(t), {}};  // DOT3: batch, then left, then right dimensions
  for (int64_t d : batch.lhs) type.shape.push_back(lhs[static_cast<size_t>(d)]);
  append_unused(lhs, lhs_used, type.shape);
  append_unused(rhs, rhs_used, type.shape);
  return {type};
}

Types type_convolution(const Typing& t) {
  const TensorType& input = t.operands[0];
  const TensorType& kernel = t.operands[1];
  t.require(input.rank() == kernel.rank(), "CONV1", "input and kernel differ in rank: {} and {}",
            input, kernel);
  const ConvolutionSpec spec = convolution_spec(t.attrs, input.rank());
  check_channels(t, spec);
  TensorType type{product_type(t), Shape(input.shape.size())};
  const auto batch = divide_exact(input.shape[spec.input.batch], Dim(spec.batch_groups));
  t.require(batch.has_value(), "CONV5", "a batch of {} does not divide into {} groups",
            input.shape[spec.input.batch], spec.batch_groups);
  type.shape[spec.output.batch] = *batch;
  type.shape[spec.output.feature] = kernel.shape[spec.kernel.batch];
  for (size_t i = 0; i < spec.strides.size(); ++i) {  // CONV6
    const Dim& size = kernel.shape[spec.kernel.spatial[i]];
    t.require(size.is_static(), "CONV6", "the kernel's spatial size {} must be bound", size);
    const WindowDim window{.size = size.value(),
                           .stride = spec.strides[i],
                           .low = spec.padding_low[i],
                           .high = spec.padding_high[i],
                           .base_dilation = spec.lhs_dilation[i],
                           .window_dilation = spec.rhs_dilation[i]};
    type.shape[spec.output.spatial[i]] =
        window_places(t, "CONV6", input.shape[spec.input.spatial[i]], window);
  }
  return {type};
}

}  // namespace wafer::ir
