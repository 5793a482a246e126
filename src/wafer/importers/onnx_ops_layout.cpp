// Ops that move elements: transposes, slices, joins, padding, resizing.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "wafer/importers/onnx_formulas.h"
#include "wafer/importers/onnx_ops.h"

namespace wafer::importers {

using ir::Ints;

Terms split_last(Folder& f, const Term& x, const Ints& sizes) {
  Terms parts;
  int64_t at = 0;
  for (int64_t size : sizes) {
    parts.push_back(f.slice_dim(x, x.rank() - 1, at, at + size));
    at += size;
  }
  return parts;
}

namespace {

Terms transpose(OnnxCall& c) {
  const int rank = c.in(0).rank();
  Ints permutation = c.ints("perm");
  if (permutation.empty()) {
    for (int64_t d = rank; d-- > 0;) permutation.push_back(d);
  }
  if (permutation.size() != static_cast<size_t>(rank)) c.refuse("perm needs one entry a dimension");
  return {c.fold.transpose(c.in(0), c.axes(permutation, rank))};
}

Terms concat(OnnxCall& c) {
  Terms parts;
  for (size_t i = 0; i < c.input_count(); ++i) parts.push_back(c.in(i));
  if (parts.empty()) c.refuse("needs an input");
  for (const Term& part : parts) {
    if (part.rank() != parts[0].rank()) c.refuse("its inputs differ in rank");
  }
  const int64_t axis = c.axis(c.integer("axis"), parts[0].rank());
  return {c.fold.concatenate(parts, axis)};
}

/// Sizes of equal parts of `whole`, the last perhaps smaller.
Ints equal_parts(const OnnxCall& c, int64_t whole, int64_t count) {
  if (count < 1 || count > whole) {
    c.refuse(fmt::format("splits {} into {} parts", whole, count));
  }
  const int64_t size = (whole + count - 1) / count;
  Ints sizes(static_cast<size_t>(count), size);
  sizes.back() = whole - size * (count - 1);
  if (sizes.back() < 0) c.refuse(fmt::format("splits {} into {} parts", whole, count));
  return sizes;
}

Terms split(OnnxCall& c) {
  const Term& x = c.in(0);
  const int64_t axis = c.axis(c.integer("axis", 0), x.rank());
  const int64_t whole = x.dim(static_cast<size_t>(axis)).value();
  const std::optional<Ints> given = c.list(1, "split", 13);
  const auto count = static_cast<int64_t>(c.node.outputs.size());
  const Ints sizes = given ? *given : equal_parts(c, whole, c.integer("num_outputs", count));
  if (std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != whole ||
      *std::min_element(sizes.begin(), sizes.end()) < 0) {
    c.refuse(fmt::format("its parts do not add up to {}", whole));
  }
  Terms parts;
  int64_t at = 0;
  for (int64_t size : sizes) {
    parts.push_back(c.fold.slice_dim(x, axis, at, at + size));
    at += size;
  }
  return parts;
}

/// What a Slice does to one dimension: with a negative step, of the reversed dimension.
struct Cut {
  int64_t start = 0;
  int64_t limit = -1;
  int64_t step = 1;
  bool reversed = false;
};

Cut cut_of(const OnnxCall& c, const Dim& d, const Dim& start, const Dim& end, int64_t step) {
  if (step == 0) c.refuse("a step of 0");
  if (!d.is_static()) {
    const bool to_end = end == d || end.factor() >= (int64_t{1} << 31);
    if (start == Dim(0) && to_end && step == 1) return {};
    const bool inside = start.is_static() && end.is_static() && start.factor() >= 0 &&
                        end.factor() >= start.factor() && end.factor() <= d.factor();
    if (inside && step > 0) return {.start = start.factor(), .limit = end.factor(), .step = step};
    c.refuse(fmt::format("takes {} to {} by {} of a dimension {} that is open", start.text(),
                         end.text(), step, d.text()));
  }
  const int64_t size = d.factor();
  const bool reversed = step < 0;
  const auto place = [&](const Dim& p) {
    const int64_t at = p.value() < 0 ? std::max<int64_t>(p.value(), -size - 1) + size : p.value();
    return reversed ? size - 1 - std::clamp<int64_t>(at, -1, size - 1)
                    : std::clamp<int64_t>(at, 0, size);
  };
  // Backwards from before the first element there is nothing.
  const int64_t from = std::min(place(start), size);
  return {.start = from,
          .limit = std::max(from, place(end)),
          .step = step == INT64_MIN ? INT64_MAX : std::abs(step),
          .reversed = reversed};
}

struct SliceLists {
  Shape starts, ends;
  std::optional<Ints> axes, steps;
};

SliceLists slice_lists(const OnnxCall& c) {
  if (c.opset >= 10) {
    return {c.dims_in(1, "starts"), c.dims_in(2, "ends"), c.list(3, "axes", 10),
            c.list(4, "steps", 10)};
  }
  const Ints starts = c.ints("starts");
  const Ints ends = c.ints("ends");
  return {{starts.begin(), starts.end()}, {ends.begin(), ends.end()}, c.list(3, "axes", 10), {}};
}

Terms slice(OnnxCall& c) {
  const Term& x = c.in(0);
  const SliceLists lists = slice_lists(c);
  Ints axes(lists.starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (lists.axes) axes = *lists.axes;
  const Ints steps = lists.steps.value_or(Ints(axes.size(), 1));
  if (lists.starts.size() != axes.size() || lists.ends.size() != axes.size() ||
      steps.size() != axes.size()) {
    c.refuse("starts, ends, axes and steps differ in length");
  }
  axes = c.axes(axes, x.rank());
  const auto rank = static_cast<size_t>(x.rank());
  Ints starts(rank, 0), limits(rank, -1), strides(rank, 1), reversed;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<size_t>(axes[i]);
    const Cut cut = cut_of(c, x.dim(d), lists.starts[i], lists.ends[i], steps[i]);
    starts[d] = cut.start;
    limits[d] = cut.limit;
    // Past the end any step is one step.
    strides[d] = std::min<int64_t>(cut.step, int64_t{1} << 30);
    if (cut.reversed) reversed.push_back(axes[i]);
  }
  const Term turned = reversed.empty() ? x : c.fold.reverse(x, reversed);
  return {c.fold.slice(turned, starts, limits, strides)};
}

/// pads [begin.., end..] of every dimension.
Ints pads_of(const OnnxCall& c, size_t rank) {
  Ints given = c.opset >= 11 ? c.ints_in(1, "pads") : c.ints("pads");
  if (!c.has(3)) {
    if (given.size() != 2 * rank) c.refuse("pads needs two entries a dimension");
    return given;
  }
  const Ints axes = c.axes(c.ints_in(3, "axes"), static_cast<int>(rank));
  if (given.size() != 2 * axes.size()) c.refuse("pads needs two entries an axis");
  Ints all(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    all[static_cast<size_t>(axes[i])] = given[i];
    all[rank + static_cast<size_t>(axes[i])] = given[axes.size() + i];
  }
  return all;
}

/// x lengthened in one dimension by its own elements: mirrored about the first and last (reflect),
/// repeated (edge) or continued from the other end (wrap).
Term pad_by_copies(const OnnxCall& c, Term x, int64_t dim, int64_t low, int64_t high,
                   const std::string& mode) {
  const int64_t size = x.dim(static_cast<size_t>(dim)).value();
  const int64_t most = mode == "reflect" ? size - 1 : size;
  if (low < 0 || high < 0 || (mode != "edge" && std::max(low, high) > most)) {
    c.refuse(fmt::format("pads {} and {} of {} in mode {}", low, high, size, mode));
  }
  const auto part = [&](int64_t from, int64_t to) { return c.fold.slice_dim(x, dim, from, to); };
  const auto repeated = [&](int64_t from, int64_t times) {
    Shape shape = x.shape();
    shape[static_cast<size_t>(dim)] = Dim(times);
    return c.fold.broadcast_to(part(from, from + 1), shape);
  };
  Terms parts;
  if (low > 0) {
    parts.push_back(mode == "edge"   ? repeated(0, low)
                    : mode == "wrap" ? part(size - low, size)
                                     : c.fold.reverse(part(1, low + 1), {dim}));
  }
  parts.push_back(x);
  if (high > 0) {
    parts.push_back(mode == "edge"   ? repeated(size - 1, high)
                    : mode == "wrap" ? part(0, high)
                                     : c.fold.reverse(part(size - 1 - high, size - 1), {dim}));
  }
  return c.fold.concatenate(parts, dim);
}

Terms pad(OnnxCall& c) {
  const auto rank = static_cast<size_t>(c.in(0).rank());
  const Ints pads = pads_of(c, rank);
  const std::string mode = c.text("mode", "constant");
  if (mode == "constant") {
    Term value = c.fold.scalar(c.opset < 11 ? c.real("value", 0) : 0, c.in(0).dtype());
    if (c.has(2)) value = c.fold.reshape(c.in(2), {});
    return {c.fold.emit(ir::OpKind::Pad, {c.in(0), value},
                        {{ir::AttrKey::Low, Ints(pads.begin(), pads.begin() + rank)},
                         {ir::AttrKey::High, Ints(pads.begin() + rank, pads.end())},
                         {ir::AttrKey::Interior, Ints(rank, 0)}})};
  }
  if (mode != "reflect" && mode != "edge" && mode != "wrap") c.refuse("mode " + mode);
  Term x = c.in(0);
  for (size_t d = 0; d < rank; ++d) {
    if (pads[d] == 0 && pads[rank + d] == 0) continue;
    x = pad_by_copies(c, x, static_cast<int64_t>(d), pads[d], pads[rank + d], mode);
  }
  return {x};
}

/// [B, C, H, W] and its block: a matrix of pixels in each element of depth.
Terms depth_to_space(OnnxCall& c) {
  const Term& x = c.in(0);
  const int64_t b = c.integer("blocksize");
  if (x.rank() != 4 || b < 1) c.refuse("needs an image and a blocksize");
  const auto depth = divide_exact(x.dim(1), Dim(b) * Dim(b));
  if (!depth) c.refuse("the blocksize does not divide the channels");
  const bool rows_first = c.text("mode", "DCR") == "DCR";
  const Dim n = x.dim(0), h = x.dim(2), w = x.dim(3);
  const Shape apart = rows_first ? Shape{n, b, b, *depth, h, w} : Shape{n, *depth, b, b, h, w};
  const Ints order = rows_first ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3};
  const Term moved = c.fold.transpose(c.fold.reshape(x, apart), order);
  return {c.fold.reshape(moved, {n, *depth, h * Dim(b), w * Dim(b)})};
}

Terms space_to_depth(OnnxCall& c) {
  const Term& x = c.in(0);
  const int64_t b = c.integer("blocksize");
  if (x.rank() != 4 || b < 1) c.refuse("needs an image and a blocksize");
  const auto h = divide_exact(x.dim(2), Dim(b));
  const auto w = divide_exact(x.dim(3), Dim(b));
  if (!h || !w) c.refuse("the blocksize does not divide the image");
  const Dim n = x.dim(0), depth = x.dim(1);
  const bool depth_first = c.text("mode", "DCR") == "DCR";
  const Ints order = depth_first ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4};
  const Term apart = c.fold.reshape(x, {n, depth, *h, b, *w, b});
  return {c.fold.reshape(c.fold.transpose(apart, order), {n, Dim(b * b) * depth, *h, *w})};
}

