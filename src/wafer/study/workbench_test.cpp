#include "wafer/study/workbench.h"

#include <gtest/gtest.h>

#include "wafer/base/error.h"

namespace wafer::study {
namespace {

TEST(Answer, has_the_models_own_sequence_and_our_batch_by_default) {
  const Result r = answer({.model = "gpt2"});
  EXPECT_EQ(r.seq_len, 1024);
  EXPECT_EQ(r.question.batch, 1024);
  EXPECT_EQ(r.machine, "wse2");
  EXPECT_EQ(r.mode, Mode::Streamed);
  EXPECT_EQ(r.parameters, 124439808);  // as published
}

TEST(Answer, divides_epochs_and_tokens_by_rates) {
  const Result r = answer({.model = "bert-base", .epoch_samples = 67350.0, .tokens = 1e9});
  EXPECT_NEAR(r.epoch->value * r.answer.samples_per_second, 67350, 1e-6);
  EXPECT_NEAR(r.train->value * r.answer.samples_per_second * 128, 1e9, 1e-3);
  const Result without = answer({.model = "bert-base"});
  EXPECT_FALSE(without.epoch || without.train);
}

TEST(Answer, counts_model_flops_as_6N_and_attention) {
  // GPT-2 on 1024 tokens: weights in products, 12 layers x 12 x 768^2 and the head 50257 x 768, are
  // 123,532,032; 6 of them a token. Scores and their sum: 12 layers x 2 products x 2 x 1024 x 768,
  // three times. (6 x 123532032 + 12 x 3 x 4 x 1024 x 768) x 1024 tokens = 8.7494e11 a sample.
  const Result r = answer({.model = "gpt2", .batch = 8});
  EXPECT_NEAR(r.answer.model_flops_per_step.value / 8, 8.7494e11, 0.0001e11);
}

TEST(Answer, is_faster_on_more_systems_and_with_sparse_weights) {
  const double one = answer({.model = "gpt3-1.3b"}).answer.samples_per_second;
  EXPECT_GT(answer({.model = "gpt3-1.3b", .systems = 4}).answer.samples_per_second, 3 * one);
  const Result sparse = answer({.model = "gpt3-1.3b", .sparsity = 0.75});
  EXPECT_GT(sparse.answer.samples_per_second, 1.5 * one);
}

TEST(Answer, tells_what_zeros_gain_and_from_which_density_on) {
  const Question dense{.model = "gpt3-1.3b", .batch = 512};
  Question q = dense;
  EXPECT_FALSE(answer(q).sparse);
  q.sparsity = 0.75;
  const Result r = answer(q);
  ASSERT_TRUE(r.sparse && r.sparse->step_break_even && r.sparse->most_speed_up);
  const Seconds step = answer(dense).answer.step;
  EXPECT_EQ(r.sparse->dense_step, step);
  EXPECT_DOUBLE_EQ(r.sparse->speed_up, step / r.answer.step);
  EXPECT_GT(r.sparse->speed_up, 1.5);
  EXPECT_LT(r.sparse->speed_up, *r.sparse->most_speed_up);
  EXPECT_LT(r.sparse->energy_ratio, 1);
  // On both sides of the break-even, asked as questions of their own.
  const double density = *r.sparse->step_break_even;
  q.sparsity = 1 - (density - 0.001);
  EXPECT_LT(answer(q).answer.step, step);
  q.sparsity = 1 - (density + 0.001);
  EXPECT_GE(answer(q).answer.step.value, step.value * (1 - 1e-9));
  // A value of 16 bit with its 16-bit place, a gradient of 32.
  EXPECT_DOUBLE_EQ(r.sparse->weight_break_even, 0.5);
  EXPECT_DOUBLE_EQ(r.sparse->gradient_break_even, 2.0 / 3);
}

TEST(Answer, spreads_energy_and_density_over_layers) {
  const Result r = answer({.model = "gpt3-1.3b", .batch = 512, .sparsity_of = {{"mlp/*", 0.75}}});
  Joules layers;
  for (const estimate::LayerCost& l : r.answer.layers) {
    layers += l.energy;
    // 8 of the 12 d^2 weights of a layer are in its MLP.
    if (l.weight_flops.value == 0) continue;
    EXPECT_NEAR(l.zero_flops / l.weight_flops, l.name == "layer" ? 0.75 * 8 / 12 : 0, 1e-9);
  }
  // What is left is idle power while the next step begins.
  EXPECT_LT(layers, r.answer.energy_per_step);
  EXPECT_GT(layers.value, 0.99 * r.answer.energy_per_step.value);
  EXPECT_FALSE(r.sparse->step_break_even);
}

TEST(Answer, takes_a_pinned_micro_batch_and_recompute) {
  const Result r =
      answer({.model = "bert-base", .micro_batch = 64, .recompute = plan::Recompute::Full});
  EXPECT_EQ(r.micro_batch, 64);
  EXPECT_EQ(r.micro_batches, 16);
  EXPECT_EQ(r.recompute, plan::Recompute::Full);
}

TEST(Answer, expects_an_error_in_training_on_wse2_and_none_is_known_on_wse3) {
  const Result wse2 = answer({.model = "bert-large", .batch = 2048, .seq = 128});
  ASSERT_TRUE(wse2.expected_error);
  EXPECT_LT(*wse2.expected_error, 0.15);
  EXPECT_TRUE(wse2.extrapolated.empty());
  const Result wse3 = answer({.model = "bert-large", .machine = "wse3", .batch = 2048});
  EXPECT_FALSE(wse3.expected_error);
  EXPECT_FALSE(wse3.extrapolated.empty());
}

// Zhang et al., arXiv:2409.00287, Fig. 6: 0.285 to 0.334 s from 1 to 512 samples of BERT-large.
TEST(Answer, states_the_latency_of_the_host_in_inference_as_measured_or_as_asked) {
  Question q{.model = "bert-large", .phase = Phase::Infer, .batch = 4, .seq = 128};
  const Result measured = answer(q);
  ASSERT_TRUE(measured.answer.host_latency);
  EXPECT_GT(measured.answer.host_latency->value, 0.285);
  EXPECT_LT(measured.answer.host_latency->value, 0.334);
  q.host_latency = 0.01;
  const Result asked = answer(q);
  EXPECT_EQ(asked.answer.host_latency, Seconds(0.01));
  EXPECT_EQ(asked.answer.step, measured.answer.step);
  EXPECT_FALSE(answer({.model = "bert-large"}).answer.host_latency);
}

TEST(Answer, says_in_what_it_extrapolates) {
  const Result wide = answer({.model = "gpt3-20b", .batch = 128});
  const auto& reasons = wide.extrapolated;
  EXPECT_NE(std::find_if(reasons.begin(), reasons.end(),
                         [](const std::string& r) { return r.find("hidden width 6144") == 0; }),
            reasons.end());
  const Result images = answer({.model = "resnet50", .batch = 256});
  EXPECT_NE(std::find(images.extrapolated.begin(), images.extrapolated.end(),
                      "kernel batch_norm: no measured network has it"),
            images.extrapolated.end());
}

// Korthikanti et al., arXiv:2205.05198, table 5: 530B on 280 A100, selective recompute and sequence
// parallelism, takes 37.83 s a step.
TEST(Answer, meets_a_measured_step_of_a_cluster) {
  const Result r = answer({.model = "gpt:layers=105,hidden=20480,heads=128,vocab=51200",
                           .machine = "a100-80gb",
                           .batch = 280,
                           .seq = 2048,
                           .precision = Precision::Bf16,
                           .systems = 280,
                           .micro_batch = 1,
                           .recompute = plan::Recompute::Selective,
                           .cluster = {.tensor = 8,
                                       .pipeline = 35,
                                       .data = 1,
                                       .interleaving = 3,
                                       .sequence = true,
                                       .sharding = plan::Sharding::None,
                                       .fused = false}});
  EXPECT_NEAR(r.answer.step.value, 37.83, 0.05 * 37.83);
}

// Full recompute runs the forward layers again: Megatron-LM counts 96 B S L h^2 (1 + S/6h +
// V/16Lh).
TEST(Answer, counts_hardware_flops_as_megatron_does) {
  const double b = 1024, s = 2048, l = 40, h = 6144, v = 51200;
  const Result r = answer({.model = "gpt:layers=40,hidden=6144,heads=48,vocab=51200",
                           .machine = "a100-80gb",
                           .batch = 1024,
                           .seq = 2048,
                           .systems = 256,
                           .recompute = plan::Recompute::Full,
                           .cluster = {.tensor = 8, .pipeline = 1}});
  const double flops = 96 * b * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
  EXPECT_NEAR(r.answer.cluster->hardware_flops_per_gpu.value, flops / 256 / r.answer.step.value,
              1e-3 * flops / 256 / r.answer.step.value);
}

TEST(Answer, is_refused_for_what_is_wrong_and_for_what_does_not_fit) {
  EXPECT_THROW(answer({.model = "bert-hug"}), InputError);
  EXPECT_THROW(answer({.model = "gpt2", .machine = "wse9"}), InputError);
  EXPECT_THROW(answer({.model = "gpt2", .machine = "a100-80gb", .sparsity = 0.5}), InputError);
  EXPECT_THROW(answer({.model = "gpt2", .cluster = {.tensor = 2}}), InputError);
  EXPECT_THROW(answer({.model = "gpt3-175b", .machine = "a100-80gb"}), CapacityError);
  EXPECT_THROW(answer({.model = "gpt2", .batch = 0}), InputError);
  EXPECT_THROW(answer({.model = "gpt2", .seq = 4096}), InputError);  // 1024 learned positions
  EXPECT_THROW(answer({.model = "gpt:layers=500,hidden=65536,heads=64,vocab=50257"}),
               CapacityError);
}

TEST(Workbench, gives_the_same_answer_to_the_same_question_again) {
  Workbench bench;
  const Question q{.model = "gpt2", .batch = 96};
  const double first = bench.answer(q).answer.step.value;
  bench.answer({.model = "bert-tiny"});
  EXPECT_EQ(bench.answer(q).answer.step.value, first);
  EXPECT_EQ(answer(q).answer.step.value, first);
}

TEST(Workbench, keeps_networks_apart_by_all_that_makes_them_different) {
  Workbench bench;
  const double train = bench.answer({.model = "gpt2"}).answer.step.value;
  EXPECT_LT(bench.answer({.model = "gpt2", .phase = Phase::Infer}).answer.step.value, train);
  EXPECT_LT(bench.answer({.model = "gpt2", .seq = 512}).answer.step.value, train);
  EXPECT_GT(bench.answer({.model = "gpt2", .precision = Precision::F32}).answer.step.value, train);
}

TEST(Workbench, prices_all_16_bit_floats_alike) {
  Workbench bench;
  const double any = bench.answer({.model = "gpt2"}).answer.step.value;
  for (const Precision p : {Precision::F16, Precision::Bf16, Precision::Cb16}) {
    EXPECT_EQ(bench.answer({.model = "gpt2", .precision = p}).answer.step.value, any);
  }
}

TEST(Workbench, plans_what_it_answers) {
  Workbench bench;
  const Question q{.model = "bert-base", .batch = 512};
  const plan::Plan plan = bench.plan(q);
  const Result r = bench.answer(q);
  EXPECT_EQ(plan.micro_batch, r.micro_batch);
  EXPECT_TRUE(plan::problems_of(plan).empty());
}

}  // namespace
}  // namespace wafer::study
