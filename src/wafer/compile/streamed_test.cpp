#include "wafer/compile/streamed.h"

#include <gtest/gtest.h>

#include "wafer/autodiff/training_step.h"
#include "wafer/base/error.h"
#include "wafer/estimate/streamed.h"
#include "wafer/ir/builder.h"
#include "wafer/machine/load.h"
#include "wafer/models/models.h"

namespace wafer::compile {
namespace {

using plan::Plan;
using plan::Recompute;

const machine::Wafer& wse2() {
  static const auto m = std::get<machine::Wafer>(machine::load("wse2"));
  return m;
}

StreamedCompiler compiler_of(const std::string& model, int64_t seq, bool train = true) {
  ir::Graph graph = models::build(model, {.seq_len = seq, .dtype = DType::F16, .train = train});
  if (train) graph = autodiff::training_step(graph);
  return StreamedCompiler(std::move(graph), seq, DType::F16);
}

StreamedRequest batch(int64_t samples) { return {.batch = samples}; }

double moved(const Plan& plan, plan::Move::Kind kind, const std::vector<plan::Node>& nodes) {
  double bytes = 0;
  for (const plan::Node& node : nodes) {
    if (const auto* r = std::get_if<plan::Repeat>(&node)) {
      bytes += r->times * moved(plan, kind, r->body);
    } else if (const auto* layer = std::get_if<plan::Layer>(&node)) {
      bytes += moved(plan, kind, layer->body);
    } else if (const auto* move = std::get_if<plan::Move>(&node)) {
      if (move->kind == kind) bytes += move->bytes.value;
    }
  }
  return bytes;
}

double moved(const Plan& plan, plan::Move::Kind kind) { return moved(plan, kind, plan.body); }

// The choices that the measurements show: docs/decisions/0006-micro-batch-and-activations.md.

TEST(MicroBatch, bert_large_runs_2048_samples_of_128_tokens_at_once_and_splits_above) {
  const StreamedCompiler bert = compiler_of("bert-large", 128);
  EXPECT_EQ(bert.skeleton(wse2(), batch(2048)).micro_batches, 1);
  for (const int64_t samples : {4096, 8192, 16384}) {
    const Plan plan = bert.skeleton(wse2(), batch(samples));
    EXPECT_EQ(plan.micro_batch, 2048) << samples;
    EXPECT_EQ(plan.micro_batches, samples / 2048);
    EXPECT_EQ(plan.recompute, Recompute::Full);
    EXPECT_FALSE(plan.spilled);
  }
}

TEST(MicroBatch, a_small_batch_keeps_its_activations) {
  const Plan plan = compiler_of("bert-large", 128).skeleton(wse2(), batch(128));
  EXPECT_EQ(plan.recompute, Recompute::None);
  EXPECT_FALSE(plan.spilled);
}

TEST(MicroBatch, gpt3_6_7b_runs_128_samples_of_2048_tokens_with_activations_outside) {
  const StreamedCompiler gpt = compiler_of("gpt3-6.7b", 2048);
  for (const int64_t samples : {128, 1024}) {
    const Plan plan = gpt.skeleton(wse2(), batch(samples));
    EXPECT_EQ(plan.micro_batch, 128);
    EXPECT_EQ(plan.recompute, Recompute::Full);
    EXPECT_TRUE(plan.spilled);
  }
}

TEST(MicroBatch, llama_7b_runs_99_samples_without_accumulation) {
  const Plan plan = compiler_of("llama-7b", 2048).skeleton(wse2(), batch(99));
  EXPECT_EQ(plan.micro_batches, 1);
  EXPECT_TRUE(plan.spilled);
}

TEST(MicroBatch, a_share_that_divides_badly_is_cut_into_near_equal_parts) {
  const Plan plan = compiler_of("bert-large", 128).skeleton(wse2(), batch(16381));  // a prime
  EXPECT_GT(plan.micro_batch, 1024);
  EXPECT_GE(plan.micro_batch * static_cast<int64_t>(plan.micro_batches), 16381);
  // Half of a prime that fits as a whole, too: 8191 samples go the way of 8192.
  const Plan half = compiler_of("bert-large", 128).skeleton(wse2(), batch(8191));
  EXPECT_EQ(half.micro_batch, 2048);
  EXPECT_EQ(half.micro_batches, 4);
}

TEST(MicroBatch, is_taken_as_asked_and_refused_where_it_does_not_fit) {
  const StreamedCompiler bert = compiler_of("bert-large", 128);
  StreamedRequest request = batch(4096);
  request.micro_batch = 512;
  EXPECT_EQ(bert.skeleton(wse2(), request).micro_batches, 8);
  request.micro_batch = 8192;
  EXPECT_THROW(bert.skeleton(wse2(), request), InputError);
  request = batch(1 << 20);
  request.micro_batch = 1 << 19;
  EXPECT_THROW(bert.skeleton(wse2(), request), CapacityError);
}

TEST(Streamed, weights_cross_twice_and_gradients_once_a_micro_batch) {
  // GPT of 2 layers, hidden 64, vocabulary 1000, 32 positions, tied head.
  const StreamedCompiler gpt = compiler_of("gpt:layers=2,hidden=64,heads=4,vocab=1000,seq=32", 32);
  const Plan plan = gpt.plan(wse2(), batch(8));
  // A layer: 12 x 64^2 matrices, biases 9 x 64 (qkv 3, out 1, up 4, down 1), two norms 4 x 64.
  const double layer = 12 * 64 * 64 + 9 * 64 + 4 * 64;
  const double embedding = 1000 * 64 + 32 * 64;
  const double norm = 2 * 64;
  const double head = 1000 * 64;
  const double all = 2 * layer + embedding + norm;
  EXPECT_EQ(plan.parameters, all);
  // Forward: each parameter once, the tied table again for the head.
  // Backward: matrices and norm scales; biases and tables are not read.
  const double backward = 2 * (12 * 64 * 64 + 2 * 64) + 64 + head;
  EXPECT_EQ(moved(plan, plan::Move::Kind::WeightIn), 2 * (all + head + backward));
  // f32 gradients; the tied table has two parts, one from the head and one from the lookup.
  EXPECT_EQ(moved(plan, plan::Move::Kind::GradientOut), 4 * (all + head));
}

TEST(Streamed, work_of_the_plan_is_6n_plus_attention_and_the_recomputed_forward) {
  const StreamedCompiler gpt = compiler_of("gpt3-6.7b", 2048);
  const Plan plan = gpt.plan(wse2(), batch(128));
  // Matrices of the layers 12 L D^2, head V D; attention 4 S D a token and layer, forward.
  const double tokens = 2048, d = 4096, l = 32, v = 50257;
  const double forward = 2 * (12 * l * d * d + v * d) * tokens + 4 * tokens * tokens * d * l;
  EXPECT_NEAR(plan.model_flops_per_sample.value / (3 * forward), 1, 1e-9);
  const estimate::Answer answer = estimate::streamed(plan, wse2());
  EXPECT_NEAR(answer.model_flops_per_step.value / (128 * 3 * forward), 1, 1e-9);
  double counted = 0;
  for (const auto& layer : answer.layers) counted += layer.flops.value;
  EXPECT_NEAR(counted / (128 * 3 * forward), 1, 1e-9);
}

TEST(Streamed, the_skeleton_costs_what_the_plan_costs) {
  const StreamedCompiler bert = compiler_of("bert-base", 128);
  const double a = estimate::streamed(bert.skeleton(wse2(), batch(512)), wse2()).step.value;
  const double b = estimate::streamed(bert.plan(wse2(), batch(512)), wse2()).step.value;
  EXPECT_NEAR(a / b, 1, 1e-6);
}

TEST(Streamed, sparsity_spares_link_and_arithmetic_of_layers_alone) {
  const StreamedCompiler gpt = compiler_of("gpt3-1.3b", 2048);
  StreamedRequest request = batch(64);
  const Plan dense = gpt.plan(wse2(), request);
  request.sparsity = 0.75;
  const Plan sparse = gpt.plan(wse2(), request);
  const double d = 2048, l = 24, v = 50257;
  const double matrices = 12 * l * d * d;
  const double spared =
      moved(dense, plan::Move::Kind::WeightIn) - moved(sparse, plan::Move::Kind::WeightIn);
  // Each weight takes 0.25 x 4 bytes (value and index) in place of 2, in both directions of the
  // step.
  EXPECT_NEAR(spared / (2 * matrices * (2 - 1)), 1, 1e-9);
  EXPECT_GT(moved(sparse, plan::Move::Kind::WeightIn), 3 * 2 * v * d);  // the head stays dense
}

TEST(Streamed, some_weights_can_be_sparse_and_the_last_word_counts) {
  // GPT of 2 layers, hidden 64: the MLP of a layer has 8 x 64^2 weights in two matrices.
  const StreamedCompiler gpt = compiler_of("gpt:layers=2,hidden=64,heads=4,vocab=1000,seq=32", 32);
  StreamedRequest request = batch(8);
  const Plan dense = gpt.plan(wse2(), request);
  request.sparsity_of = {{"mlp/*", plan::Sparsity::pattern(2, 4)}};
  const Plan sparse = gpt.plan(wse2(), request);
  const auto spared = [&](const Plan& plan, plan::Move::Kind kind) {
    return moved(dense, kind) - moved(plan, kind);
  };
  const double mlp = 2 * 8 * 64 * 64;
  // 2:4 with two bits a place: 1.125 bytes in place of 2, 2.125 in place of 4; weights go in twice.
  EXPECT_NEAR(spared(sparse, plan::Move::Kind::WeightIn), 2 * mlp * (2 - 1.125), 1e-6);
  EXPECT_NEAR(spared(sparse, plan::Move::Kind::GradientOut), mlp * (4 - 2.125), 1e-6);
  // Of two layers, all parameters of the first one dense again.
  request.sparsity_of.push_back({"*.h.0.*", 0.0});
  const Plan half = gpt.plan(wse2(), request);
  EXPECT_NEAR(spared(half, plan::Move::Kind::WeightIn), mlp * (2 - 1.125), 1e-6);
  for (const plan::Kernel& k : half.kernels) {
    const bool in_mlp = k.name == "mlp/up" || k.name == "mlp/down";
    const bool product = k.work.weight_product.value > 0;
    EXPECT_EQ(plan::density_of(k.sparse), product && in_mlp ? 0.75 : 1) << k.name;
  }
}

TEST(Streamed, tied_and_untied_heads_are_sparse_where_they_are_named) {
  for (const char* model : {"gpt:layers=2,hidden=64,heads=4,vocab=1000,seq=32",
                            "llama:layers=2,hidden=64,heads=4,vocab=1000,seq=32"}) {
    const StreamedCompiler network = compiler_of(model, 32);
    StreamedRequest request = batch(8);
    request.sparsity_of = {{"head/vocabulary", 0.9}};
    int sparse = 0;
    const Plan plan = network.plan(wse2(), request);
    for (const plan::Kernel& k : plan.kernels) {
      if (k.name != "head/vocabulary" || k.work.weight_product.value == 0) continue;
      EXPECT_NEAR(plan::density_of(k.sparse), 0.1, 1e-12);
      ++sparse;
    }
    EXPECT_EQ(sparse, 3) << model;  // forward, and the gradients of input and weight
  }
}

TEST(Streamed, a_pattern_that_names_no_weight_is_refused_with_those_that_there_are) {
  const StreamedCompiler bert = compiler_of("bert-tiny", 128);
  StreamedRequest request = batch(8);
  request.sparsity_of = {{"mpl/*", 0.5}};
  try {
    bert.skeleton(wse2(), request);
    FAIL();
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("--sparsity-of mpl/*"), std::string::npos) << text;
    EXPECT_NE(text.find("layer/mlp/up"), std::string::npos) << text;
  }
}

TEST(Streamed, a_forward_graph_makes_an_inference_plan) {
  const Plan plan = compiler_of("bert-base", 128, false).plan(wse2(), batch(64));
  EXPECT_FALSE(plan.training);
  EXPECT_EQ(moved(plan, plan::Move::Kind::GradientOut), 0);
  EXPECT_TRUE(plan::problems_of(plan).empty());
}

TEST(Streamed, recompute_can_be_asked_for) {
  const StreamedCompiler bert = compiler_of("bert-large", 128);
  const auto kept = [&](Recompute recompute) {
    StreamedRequest request = batch(128);
    request.recompute = recompute;
    return estimate::streamed(bert.plan(wse2(), request), wse2()).memory.activations.value;
  };
  EXPECT_GT(kept(Recompute::None), kept(Recompute::Selective));
  EXPECT_GT(kept(Recompute::Selective), kept(Recompute::Full));
  // The input of each of 24 layers in 16 bit, and what the embedding leaves them.
  EXPECT_NEAR(kept(Recompute::Full) / (128.0 * 128 * 1024 * 2 * 24), 1, 0.05);
}

TEST(Streamed, refuses_what_contradicts_itself) {
  const StreamedCompiler bert = compiler_of("bert-tiny", 128);
  for (const StreamedRequest& request :
       {StreamedRequest{.batch = 0}, StreamedRequest{.systems = 0, .batch = 1},
        StreamedRequest{.systems = 4, .batch = 2}, StreamedRequest{.batch = 1, .sparsity = 1},
        StreamedRequest{.batch = 1, .sparsity = -0.5}}) {
    EXPECT_THROW(bert.skeleton(wse2(), request), InputError);
  }
}

TEST(Streamed, says_what_does_not_fit) {
  machine::Wafer small = wse2();
  small.store.node_bytes.value = Bytes(1e9);
  small.store.nodes.value = 1;
  EXPECT_THROW(compiler_of("bert-large", 128).skeleton(small, batch(8)), CapacityError);
  machine::Wafer tiny = wse2();
  tiny.usable.width.value = 1;
  tiny.usable.height.value = 1;
  EXPECT_THROW(compiler_of("bert-large", 128).skeleton(tiny, batch(8)), CapacityError);
}

TEST(Streamed, a_fixed_batch_runs_in_multiples_of_itself) {
  const ir::Graph graph =
      ir::bind(models::build("bert-tiny", {.train = false}), {{std::string(ir::BatchSymbol), 4}});
  const StreamedCompiler fixed(graph, 128, DType::F16);
  EXPECT_EQ(fixed.plan(wse2(), batch(12)).micro_batches, 3);
  EXPECT_THROW(fixed.plan(wse2(), batch(13)), InputError);
}

TEST(Streamed, refuses_a_graph_without_parameters_or_with_unbound_dimensions) {
  ir::Graph graph;
  graph.main = graph.add_function("main");
  ir::Builder b(graph, graph.main);
  const ir::ValueId x = b.input("x", {DType::F16, {Dim::symbol("batch"), Dim(4)}});
  b.output("y", b.add(x, x));
  EXPECT_THROW(StreamedCompiler(graph, 1, DType::F16), InputError);
  ir::Graph unbound = graph;
  unbound.entry().values[0].type.shape[1] = Dim::symbol("seq");
  EXPECT_THROW(StreamedCompiler(unbound, 1, DType::F16), InputError);
}

}  // namespace
}  // namespace wafer::compile