/// Each element repeated `times` along a dimension.
Term enlarge(Folder& f, const Term& x, size_t d, int64_t times) {
  if (times == 1) return x;
  const Term column = unsqueeze(f, x, d + 1);
  Shape wide = column.shape();
  wide[d + 1] = Dim(times);
  Shape result = x.shape();
  result[d] = result[d] * Dim(times);
  return f.reshape(f.broadcast_to(column, wide), result);
}

Terms enlarge_all(OnnxCall& c, const std::vector<double>& scales) {
  Term x = c.in(0);
  if (scales.size() != x.shape().size()) c.refuse("needs one scale a dimension");
  for (size_t d = 0; d < scales.size(); ++d) {
    const double scale = scales[d];
    if (scale < 1 || scale != std::floor(scale) || scale > 0x1p20) {
      c.refuse(fmt::format("scales by {}; supported are whole numbers", scale));
    }
    x = enlarge(c.fold, x, d, static_cast<int64_t>(scale));
  }
  return {x};
}

std::vector<double> resize_scales(const OnnxCall& c) {
  const size_t first = c.opset >= 11 ? 2 : 1;
  // An empty tensor stands for none.
  if (c.has(first) && c.in(first).shape() != Shape{0}) return c.floats_in(first, "scales");
  const Shape sizes = c.dims_in(3, "sizes");
  std::vector<double> scales;
  for (size_t d = 0; d < sizes.size() && d < c.in(0).shape().size(); ++d) {
    const auto scale = divide_exact(sizes[d], c.in(0).dim(d));
    if (!scale || !scale->is_static()) {
      c.refuse(fmt::format("resizes {} to {}; supported are whole multiples", c.in(0).dim(d).text(),
                           sizes[d].text()));
    }
    scales.push_back(static_cast<double>(scale->factor()));
  }
  return scales;
}

