#include "support/op_samples.h"

#include <cmath>

namespace {

using namespace wafer;      // NOLINT
using namespace wafer::ir;  // NOLINT
using K = AttrKey;
using Samples = std::vector<OpSample>;

LiteralRef literal(const std::string& type, bool splat, std::vector<double> floats,
                   std::vector<int64_t> integers) {
  Literal result;
  result.type = TensorType::parse(type).value();
  result.splat = splat;
  result.elided = floats.empty() && integers.empty();
  result.floats = std::move(floats);
  result.integers = std::move(integers);
  return std::make_shared<const Literal>(std::move(result));
}

void add_sources(Samples& s) {
  const auto constant = [&](const std::string& type, bool splat, std::vector<double> floats,
                            std::vector<int64_t> integers) {
    s.push_back({OpKind::Constant,
                 {},
                 {{K::Value, literal(type, splat, std::move(floats), std::move(integers))}},
                 {type}});
  };
  constant("f32[batch,3]", true, {static_cast<double>(0.1F)}, {});
  constant("f64[4]", false, {0.1, -0.0, 1e-320, 1e300}, {});
  constant("f16[3]", false, {HUGE_VAL, -HUGE_VAL, std::nan("")}, {});
  constant("cb16[]", true, {0.5}, {});
  constant("bf16[batch,4]", false, {}, {});  // elided
  constant("i64[2]", false, {}, {INT64_MIN, INT64_MAX});
  constant("u64[2]", false, {}, {0, -1});  // the bits of 2^64 - 1
  constant("bool[2]", false, {}, {1, 0});
  s.push_back({OpKind::Iota, {}, {{K::Dim, int64_t{1}}}, {"i32[2,batch]"}});
  for (const char* distribution : {"uniform", "normal"}) {
    s.push_back({OpKind::Rng,
                 {},
                 {{K::Distribution, std::string(distribution)},
                  {K::Seed, int64_t{-7}},
                  {K::Axis0, -1.5},
                  {K::Axis1, 0.1}},
                 {"f32[2,2]"}});
  }
}

void add_elementwise(Samples& s) {
  for (int i = 0; i < ElementFnCount; ++i) {
    const auto fn = static_cast<ElementFn>(i);
    const bool bits = fn == ElementFn::Not || (fn >= ElementFn::And && fn < ElementFn::Equal);
    const bool asks = fn == ElementFn::IsFinite || fn == ElementFn::IsNan ||
                      (fn >= ElementFn::Equal && fn <= ElementFn::GreaterEqual);
    const std::string type = bits ? "i32[batch,2]" : "f32[batch,2]";
    std::vector<std::string> operands(static_cast<size_t>(arity_of(fn)), type);
    if (fn == ElementFn::Select) operands[0] = "bool[batch,2]";
    s.push_back({OpKind::Elementwise, operands, {{K::Fn, fn}}, {asks ? "bool[batch,2]" : type}});
  }
  s.push_back({OpKind::Convert, {"f32[2]"}, {}, {"cb16[2]"}});
}

void add_shapes(Samples& s) {
  s.push_back({OpKind::BroadcastInDim, {"f32[1,3]"}, {{K::Dims, Ints{1, 2}}}, {"f32[batch,2,3]"}});
  s.push_back({OpKind::Reshape, {"f32[batch,6]"}, {}, {"f32[2*batch,3]"}});
  s.push_back(
      {OpKind::Transpose, {"f32[2,3,4]"}, {{K::Permutation, Ints{2, 0, 1}}}, {"f32[4,2,3]"}});
  s.push_back(
      {OpKind::Slice,
       {"f32[batch,7,9]"},
       {{K::Starts, Ints{0, 1, 2}}, {K::Limits, Ints{-1, 6, 2}}, {K::Strides, Ints{1, 2, 1}}},
       {"f32[batch,3,0]"}});
  s.push_back({OpKind::DynamicSlice,
               {"f32[batch,7]", "i32[]", "i64[]"},
               {{K::Sizes, Ints{-1, 2}}},
               {"f32[batch,2]"}});
  s.push_back({OpKind::DynamicUpdateSlice,
               {"f32[batch,7]", "f32[1,7]", "i32[]", "i32[]"},
               {},
               {"f32[batch,7]"}});
  s.push_back({OpKind::Concatenate,
               {"f32[batch,2]", "f32[2*batch,2]"},
               {{K::Dim, int64_t{0}}},
               {"f32[3*batch,2]"}});
  // 5 elements, 2 holes in each of 4 gaps, 1 before and 3 cut off behind: 5 + 8 + 1 - 3.
  s.push_back({OpKind::Pad,
               {"f32[5]", "f32[]"},
               {{K::Low, Ints{1}}, {K::High, Ints{-3}}, {K::Interior, Ints{2}}},
               {"f32[11]"}});
  s.push_back({OpKind::Reverse, {"f32[batch,3]"}, {{K::Dims, Ints{1}}}, {"f32[batch,3]"}});
}

void add_reductions(Samples& s, const SampleFunctions& f) {
  s.push_back({OpKind::Reduce,
               {"f32[batch,3,4]", "f32[]"},
               {{K::Dims, Ints{1, 2}}, {K::Fn, ElementFn::Maximum}},
               {"f32[batch]"}});
  s.push_back(
      {OpKind::Reduce, {"f32[2,3]", "f32[]"}, {{K::Dims, Ints{0}}, {K::Body, f.add}}, {"f32[3]"}});
  s.push_back({OpKind::ArgReduce,
               {"f32[batch,3]"},
               {{K::Dim, int64_t{1}}, {K::Fn, ElementFn::Maximum}},
               {"i32[batch]"}});
  // PyTorch: MaxPool2d(3, stride=2, padding=1) of 112 x 112 gives 56 x 56 (the stem of ResNet).
  const Attributes window{{K::Window, Ints{1, 1, 3, 3}},
                          {K::Strides, Ints{1, 1, 2, 2}},
                          {K::PaddingLow, Ints{0, 0, 1, 1}},
                          {K::PaddingHigh, Ints{0, 0, 1, 1}}};
  Attributes by_maximum = window;
  by_maximum.set(K::Fn, ElementFn::Maximum);
  s.push_back({OpKind::ReduceWindow,
               {"f32[batch,64,112,112]", "f32[]"},
               by_maximum,
               {"f32[batch,64,56,56]"}});
  s.push_back({OpKind::SelectAndScatter,
               {"f32[batch,64,112,112]", "f32[batch,64,56,56]", "f32[]"},
               window,
               {"f32[batch,64,112,112]"}});
  s.push_back(
      {OpKind::Cumulative,
       {"f32[batch,4]"},
       {{K::Dim, int64_t{1}}, {K::Fn, ElementFn::Add}, {K::Exclusive, true}, {K::Reverse, false}},
       {"f32[batch,4]"}});
  s.push_back({OpKind::Sort,
               {"f32[batch,4]", "i32[batch,4]"},
               {{K::Dim, int64_t{1}}, {K::Descending, true}},
               {"f32[batch,4]", "i32[batch,4]"}});
}

void add_products(Samples& s) {
  s.push_back({OpKind::DotGeneral,
               {"bf16[batch,8,5]", "bf16[batch,5,6]"},
               {{K::Contract, DimPairs{{2}, {1}}},
                {K::Batch, DimPairs{{0}, {0}}},
                {K::Accumulate, std::string("f32")}},
               {"f32[batch,8,6]"}});
  // PyTorch: Conv2d(4, 6, (3, 2), stride=2, padding=1, dilation=(2, 1), groups=2) of 9 x 8 gives
  // floor((9 + 2 - 5) / 2) + 1 = 4 by floor((8 + 2 - 2) / 2) + 1 = 5; here channels last.
  s.push_back({OpKind::Convolution,
               {"f32[batch,9,8,4]", "f32[3,2,2,6]"},
               {{K::Strides, Ints{2, 2}},
                {K::PaddingLow, Ints{1, 1}},
                {K::PaddingHigh, Ints{1, 1}},
                {K::LhsDilation, Ints{1, 1}},
                {K::RhsDilation, Ints{2, 1}},
                {K::LhsLayout, std::string("b01f")},
                {K::KernelLayout, std::string("01io")},
                {K::OutLayout, std::string("b01f")},
                {K::FeatureGroups, int64_t{2}},
                {K::BatchGroups, int64_t{1}}},
               {"f32[batch,4,5,6]"}});
}

void add_indexing(Samples& s) {
  // Per batch row, one row of [10, 4] for each of 3 indices.
  const Attributes batched{{K::OffsetDims, Ints{2}},       {K::CollapsedDims, Ints{1}},
                           {K::OperandBatchDims, Ints{0}}, {K::IndicesBatchDims, Ints{0}},
                           {K::StartIndexMap, Ints{1}},    {K::IndexVectorDim, int64_t{2}}};
  Attributes gather = batched;
  gather.set(K::Sizes, Ints{1, 1, -1});
  s.push_back({OpKind::Gather, {"f32[batch,10,4]", "i32[batch,3]"}, gather, {"f32[batch,3,4]"}});
  s.push_back({OpKind::Scatter,
               {"f32[batch,10,4]", "i32[batch,3]", "f32[batch,3,4]"},
               batched,
               {"f32[batch,10,4]"}});
  Attributes add = batched;
  add.set(K::Fn, ElementFn::Add);
  s.push_back({OpKind::Scatter,
               {"f32[batch,10,4]", "i32[batch,3]", "f32[batch,3,4]"},
               add,
               {"f32[batch,10,4]"}});
}

void add_norms(Samples& s) {
  const Attributes epsilon{{K::Epsilon, 1e-5}};
  const Attributes channel{{K::Epsilon, 0.0}, {K::Dim, int64_t{1}}};
  const std::string x = "f16[batch,seq,8]";
  const std::string row = "f16[8]";
  const std::string image = "f32[batch,8,5,5]";
  const std::string of_channel = "f32[8]";
  s.push_back({OpKind::LayerNorm, {x, row, row}, epsilon, {x}});
  s.push_back({OpKind::LayerNormGrad, {x, row, x}, epsilon, {x, row, row}});
  s.push_back({OpKind::RmsNorm, {x, row}, epsilon, {x}});
  s.push_back({OpKind::RmsNormGrad, {x, row, x}, epsilon, {x, row}});
  s.push_back({OpKind::BatchNorm,
               {image, of_channel, of_channel},
               channel,
               {image, of_channel, of_channel}});
  s.push_back({OpKind::BatchNormGrad,
               {image, of_channel, image},
               channel,
               {image, of_channel, of_channel}});
  s.push_back({OpKind::Softmax, {x}, {}, {x}});
  s.push_back({OpKind::SoftmaxGrad, {x, x}, {}, {x}});
  s.push_back({OpKind::Gelu, {x}, {{K::Approximate, std::string("tanh")}}, {x}});
  s.push_back({OpKind::GeluGrad, {x, x}, {}, {x}});
}

void add_attention(Samples& s) {
  const Attributes attrs{{K::Scale, 0.125}, {K::Causal, true}};
  const std::string q = "f16[batch,6,seq,8]";
  const std::string k = "f16[batch,2,past,8]";
  const std::string v = "f16[batch,2,past,4]";
  const std::string bias = "f16[batch,1,1,past]";
  const std::string y = "f16[batch,6,seq,4]";
  s.push_back({OpKind::Attention, {q, k, v}, attrs, {y}});
  s.push_back({OpKind::Attention, {q, k, v, bias}, attrs, {y}});
  s.push_back({OpKind::AttentionGrad, {q, k, v, y}, attrs, {q, k, v}});
  s.push_back({OpKind::AttentionGrad, {q, k, v, bias, y}, attrs, {q, k, v}});
  s.push_back({OpKind::CrossEntropy,
               {"f16[batch,9]", "i64[batch]"},
               {{K::IgnoreIndex, int64_t{-100}}},
               {"f32[batch]"}});
  s.push_back({OpKind::CrossEntropyGrad,
               {"f64[batch,9]", "i32[batch]", "f64[batch]"},
               {},
               {"f64[batch,9]"}});
}

void add_sub_graphs(Samples& s, const SampleFunctions& f) {
  s.push_back({OpKind::Call, {"f32[2]"}, {{K::Body, f.twice}}, {"f32[2]"}});
  s.push_back({OpKind::While,
               {"i32[]", "f32[2]"},
               {{K::Condition, f.below_ten}, {K::Body, f.step}},
               {"i32[]", "f32[2]"}});
  for (const char* index : {"bool[]", "i32[]"}) {
    s.push_back({OpKind::Conditional,
                 {index, "f32[2]"},
                 {{K::Branches, std::vector<FunctionId>{f.twice, f.negated}}},
                 {"f32[2]"}});
  }
}

void add_collectives(Samples& s) {
  const std::string group = "data";
  const int64_t eight = 8;
  s.push_back({OpKind::AllReduce,
               {"f32[batch,3]", "i32[2]"},
               {{K::Fn, ElementFn::Add}, {K::Group, group}, {K::GroupSize, eight}},
               {"f32[batch,3]", "i32[2]"}});
  s.push_back({OpKind::AllGather,
               {"f32[batch,3]"},
               {{K::Dim, int64_t{0}}, {K::Group, group}, {K::GroupSize, eight}},
               {"f32[8*batch,3]"}});
  s.push_back(
      {OpKind::ReduceScatter,
       {"f32[16*batch,3]"},
       {{K::Dim, int64_t{0}}, {K::Fn, ElementFn::Add}, {K::Group, group}, {K::GroupSize, eight}},
       {"f32[2*batch,3]"}});
  s.push_back({OpKind::AllToAll,
               {"f32[16,3]"},
               {{K::SplitDim, int64_t{0}},
                {K::ConcatDim, int64_t{1}},
                {K::Group, group},
                {K::GroupSize, eight}},
               {"f32[2,24]"}});
  s.push_back({OpKind::CollectivePermute,
               {"f32[4]"},
               {{K::Group, group}, {K::Pairs, DimPairs{{0, 1}, {1, 0}}}},
               {"f32[4]"}});
  s.push_back({OpKind::CustomCall,
               {"f32[4]"},
               {{K::Target, std::string("move \"to\" host\n")}, {K::HasSideEffect, true}},
               {}});
  s.push_back(
      {OpKind::CustomCall, {}, {{K::Target, std::string("source")}}, {"f32[4]", "u8[batch]"}});
}

}  // namespace

