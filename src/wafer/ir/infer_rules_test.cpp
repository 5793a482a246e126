// For each rule of docs/spec/ops.md about the types of an op, ops that break it and no other; what
// keeps it is in support/op_samples.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "support/op_samples.h"
#include "wafer/base/error.h"
#include "wafer/ir/infer.h"

namespace wafer::ir {
namespace {

using K = AttrKey;
using Texts = std::vector<std::string>;

std::vector<TensorType> types(const Texts& texts) {
  std::vector<TensorType> result;
  for (const std::string& text : texts) result.push_back(TensorType::parse(text).value());
  return result;
}

/// The rule that refuses the op, or the types that it was given.
std::string refusing_rule(const Graph& graph, OpKind kind, const Texts& operands,
                          const Attributes& attrs, const Texts& declared) {
  try {
    std::string text;
    for (const TensorType& type :
         infer_types(graph, kind, types(operands), attrs, types(declared))) {
      text += type.text();
    }
    return text;
  } catch (const InputError& e) {
    const std::string what = e.what();
    const size_t open = what.rfind('[');
    return what.substr(open + 1, what.rfind(']') - open - 1);
  }
}

/// EXPECT that the rule refuses the op.
void refuses(const std::string& rule, OpKind kind, const Texts& operands,
             const Attributes& attrs = {}, const Texts& declared = {}, const Graph& graph = {}) {
  EXPECT_EQ(refusing_rule(graph, kind, operands, attrs, declared), rule) << name_of(kind);
}

/// `attrs` with one value changed.
Attributes with(Attributes attrs, AttrKey key, AttrValue value) {
  attrs.set(key, std::move(value));
  return attrs;
}

Attributes literal(const std::string& type, bool splat, std::vector<double> floats,
                   std::vector<int64_t> integers) {
  Literal result;
  result.type = TensorType::parse(type).value();
  result.splat = splat;
  result.floats = std::move(floats);
  result.integers = std::move(integers);
  return {{K::Value, std::make_shared<const Literal>(std::move(result))}};
}

Attributes fn(ElementFn f) { return {{K::Fn, f}}; }

TEST(Rules, of_declared_types) {
  refuses("TYPE1", OpKind::Iota, {}, {{K::Dim, int64_t{0}}});
  refuses("TYPE1", OpKind::Reshape, {"f32[2]"}, {}, {"f32[2]", "f32[2]"});
  refuses("TYPE2", OpKind::Softmax, {"f32[2]"}, {}, {"f32[3]"});
  refuses("TYPE2", OpKind::Softmax, {"f32[2]"}, {}, {"f32[2]", "f32[2]"});
  Graph graph;
  const std::vector<TensorType> negative = {{DType::F32, {-1}}};
  EXPECT_THROW(
      infer_types(graph, OpKind::CustomCall, {}, {{K::Target, std::string("t")}}, negative),
      InputError);  // TYPE3
}

TEST(Rules, of_sources) {
  refuses("TYPE2", OpKind::Constant, {}, literal("f32[2]", true, {1}, {}), {"f32[3]"});  // CONST1
  refuses("CONST2", OpKind::Constant, {}, literal("f32[2]", false, {1}, {}));
  refuses("CONST2", OpKind::Constant, {}, literal("f32[2]", false, {}, {1, 2}));
  refuses("CONST2", OpKind::Constant, {}, literal("i32[2]", false, {1, 2}, {}));
  refuses("CONST2", OpKind::Constant, {}, literal("f32[2]", true, {1, 2}, {}));
  refuses("CONST3", OpKind::Constant, {}, literal("f32[batch]", false, {1, 2}, {}));
  refuses("CONST4", OpKind::Constant, {}, literal("f32[]", true, {0.1}, {}));
  refuses("CONST4", OpKind::Constant, {}, literal("i8[]", true, {}, {128}));
  refuses("CONST4", OpKind::Constant, {}, literal("u8[]", true, {}, {-1}));
  refuses("CONST4", OpKind::Constant, {}, literal("bool[]", true, {}, {2}));
  refuses("IOTA1", OpKind::Iota, {}, {{K::Dim, int64_t{1}}}, {"i32[4]"});
  refuses("IOTA1", OpKind::Iota, {}, {{K::Dim, int64_t{-1}}}, {"i32[4]"});
  refuses("IOTA2", OpKind::Iota, {}, {{K::Dim, int64_t{0}}}, {"bool[4]"});
  const Attributes uniform{{K::Distribution, std::string("uniform")},
                           {K::Seed, int64_t{1}},
                           {K::Axis0, 0.0},
                           {K::Axis1, 1.0}};
  const Attributes normal = with(uniform, K::Distribution, std::string("normal"));
  refuses("RNG1", OpKind::Rng, {}, with(uniform, K::Distribution, std::string("beta")), {"f32[]"});
  refuses("RNG2", OpKind::Rng, {}, uniform, {"i32[]"});
  refuses("RNG3", OpKind::Rng, {}, with(uniform, K::Axis1, -1.0), {"f32[]"});
  refuses("RNG3", OpKind::Rng, {}, with(normal, K::Axis1, -1.0), {"f32[]"});
  refuses("RNG3", OpKind::Rng, {}, with(uniform, K::Axis0, std::nan("")), {"f32[]"});
}

TEST(Rules, of_elements) {
  refuses("ELT1", OpKind::Elementwise, {"f32[2]"}, fn(ElementFn::Add));
  refuses("ELT1", OpKind::Elementwise, {"f32[2]", "f32[2]"}, fn(ElementFn::Exp));
  refuses("ELT2", OpKind::Elementwise, {"f32[2]", "f32[1]"}, fn(ElementFn::Add));
  refuses("ELT2", OpKind::Elementwise, {"f32[2]", "f16[2]"}, fn(ElementFn::Add));
  refuses("ELT2", OpKind::Elementwise, {"f32[batch]", "f32[seq]"}, fn(ElementFn::Add));
  refuses("ELT3", OpKind::Elementwise, {"i32[2]"}, fn(ElementFn::Exp));
  refuses("ELT3", OpKind::Elementwise, {"f32[2]"}, fn(ElementFn::Not));
  refuses("ELT3", OpKind::Elementwise, {"bool[2]"}, fn(ElementFn::Abs));
  refuses("ELT3", OpKind::Elementwise, {"bool[2]", "bool[2]"}, fn(ElementFn::ShiftLeft));
  const Texts compared = {"f32[2]", "f32[2]"};
  refuses("TYPE2", OpKind::Elementwise, compared, fn(ElementFn::Less), {"f32[2]"});  // ELT4
  refuses("ELT5", OpKind::Elementwise, {"f32[2]", "f32[2]", "f32[2]"}, fn(ElementFn::Select));
  refuses("ELT5", OpKind::Elementwise, {"bool[]", "f32[2]", "f32[2]"}, fn(ElementFn::Select));
  refuses("CVT1", OpKind::Convert, {"f32[2]"}, {}, {"f16[3]"});
}

TEST(Rules, of_broadcast_reshape_transpose_reverse) {
  const auto dims = [](Ints list) { return Attributes{{K::Dims, std::move(list)}}; };
  refuses("BCT1", OpKind::BroadcastInDim, {"f32[2]"}, dims({}), {"f32[2]"});
  refuses("BCT1", OpKind::BroadcastInDim, {"f32[2]"}, dims({1}), {"f32[2]"});
  refuses("BCT1", OpKind::BroadcastInDim, {"f32[2,2]"}, dims({0, 0}), {"f32[2,2]"});
  refuses("BCT2", OpKind::BroadcastInDim, {"f32[2]"}, dims({0}), {"f16[2]"});
  refuses("BCT3", OpKind::BroadcastInDim, {"f32[2]"}, dims({0}), {"f32[4]"});
  refuses("RSH1", OpKind::Reshape, {"f32[2]"}, {}, {"f16[2]"});
  refuses("RSH2", OpKind::Reshape, {"f32[2]"}, {}, {"f32[3]"});
  refuses("RSH2", OpKind::Reshape, {"f32[batch,2]"}, {}, {"f32[seq,2]"});
  refuses("TRN1", OpKind::Transpose, {"f32[2,3]"}, {{K::Permutation, Ints{0}}});
  refuses("TRN1", OpKind::Transpose, {"f32[2,3]"}, {{K::Permutation, Ints{1, 1}}});
  refuses("TRN1", OpKind::Transpose, {"f32[2,3]"}, {{K::Permutation, Ints{0, 2}}});
  refuses("REV1", OpKind::Reverse, {"f32[2,3]"}, dims({2}));
  refuses("REV1", OpKind::Reverse, {"f32[2,3]"}, dims({1, 1}));
}

TEST(Rules, of_slices) {
  const auto slice = [](Ints starts, Ints limits, Ints strides) {
    return Attributes{{K::Starts, starts}, {K::Limits, limits}, {K::Strides, strides}};
  };
  refuses("SLC1", OpKind::Slice, {"f32[4]"}, slice({0, 0}, {4}, {1}));
  refuses("SLC2", OpKind::Slice, {"f32[4]"}, slice({0}, {4}, {0}));
  refuses("SLC2", OpKind::Slice, {"f32[4]"}, slice({-1}, {4}, {1}));
  refuses("SLC2", OpKind::Slice, {"f32[4]"}, slice({0}, {-2}, {1}));
  refuses("SLC3", OpKind::Slice, {"f32[4]"}, slice({3}, {2}, {1}));
  refuses("SLC3", OpKind::Slice, {"f32[4]"}, slice({0}, {5}, {1}));
  refuses("SLC4", OpKind::Slice, {"f32[seq]"}, slice({1}, {-1}, {1}));
  refuses("SLC4", OpKind::Slice, {"f32[seq]"}, slice({0}, {-1}, {2}));
  const auto sizes = [](Ints list) { return Attributes{{K::Sizes, std::move(list)}}; };
  refuses("DYN1", OpKind::DynamicSlice, {"f32[4,4]", "i32[]"}, sizes({1, 1}));
  refuses("DYN2", OpKind::DynamicSlice, {"f32[4]", "f32[]"}, sizes({1}));
  refuses("DYN2", OpKind::DynamicSlice, {"f32[4]", "i32[1]"}, sizes({1}));
  refuses("DYN3", OpKind::DynamicSlice, {"f32[4]", "i32[]"}, sizes({5}));
  refuses("DYN3", OpKind::DynamicSlice, {"f32[4]", "i32[]"}, sizes({-2}));
  refuses("DYN3", OpKind::DynamicSlice, {"f32[4]", "i32[]"}, sizes({1, 1}));
  refuses("DYN4", OpKind::DynamicUpdateSlice, {"f32[4]", "f16[2]", "i32[]"});
  refuses("DYN4", OpKind::DynamicUpdateSlice, {"f32[4]", "f32[5]", "i32[]"});
  refuses("DYN4", OpKind::DynamicUpdateSlice, {"f32[4]", "f32[]", "i32[]"});
}

TEST(Rules, of_concatenate_and_pad) {
  const auto dim = [](int64_t d) { return Attributes{{K::Dim, d}}; };
  refuses("CAT1", OpKind::Concatenate, {"f32[2]", "f32[2]"}, dim(1));
  refuses("CAT2", OpKind::Concatenate, {"f32[2,3]", "f32[2,4]"}, dim(0));
  refuses("CAT2", OpKind::Concatenate, {"f32[2]", "f16[2]"}, dim(0));
  refuses("CAT2", OpKind::Concatenate, {"f32[2]", "f32[2,1]"}, dim(0));
  refuses("CAT3", OpKind::Concatenate, {"f32[past,2]", "f32[seq,2]"}, dim(0));
  const auto pad = [](Ints low, Ints high, Ints interior) {
    return Attributes{{K::Low, low}, {K::High, high}, {K::Interior, interior}};
  };
  refuses("PAD1", OpKind::Pad, {"f32[2]", "f16[]"}, pad({1}, {1}, {0}));
  refuses("PAD1", OpKind::Pad, {"f32[2]", "f32[1]"}, pad({1}, {1}, {0}));
  refuses("PAD2", OpKind::Pad, {"f32[2]", "f32[]"}, pad({1, 1}, {1}, {0}));
  refuses("PAD2", OpKind::Pad, {"f32[2]", "f32[]"}, pad({1}, {1}, {-1}));
  refuses("PAD2", OpKind::Pad, {"f32[2]", "f32[]"}, pad({INT64_MIN}, {1}, {0}));
  refuses("PAD2", OpKind::Pad, {"f32[2]", "f32[]"}, pad({INT64_MAX}, {1}, {0}));
  refuses("PAD3", OpKind::Pad, {"f32[2]", "f32[]"}, pad({-2}, {-1}, {0}));
  refuses("PAD4", OpKind::Pad, {"f32[seq]", "f32[]"}, pad({1}, {0}, {0}));
}

TEST(Rules, of_reduce) {
  Graph graph;
  const FunctionId body = add_sample_functions(graph).add;
  const Attributes sum{{K::Dims, Ints{0}}, {K::Fn, ElementFn::Add}};
  const Attributes by_body{{K::Dims, Ints{0}}, {K::Body, body}};
  const auto refuses_in = [&](const char* rule, const Texts& operands, const Attributes& attrs) {
    refuses(rule, OpKind::Reduce, operands, attrs, {}, graph);
  };
  refuses_in("RED1", {"f32[2]", "f32[3]", "f32[]", "f32[]"}, by_body);
  refuses_in("RED2", {"f32[2]", "f32[2]", "f32[]"}, by_body);
  refuses_in("RED2", {"f32[2]", "f32[1]"}, sum);
  refuses_in("RED2", {"f32[2]", "f16[]"}, sum);
  refuses_in("RED3", {"f32[2]", "f32[]"}, with(sum, K::Dims, Ints{1}));
  refuses_in("RED3", {"f32[2]", "f32[]"}, with(sum, K::Dims, Ints{0, 0}));
  refuses_in("RED4", {"f32[2]", "f32[]"}, {{K::Dims, Ints{0}}});
  refuses_in("RED4", {"f32[2]", "f32[]"}, with(sum, K::Body, body));
  refuses_in("RED4", {"f32[2]", "f32[2]", "f32[]", "f32[]"}, sum);
  refuses_in("RED5", {"f32[2]", "f32[2]", "f32[]", "f32[]"}, by_body);
  refuses_in("RED5", {"f16[2]", "f16[]"}, by_body);
  refuses_in("RED6", {"f32[2]", "f32[]"}, with(sum, K::Fn, ElementFn::Subtract));
  refuses_in("RED6", {"f32[2]", "f32[]"}, with(sum, K::Fn, ElementFn::And));
}

TEST(Rules, of_arg_reduce_cumulative_sort) {
  const Attributes largest{{K::Dim, int64_t{0}}, {K::Fn, ElementFn::Maximum}};
  refuses("ARG1", OpKind::ArgReduce, {"f32[2]"}, with(largest, K::Dim, int64_t{1}), {"i32[]"});
  refuses("ARG2", OpKind::ArgReduce, {"f32[2]"}, with(largest, K::Fn, ElementFn::Add), {"i32[]"});
  refuses("ARG3", OpKind::ArgReduce, {"f32[2]"}, largest, {"i16[]"});
  const Attributes sum = with(largest, K::Fn, ElementFn::Add);
  refuses("CUM1", OpKind::Cumulative, {"f32[2]"}, with(sum, K::Dim, int64_t{1}));
  refuses("RED6", OpKind::Cumulative, {"f32[2]"}, with(sum, K::Fn, ElementFn::Divide));
  refuses("SRT1", OpKind::Sort, {"f32[2]"}, {{K::Dim, int64_t{1}}});
  refuses("SRT2", OpKind::Sort, {"f32[2]", "i32[3]"}, {{K::Dim, int64_t{0}}});
}

TEST(Rules, of_windows) {
  const Attributes places{{K::Window, Ints{2}},
                          {K::Strides, Ints{2}},
                          {K::PaddingLow, Ints{0}},
                          {K::PaddingHigh, Ints{0}}};
  const Attributes largest = with(places, K::Fn, ElementFn::Maximum);
  const Texts operands = {"f32[4]", "f32[]"};
  refuses("WIN1", OpKind::ReduceWindow, operands, with(largest, K::Window, Ints{2, 2}));
  refuses("WIN2", OpKind::ReduceWindow, {"f32[4]", "f32[1]"}, largest);
  refuses("WIN3", OpKind::ReduceWindow, operands, with(largest, K::Window, Ints{0}));
  refuses("WIN3", OpKind::ReduceWindow, operands, with(largest, K::Strides, Ints{0}));
  refuses("WIN3", OpKind::ReduceWindow, operands, with(largest, K::PaddingLow, Ints{INT64_MAX}));
  refuses("WIN3", OpKind::ReduceWindow, operands, with(largest, K::PaddingHigh, Ints{INT64_MIN}));
  refuses("WIN3", OpKind::ReduceWindow, {"f32[seq]", "f32[]"}, largest);
  refuses("RED6", OpKind::ReduceWindow, operands, with(largest, K::Fn, ElementFn::Atan2));
  refuses("SAS1", OpKind::SelectAndScatter, {"f32[4]", "f32[3]", "f32[]"}, places);
  refuses("SAS2", OpKind::SelectAndScatter, {"f32[4]", "f32[2]", "f16[]"}, places);
  refuses("SAS3", OpKind::SelectAndScatter, {"bool[4]", "bool[2]", "bool[]"}, places);
}

TEST(Rules, of_dot_general) {
  const Attributes attrs{{K::Contract, DimPairs{{1}, {0}}}};
  const Texts operands = {"f32[2,3]", "f32[3,4]"};
  const OpKind dot = OpKind::DotGeneral;
  refuses("PRD1", dot, {"f32[2,3]", "f16[3,4]"}, attrs);
  refuses("PRD1", dot, {"bool[2,3]", "bool[3,4]"}, attrs);
  refuses("PRD2", dot, operands, attrs, {"i32[2,4]"});
  refuses("PRD2", dot, {"f8e4m3fn[2,3]", "f8e5m2[3,4]"}, attrs);
  refuses("PRD3", dot, operands, with(attrs, K::Accumulate, std::string("f31")));
  refuses("PRD3", dot, operands, with(attrs, K::Accumulate, std::string("i32")));
  refuses("DOT1", dot, operands, with(attrs, K::Contract, DimPairs{{1}, {}}));
  refuses("DOT1", dot, operands, with(attrs, K::Contract, DimPairs{{2}, {0}}));
  refuses("DOT1", dot, {"f32[3,3]", "f32[3,3]"}, with(attrs, K::Batch, DimPairs{{1}, {1}}));
  refuses("DOT2", dot, {"f32[2,3]", "f32[4,4]"}, attrs);
  refuses("DOT2", dot, {"f32[2,batch]", "f32[seq,4]"}, attrs);
  refuses("TYPE2", dot, operands, attrs, {"f32[4,2]"});  // DOT3
}

TEST(Rules, of_convolution) {
  const Texts operands = {"f32[2,4,8,8]", "f32[6,4,3,3]"};
  const OpKind conv = OpKind::Convolution;
  const auto groups = [](int64_t of_features, int64_t of_batch) {
    return Attributes{{K::FeatureGroups, of_features}, {K::BatchGroups, of_batch}};
  };
  refuses("CONV1", conv, {"f32[2,4,8]", "f32[6,4,3,3]"});
  refuses("CONV1", conv, {"f32[2]", "f32[6]"});
  refuses("CONV2", conv, operands, {{K::LhsLayout, std::string("bf00")}});
  refuses("CONV2", conv, operands, {{K::KernelLayout, std::string("bf01")}});
  refuses("CONV2", conv, operands, {{K::OutLayout, std::string("bf0")}});
  refuses("CONV3", conv, operands, {{K::Strides, Ints{1}}});
  refuses("CONV4", conv, {"f32[2,5,8,8]", "f32[6,4,3,3]"});
  refuses("CONV5", conv, operands, groups(0, 1));
  refuses("CONV5", conv, {"f32[2,8,8,8]", "f32[6,4,3,3]"}, groups(2, 2));
  refuses("CONV5", conv, {"f32[2,16,8,8]", "f32[6,4,3,3]"}, groups(4, 1));
  refuses("CONV5", conv, {"f32[3,4,8,8]", "f32[6,4,3,3]"}, groups(1, 2));
  refuses("CONV6", conv, operands, {{K::Strides, Ints{0, 1}}});
  refuses("CONV6", conv, {"f32[2,4,8,8]", "f32[6,4,k,3]"});
  refuses("CONV6", conv, {"f32[2,4,h,8]", "f32[6,4,3,3]"});
}

/// One row of [10, 4] for each of 3 indices.
Attributes rows() {
  return {{K::OffsetDims, Ints{1}},
          {K::CollapsedDims, Ints{0}},
          {K::StartIndexMap, Ints{0}},
          {K::IndexVectorDim, int64_t{1}}};
}

TEST(Rules, of_indices) {
  const Attributes gather = with(rows(), K::Sizes, Ints{1, 4});
  const Texts operands = {"f32[10,4]", "i32[3]"};
  const OpKind kind = OpKind::Gather;
  refuses("IDX1", kind, {"f32[10,4]", "f32[3]"}, gather);
  refuses("IDX2", kind, operands, with(gather, K::IndexVectorDim, int64_t{2}));
  refuses("IDX2", kind, operands, with(gather, K::StartIndexMap, Ints{0, 1}));
  refuses("IDX3", kind, operands, with(gather, K::CollapsedDims, Ints{2}));
  refuses("IDX3", kind, operands, with(gather, K::OperandBatchDims, Ints{0}));
  refuses("IDX4", kind, operands, with(gather, K::StartIndexMap, Ints{2}));
  const Attributes batched =
      with(with(with(gather, K::OperandBatchDims, Ints{1}), K::IndicesBatchDims, Ints{0}), K::Sizes,
           Ints{1, 1});
  refuses("IDX5", kind, operands, with(batched, K::IndicesBatchDims, Ints{}));
  refuses("IDX5", kind, operands, with(batched, K::IndicesBatchDims, Ints{1}));
  refuses("IDX5", kind, operands, batched);  // 4 against 3
  refuses("IDX6", kind, operands, with(gather, K::OffsetDims, Ints{}));
  refuses("IDX6", kind, operands, with(gather, K::OffsetDims, Ints{2}));
  Attributes pairs = with(with(gather, K::CollapsedDims, Ints{}), K::Sizes, Ints{2, 4});
  refuses("IDX6", kind, operands, with(pairs, K::OffsetDims, Ints{2, 1}));
  refuses("GAT1", kind, operands, with(gather, K::Sizes, Ints{1}));
  refuses("GAT2", kind, operands, with(gather, K::Sizes, Ints{1, 5}));
  refuses("GAT2", kind, operands, with(gather, K::Sizes, Ints{1, -2}));
  refuses("GAT3", kind, operands, with(gather, K::Sizes, Ints{2, 4}));
}

TEST(Rules, of_scatter) {
  const OpKind kind = OpKind::Scatter;
  refuses("SCT1", kind, {"f32[10,4]", "i32[3]", "f32[2,4]"}, rows());
  refuses("SCT1", kind, {"f32[10,4]", "i32[3]", "f16[3,4]"}, rows());
  refuses("SCT2", kind, {"f32[10,4]", "i32[3]", "f32[3,5]"}, rows());
  refuses("SCT2", kind, {"f32[10,4]", "i32[3]", "f32[3]"}, with(rows(), K::OffsetDims, Ints{}));
  refuses("SCT2", kind, {"f32[10]", "i32[3]", "f32[3,4]"}, rows());
  refuses("IDX6", kind, {"f32[10,4]", "i32[3]", "f32[3,4]"}, with(rows(), K::OffsetDims, Ints{2}));
  refuses("RED6", kind, {"f32[10,4]", "i32[3]", "f32[3,4]"},
          with(rows(), K::Fn, ElementFn::Subtract));
}

TEST(Rules, of_norms) {
  const Attributes epsilon{{K::Epsilon, 1e-5}};
  refuses("NRM1", OpKind::LayerNorm, {"i32[2,4]", "i32[4]", "i32[4]"}, epsilon);
  refuses("NRM1", OpKind::RmsNorm, {"f32[]", "f32[1]"}, epsilon);
  refuses("NRM2", OpKind::LayerNorm, {"f32[2,4]", "f32[4]", "f32[2]"}, epsilon);
  refuses("NRM2", OpKind::RmsNorm, {"f32[2,4]", "f16[4]"}, epsilon);
  refuses("NRM3", OpKind::LayerNormGrad, {"f32[2,4]", "f32[4]", "f32[4]"}, epsilon);
  refuses("NRM3", OpKind::RmsNormGrad, {"f32[2,4]", "f32[4]", "f32[4]"}, epsilon);
  refuses("NRM4", OpKind::RmsNorm, {"f32[2,4]", "f32[4]"}, {{K::Epsilon, -1.0}});
  refuses("NRM4", OpKind::RmsNorm, {"f32[2,4]", "f32[4]"}, {{K::Epsilon, HUGE_VAL}});
  const Attributes channel = with(epsilon, K::Dim, int64_t{1});
  refuses("BNM1", OpKind::BatchNorm, {"i32[2,4]", "i32[4]", "i32[4]"}, channel);
  refuses("BNM1", OpKind::BatchNorm, {"f32[4]", "f32[4]", "f32[4]"}, channel);
  refuses("BNM2", OpKind::BatchNorm, {"f32[2,4]", "f32[2]", "f32[4]"}, channel);
  refuses("BNM3", OpKind::BatchNormGrad, {"f32[2,4]", "f32[4]", "f32[4]"}, channel);
}

TEST(Rules, of_softmax_and_gelu) {
  refuses("ROW1", OpKind::Softmax, {"i32[4]"});
  refuses("ROW1", OpKind::Gelu, {"i32[4]"});
  refuses("ROW2", OpKind::Softmax, {"f32[]"});
  refuses("ROW3", OpKind::SoftmaxGrad, {"f32[4]", "f32[5]"});
  refuses("ROW3", OpKind::GeluGrad, {"f32[4]", "f16[4]"});
  refuses("GEL1", OpKind::Gelu, {"f32[4]"}, {{K::Approximate, std::string("erf")}});
}

TEST(Rules, of_attention) {
  const Attributes scale{{K::Scale, 1.0}};
  const std::string q = "f32[2,6,5,8]";
  const std::string k = "f32[2,2,7,8]";
  const std::string v = "f32[2,2,7,4]";
  const OpKind kind = OpKind::Attention;
  refuses("ATT1", kind, {"f32[6,5,8]", k, v}, scale);
  refuses("ATT1", kind, {q, "f16[2,2,7,8]", v}, scale);
  refuses("ATT1", kind, {"i32[2,6,5,8]", k, v}, scale);
  refuses("ATT2", kind, {q, "f32[2,2,7,9]", v}, scale);
  refuses("ATT2", kind, {q, k, "f32[2,2,6,4]"}, scale);
  refuses("ATT3", kind, {"f32[2,5,5,8]", k, v}, scale);
  refuses("ATT4", kind, {q, k, v, "f32[2,2,5,7]"}, scale);
  refuses("ATT4", kind, {q, k, v, "f32[1,1,1,1]"}, scale);
  refuses("ATT4", kind, {q, k, v, "f16[1,1,1,7]"}, scale);
  refuses("ATT4", kind, {q, k, v, "f32[7]"}, scale);
  refuses("ATT5", kind, {q, k, v}, {{K::Scale, HUGE_VAL}});
  refuses("TYPE2", kind, {q, k, v}, scale, {q});  // ATT6
  refuses("ATT7", OpKind::AttentionGrad, {q, k, v, q}, scale);
}

TEST(Rules, of_cross_entropy) {
  const OpKind kind = OpKind::CrossEntropy;
  refuses("XENT1", kind, {"i32[3,9]", "i32[3]"});
  refuses("XENT1", kind, {"f32[]", "i32[]"});
  refuses("XENT2", kind, {"f32[3,9]", "f32[3]"});
  refuses("XENT2", kind, {"f32[3,9]", "i32[4]"});
  refuses("TYPE2", kind, {"f16[3,9]", "i32[3]"}, {}, {"f16[3]"});  // XENT3
  refuses("XENT4", OpKind::CrossEntropyGrad, {"f16[3,9]", "i32[3]", "f16[3]"});
}

TEST(Rules, of_sub_graphs) {
  Graph graph;
  const SampleFunctions f = add_sample_functions(graph);
  const auto refuses_in = [&](const char* rule, OpKind kind, const Texts& operands,
                              const Attributes& attrs) {
    refuses(rule, kind, operands, attrs, {}, graph);
  };
  refuses_in("CALL1", OpKind::Call, {"f32[3]"}, {{K::Body, f.twice}});
  refuses_in("CALL1", OpKind::Call, {}, {{K::Body, f.twice}});
  const Attributes loop{{K::Condition, f.below_ten}, {K::Body, f.step}};
  const Texts carried = {"i32[]", "f32[2]"};
  refuses_in("WHL1", OpKind::While, {"i32[]"}, loop);
  refuses_in("WHL2", OpKind::While, carried, with(loop, K::Condition, f.step));
  refuses_in("WHL3", OpKind::While, carried, with(loop, K::Body, f.below_ten));
  const auto branches = [](std::vector<FunctionId> ids) {
    return Attributes{{K::Branches, std::move(ids)}};
  };
  const OpKind choice = OpKind::Conditional;
  refuses_in("CND1", choice, {"i64[]", "f32[2]"}, branches({f.twice, f.negated}));
  refuses_in("CND1", choice, {"bool[1]", "f32[2]"}, branches({f.twice, f.negated}));
  refuses_in("CND2", choice, {"bool[]", "f32[2]"}, branches({f.twice}));
  refuses_in("CND2", choice, {"i32[]", "f32[2]"}, branches({}));
  refuses_in("CND3", choice, {"bool[]", "f32[3]"}, branches({f.twice, f.negated}));
  refuses_in("CND4", choice, {"i32[]", "i32[]", "f32[2]"}, branches({f.step, f.below_ten}));
}

TEST(Rules, of_collectives) {
  const Attributes group{{K::Group, std::string("g")}, {K::GroupSize, int64_t{2}}};
  const Attributes sum = with(group, K::Fn, ElementFn::Add);
  const auto along = [](const Attributes& attrs, int64_t d) { return with(attrs, K::Dim, d); };
  refuses("COL1", OpKind::AllReduce, {"f32[4]"}, with(sum, K::GroupSize, int64_t{0}));
  refuses("COL1", OpKind::AllGather, {"f32[4]"}, along(with(group, K::GroupSize, int64_t{0}), 0));
  refuses("COL2", OpKind::AllReduce, {"f32[4]"}, with(sum, K::Fn, ElementFn::Divide));
  refuses("COL2", OpKind::ReduceScatter, {"f32[4]"}, along(with(sum, K::Fn, ElementFn::And), 0));
  refuses("COL3", OpKind::ReduceScatter, {"f32[5]"}, along(sum, 0));
  refuses("COL4", OpKind::AllGather, {"f32[4]"}, along(group, 1));
  refuses("COL4", OpKind::ReduceScatter, {"f32[4]"}, along(sum, 1));
  const Attributes turn = with(with(group, K::SplitDim, int64_t{0}), K::ConcatDim, int64_t{0});
  refuses("COL3", OpKind::AllToAll, {"f32[5]"}, turn);
  refuses("COL4", OpKind::AllToAll, {"f32[4]"}, with(turn, K::ConcatDim, int64_t{1}));
  const auto pairs = [](DimPairs p) {
    return Attributes{{K::Group, std::string("g")}, {K::Pairs, std::move(p)}};
  };
  refuses("COL5", OpKind::CollectivePermute, {"f32[4]"}, pairs({{0, 1}, {1}}));
  refuses("COL5", OpKind::CollectivePermute, {"f32[4]"}, pairs({{0, 0}, {1, 2}}));
  refuses("COL5", OpKind::CollectivePermute, {"f32[4]"}, pairs({{0, 1}, {2, 2}}));
  refuses("COL5", OpKind::CollectivePermute, {"f32[4]"}, pairs({{-1}, {0}}));
}

}  // namespace
}  // namespace wafer::ir