/// By whole numbers, to the nearest: each element is repeated, whichever way halves are rounded,
/// with these ways to count coordinates.
Terms resize(OnnxCall& c) {
  const std::string mode = c.text("mode", "nearest");
  if (mode != "nearest") c.refuse("mode " + mode + "; supported is nearest");
  const std::string way = c.text("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = c.text("nearest_mode", "round_prefer_floor");
  const bool floors = way == "asymmetric" && (rounding == "floor" || c.opset < 11);
  const bool centers = c.opset >= 11 && (way == "half_pixel" || way == "pytorch_half_pixel") &&
                       rounding != "floor" && rounding != "ceil";
  if (c.opset >= 11 && !floors && !centers) c.refuse("coordinates " + way + ", " + rounding);
  if (c.has_attribute("axes")) c.refuse("axes");
  return enlarge_all(c, resize_scales(c));
}

Terms upsample(OnnxCall& c) {
  const std::string mode = c.text("mode", "nearest");
  if (mode != "nearest") c.refuse("mode " + mode + "; supported is nearest");
  if (c.opset >= 9) return enlarge_all(c, c.floats_in(1, "scales"));
  const std::vector<float> scales = c.floats("scales");
  return enlarge_all(c, {scales.begin(), scales.end()});
}

constexpr auto Ops = std::to_array<OnnxOp>({
    {"Concat", concat},
    {"DepthToSpace", depth_to_space},
    {"Pad", pad},
    {"Resize", resize},
    {"Slice", slice},
    {"SpaceToDepth", space_to_depth},
    {"Split", split},
    {"Transpose", transpose},
    {"Upsample", upsample},
});

}  // namespace

std::span<const OnnxOp> onnx_layout_ops() { return Ops; }

}  // namespace wafer::importers
