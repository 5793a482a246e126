#include "wafer/autodiff/training_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/run_op.h"
#include "wafer/base/error.h"
#include "wafer/ir/text.h"
#include "wafer/ir/verify.h"
#include "wafer/reference/interpreter.h"

namespace wafer::autodiff {
namespace {

using ir::Builder;
using ir::Graph;
using ir::OpKind;
using ir::ValueId;
using reference::Tensor;
using Floats = std::vector<double>;

/// Runs training steps: inputs by name; what an input donates its memory to is its next value.
class Trainer {
 public:
  Trainer(Graph graph, std::map<std::string, Tensor> values, reference::Options options = {})
      : graph_(std::move(graph)), values_(std::move(values)), options_(options) {
    ir::verify(graph_);
    for (const ir::Input& input : graph_.entry().inputs) {
      const TensorType& type = graph_.entry().type_of(input.value);
      values_.try_emplace(input.name, reference::zeros(type));
    }
  }

  void set(const std::string& name, const Tensor& value) { values_[name] = value; }
  const Floats& floats(const std::string& name) const { return values_.at(name).floats; }

  /// One step; the loss.
  double step() {
    std::vector<Tensor> inputs;
    for (const ir::Input& input : graph_.entry().inputs) inputs.push_back(values_.at(input.name));
    const auto outputs = reference::evaluate(graph_, inputs, options_);
    for (const ir::Input& input : graph_.entry().inputs) {
      if (input.donated_output >= 0) {
        values_[input.name] = outputs[static_cast<size_t>(input.donated_output)];
      }
    }
    return outputs[0].floats[0];
  }