SampleFunctions add_sample_functions(Graph& graph) {
  const auto function = [&](const char* name, const std::vector<const char*>& inputs, auto body) {
    const FunctionId id = graph.add_function(name);
    Builder b(graph, id);
    std::vector<ValueId> values;
    for (const char* type : inputs) {
      values.push_back(
          b.input("in" + std::to_string(values.size()), TensorType::parse(type).value()));
    }
    body(b, values);
    return id;
  };
  using In = const std::vector<ValueId>&;
  return {.add = function("add", {"f32[]", "f32[]"},
                          [](Builder& b, In in) { b.output("sum", b.add(in[0], in[1])); }),
          .below_ten = function("below ten", {"i32[]", "f32[2]"},
                                [](Builder& b, In in) {
                                  const ValueId ten = b.scalar(10, DType::I32);
                                  b.output("goes_on", b.binary(ElementFn::Less, in[0], ten));
                                }),
          .step = function("step", {"i32[]", "f32[2]"},
                           [](Builder& b, In in) {
                             b.output("next", b.add(in[0], 1.0));
                             b.output("sum", b.add(in[1], in[1]));
                           }),
          .twice = function("twice", {"f32[2]"},
                            [](Builder& b, In in) { b.output("y", b.add(in[0], in[0])); }),
          .negated = function("negated", {"f32[2]"}, [](Builder& b, In in) {
            b.output("y", b.unary(ElementFn::Negate, in[0]));
          })};
}

std::vector<OpSample> op_samples(const SampleFunctions& functions) {
  Samples samples;
  add_sources(samples);
  add_elementwise(samples);
  add_shapes(samples);
  add_reductions(samples, functions);
  add_products(samples);
  add_indexing(samples);
  add_norms(samples);
  add_attention(samples);
  add_sub_graphs(samples, functions);
  add_collectives(samples);
  return samples;
}

void emit_sample(Builder& b, const OpSample& sample) {
  std::vector<ValueId> operands;
  std::vector<TensorType> results;
  for (const std::string& text : sample.operands) {
    operands.push_back(
        b.input("x" + std::to_string(b.function().inputs.size()), TensorType::parse(text).value()));
  }
  for (const std::string& text : sample.results) {
    results.push_back(TensorType::parse(text).value());
  }
  b.emit(sample.kind, operands, sample.attrs, results);
}

Graph graph_of_samples() {
  Graph graph;
  graph.name = "samples";
  const SampleFunctions functions = add_sample_functions(graph);
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  for (const OpSample& sample : op_samples(functions)) emit_sample(b, sample);
  return graph;
}