 private:
  Graph graph_;
  std::map<std::string, Tensor> values_;
  reference::Options options_;
};

/// The loss whose gradient by p is g: sum(p g).
Graph linear_loss(const std::string& dtype) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  ValueId loss = b.scalar(0, dtype_named(dtype).value());
  for (const char* shape : {"[3]", "[1,2]"}) {
    const std::string name = shape[1] == '3' ? "p" : "q";
    const ValueId p = b.parameter(name, type_named(dtype + shape));
    const ValueId g = b.input("g" + name, type_named(dtype + shape));
    ir::Ints dims = {0};
    if (shape[1] == '1') dims.push_back(1);
    loss = b.add(loss, b.reduce_sum(b.multiply(p, g), dims));
  }
  b.output("loss", loss);
  return graph;
}

void expect_near(const Floats& found, const Floats& expected, double tolerance = 1e-13) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

/// Three steps of p = [0.5, -1.25, 2] with gradients t [0.1, -0.2, 0.3] and q = [0.75, 0.75] with
/// t [-0.4, -0.4], t = 1, 2, 3, at a learning rate of 0.125.
Trainer three_steps(const TrainingOptions& options) {
  Trainer trainer(training_step(linear_loss("f64"), options),
                  {{"p", tensor("f64[3]", {0.5, -1.25, 2})},
                   {"q", tensor("f64[1,2]", {0.75, 0.75})},
                   {"learning_rate", tensor("f32[]", {0.125})}});
  for (int t = 1; t <= 3; ++t) {
    trainer.set("gp", tensor("f64[3]", {0.1 * t, -0.2 * t, 0.3 * t}));
    trainer.set("gq", tensor("f64[1,2]", {-0.4 * t, -0.4 * t}));
    trainer.set("step", tensor("i32[]", {static_cast<double>(t)}));
    trainer.step();
  }
  return trainer;
}

const AdamW Adam = {.beta1 = 0.875, .beta2 = 0.96875, .epsilon = 1e-3, .weight_decay = 0.25};

TEST(AdamW, is_pytorchs) {
  // opt = torch.optim.AdamW([p], lr=0.125, betas=(0.875, 0.96875), eps=1e-3, weight_decay=0.25)
  // for t in 1, 2, 3: p.grad = t * g; opt.step()      then p and opt.state[p], in double
  const Trainer trainer = three_steps({.optimizer = Adam});
  expect_near(trainer.floats("p"), {0.10304688048003505, -0.7836936305182325, 1.4651483992185834});
  expect_near(trainer.floats("p.m"), {0.06894531250000001, -0.13789062500000002, 0.2068359375});
  expect_near(trainer.floats("p.v"),
              {0.004316711425781251, 0.017266845703125006, 0.03885040283203124});
  expect_near(trainer.floats("q"), {1.0352157622871878, 1.0352157622871878});
}

TEST(AdamW, leaves_vectors_undecayed_where_asked) {
  AdamW undecayed = Adam;
  undecayed.decay_vectors = false;
  const Trainer trainer = three_steps({.optimizer = undecayed});
  AdamW none = Adam;
  none.weight_decay = 0;
  const Trainer without = three_steps({.optimizer = none});
  EXPECT_EQ(trainer.floats("p"), without.floats("p"));
  expect_near(trainer.floats("q"), {1.0352157622871878, 1.0352157622871878});  // a matrix
}

TEST(Sgd, is_pytorchs) {
  // torch.optim.SGD([p], lr=0.125), the same steps
  const Trainer plain = three_steps({.optimizer = Sgd{}});
  expect_near(plain.floats("p"), {0.425, -1.1, 1.775});
  expect_near(plain.floats("q"), {1.05, 1.05});
  // torch.optim.SGD([p], lr=0.125, momentum=0.75, weight_decay=0.25)
  const Trainer moving = three_steps({.optimizer = Sgd{.momentum = 0.75, .weight_decay = 0.25}});
  expect_near(moving.floats("p"), {0.31506042480468743, -0.841661071777344, 1.36826171875});
  expect_near(moving.floats("p.momentum"), {0.7677978515625001, -1.67335205078125, 2.57890625});
  expect_near(moving.floats("q"), {1.0667007446289063, 1.0667007446289063});
}

/// logits = gelu(x w1^T + b1) w2^T, without a loss.
Graph classifier() {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  const ValueId x = b.input("x", type_named("f64[4,3]"));
  const ValueId w1 = b.parameter("w1", type_named("f64[5,3]"));
  const ValueId b1 = b.parameter("b1", type_named("f64[5]"));
  const ValueId w2 = b.parameter("w2", type_named("f64[4,5]"));
  const ValueId hidden = b.gelu(b.add(b.dot_general(x, w1, {{1}, {1}}), b1), false);
  b.output("logits", b.dot_general(hidden, w2, {{1}, {1}}));
  return graph;
}

Tensor eighths(const std::string& type, int64_t modulus, int64_t shift) {
  Tensor t = scrambled(type, modulus, shift);
  for (double& x : t.floats) x /= 8;
  return t;
}

Trainer classifier_trainer(double clip_norm) {
  return {training_step(classifier(), {.optimizer = Adam, .clip_norm = clip_norm}),
          {{"x", eighths("f64[4,3]", 13, 6)},
           {"w1", eighths("f64[5,3]", 11, 5)},
           {"b1", eighths("f64[5]", 7, 3)},
           {"w2", eighths("f64[4,5]", 17, 8)},
           {"labels", tensor("i32[4]", {1, -100, 3, 0})},
           {"learning_rate", tensor("f32[]", {0.0625})}}};
}

// The same in PyTorch 1.13, in double: loss = cross_entropy(gelu(x @ w1.T + b1) @ w2.T, labels,
// ignore_index=-100); loss.backward(); [clip_grad_norm_(.., 0.25);] AdamW as above, lr=0.0625.
TEST(TrainingStep, is_pytorchs_with_the_loss_attached) {
  Trainer trainer = classifier_trainer(0);
  trainer.set("step", tensor("i32[]", {1}));
  EXPECT_NEAR(trainer.step(), 1.422131652782715, 1e-13);
  trainer.set("step", tensor("i32[]", {2}));
  EXPECT_NEAR(trainer.step(), 1.3483752994144638, 1e-12);
  expect_near(trainer.floats("w1"),
              {-0.4894560376587193, 0.0006504307203258966, 0.48521507702361333, 0.12226526313209929,
               0.2411972178880383, 0.36181343553836665, 0.5995948303741557, -0.24032862041298006,
               -0.4897212420331167, 0.4020021449851665, 0.4811258444674565, -0.5324875714614108,
               -0.23806175535029536, 0.4928426584772133, 0.36115191850575024},
              1e-12);
  expect_near(trainer.floats("b1"),
              {-0.4835705853937253, 0.2433658216913453, 0.11668002783807122, 0.2160497276061223,
               -0.2420890741346321},
              1e-12);
  EXPECT_NEAR(trainer.floats("w2.v")[0], 1.0301510752207575e-05, 1e-16);
}

TEST(TrainingStep, clips_gradients_by_their_global_norm_as_pytorch) {
  Trainer trainer = classifier_trainer(0.25);
  trainer.set("step", tensor("i32[]", {1}));
  EXPECT_NEAR(trainer.step(), 1.422131652782715, 1e-13);
  trainer.set("step", tensor("i32[]", {2}));
  EXPECT_NEAR(trainer.step(), 1.349097715154654, 1e-12);
  expect_near(trainer.floats("b1"),
              {-0.485753355989325, 0.24136452176284365, 0.11601324622616578, 0.2129461433301752,
               -0.24423243205042028},
              1e-12);
  EXPECT_NEAR(trainer.floats("w2.v")[0], 4.953690113388526e-06, 1e-16);
}

TEST(TrainingStep, small_steps_of_narrow_parameters_add_up_in_their_master_copy) {
  // 1 - 2^-12 lies halfway between the f16 numbers 1 - 2^-11 and 1 and rounds to 1 (even); the
  // second step reaches 1 - 2^-11.
  Trainer trainer(training_step(linear_loss("f16"), {.optimizer = Sgd{}}),
                  {{"p", tensor("f16[3]", {1, 1, 1})},
                   {"p.master", tensor("f32[3]", {1, 1, 1})},
                   {"gp", tensor("f16[3]", {1, 0, 2})},
                   {"learning_rate", tensor("f32[]", {0x1p-12})}},
                  {.precision = reference::Precision::Typed});
  trainer.step();
  EXPECT_EQ(trainer.floats("p"), (Floats{1, 1, 1 - 0x1p-11}));
  EXPECT_EQ(trainer.floats("p.master"), (Floats{1 - 0x1p-12, 1, 1 - 0x1p-11}));
  trainer.step();
  EXPECT_EQ(trainer.floats("p"), (Floats{1 - 0x1p-11, 1, 1 - 0x1p-10}));
}

std::vector<std::string> names_of_inputs(const Graph& graph) {
  std::vector<std::string> names;
  for (const ir::Input& input : graph.entry().inputs) names.push_back(input.name);
  return names;
}

std::vector<std::string> names_of_outputs(const Graph& graph) {
  std::vector<std::string> names;
  for (const ir::Output& output : graph.entry().outputs) names.push_back(output.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(TrainingStep, adds_state_by_type_and_takes_memory_in_place) {
  const Graph wide = training_step(linear_loss("f32"));
  EXPECT_EQ(names_of_inputs(wide),
            (Names{"p", "gp", "q", "gq", "learning_rate", "step", "p.m", "p.v", "q.m", "q.v"}));
  EXPECT_EQ(names_of_outputs(wide), (Names{"loss", "p", "p.m", "p.v", "q", "q.m", "q.v"}));
  const Graph narrow = training_step(linear_loss("bf16"), {.optimizer = Sgd{.momentum = 0.9}});
  EXPECT_EQ(names_of_inputs(narrow), (Names{"p", "gp", "q", "gq", "learning_rate", "p.master",
                                            "p.momentum", "q.master", "q.momentum"}));
  for (const Graph& graph : {wide, narrow}) {
    for (const ir::Input& input : graph.entry().inputs) {
      const bool kept = input.role == ir::Role::Parameter || input.role == ir::Role::OptimizerState;
      EXPECT_EQ(input.donated_output >= 0, kept) << input.name;
      if (!kept) continue;
      const ir::Output& output = graph.entry().outputs[static_cast<size_t>(input.donated_output)];
      EXPECT_EQ(output.name, input.name);
      if (input.role == ir::Role::OptimizerState) {
        EXPECT_EQ(graph.entry().type_of(input.value).dtype, DType::F32);
      }
    }
  }
}

TEST(TrainingStep, has_three_phases_in_order_and_updates_carry_the_layer) {
  Graph forward = linear_loss("f32");
  for (ir::Op& op : forward.entry().ops) {
    if (op.kind != OpKind::Elementwise) continue;
    op.layer = "layer.7";
    op.scope = "mlp/up";
  }
  const Graph step = training_step(forward);
  auto phase = ir::Phase::Forward;
  int updates = 0;
  for (const ir::Op& op : step.entry().ops) {
    EXPECT_GE(op.phase, phase);
    phase = op.phase;
    if (op.kind != OpKind::Call) continue;
    EXPECT_EQ(op.layer, "layer.7");
    EXPECT_EQ(op.scope, "mlp/up");
    ++updates;
  }
  EXPECT_EQ(phase, ir::Phase::Optimizer);
  EXPECT_EQ(updates, 2);
}

TEST(TrainingStep, updates_of_one_type_are_one_function) {
  Graph graph;
  graph.main = graph.add_function("main");
  Builder b(graph, graph.main);
  ValueId x = b.input("x", type_named("f16[batch,8]"));
  for (int i = 0; i < 5; ++i) {
    x = b.matmul(x, b.parameter("w" + std::to_string(i), type_named("f16[8,8]")));
    x = b.add(x, b.parameter("b" + std::to_string(i), type_named("f16[8]")));
  }
  b.output("loss", b.reduce_sum(b.convert(x, DType::F32), {0, 1}));
  std::vector<std::string> functions;
  const Graph step = training_step(graph);
  for (const ir::Function& f : step.functions) functions.push_back(f.name);
  EXPECT_EQ(functions, (Names{"main", "adamw.f16.8x8", "adamw.f16.8"}));
}

TEST(TrainingStep, leaves_frozen_and_unused_parameters_alone) {
  Graph graph = linear_loss("f32");
  graph.entry().inputs[0].frozen = true;
  Builder(graph, graph.main).parameter("unused", type_named("f32[5]"));
  const Graph step = training_step(graph);
  EXPECT_EQ(names_of_outputs(step), (Names{"loss", "q", "q.m", "q.v"}));
}

TEST(TrainingStep, keeps_outputs_that_inputs_donate_to) {
  Graph graph = linear_loss("f32");
  Builder b(graph, graph.main);
  const ValueId mean = b.input("running_mean", type_named("f32[3]"), ir::Role::OptimizerState);
  b.output("logits", mean);
  b.output("running_mean", b.multiply(mean, 0.5));
  graph.entry().inputs.back().donated_output = 2;
  const Graph step = training_step(graph);
  ir::verify(step);
  EXPECT_EQ(names_of_outputs(step),
            (Names{"loss", "running_mean", "p", "p.m", "p.v", "q", "q.m", "q.v"}));
}

TEST(TrainingStep, with_symbolic_batch_is_bound_later) {
  const auto network = [](const std::string& batch) {
    Graph graph;
    graph.main = graph.add_function("main");
    Builder b(graph, graph.main);
    const ValueId x = b.input("x", type_named("f32[" + batch + ",4,8]"));
    const ValueId w = b.parameter("w", type_named("f32[8,16]"));
    b.output("logits", b.matmul(x, w));
    return graph;
  };
  const Graph later = ir::bind(training_step(network("batch")), {{"batch", 3}});
  EXPECT_EQ(ir::print_text(later), ir::print_text(training_step(network("3"))));
}

std::string refusal(const Graph& graph, const TrainingOptions& options = {}) {
  try {
    training_step(graph, options);
  } catch (const InputError& e) {
    return e.what();
  }
  return "not refused";
}

void expect_says(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(TrainingStep, refuses_graphs_that_cannot_be_trained) {
  Graph frozen = linear_loss("f32");
  for (ir::Input& input : frozen.entry().inputs) input.frozen = true;
  expect_says(refusal(frozen), "nothing to train");

  Graph no_loss = classifier();
  no_loss.entry().outputs.clear();
  expect_says(refusal(no_loss), "neither a float scalar \"loss\"");

  Graph labelled = classifier();
  labelled.entry().inputs[0].name = "labels";
  expect_says(refusal(labelled), "name the output that is its loss");

  Graph named = linear_loss("f32");
  named.entry().inputs[1].name = "learning_rate";
  expect_says(refusal(named), "input \"learning_rate\"");
}

TEST(TrainingStep, refuses_absurd_options_all_at_once) {
  const std::string text =
      refusal(linear_loss("f32"),
              {.optimizer = AdamW{.beta1 = 1, .epsilon = -1}, .clip_norm = std::nan("")});
  expect_says(text, "beta1");
  expect_says(text, "epsilon");
  expect_says(text, "clip_norm");
}

}  // namespace
}  // namespace wafer::autodiff
