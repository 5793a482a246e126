#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "wafer/ir/graph.h"

namespace wafer::autodiff {

/// Adam with decoupled weight decay. **Source:** Loshchilov and Hutter, arXiv:1711.05101,
/// algorithm 2; decay is multiplied by the learning rate, as in PyTorch's AdamW, whose defaults
/// these are.
struct AdamW {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  bool decay_vectors = true;  ///< false: none for parameters of rank 0 and 1 (biases, norms)
};

/// Stochastic gradient descent as in PyTorch: g += weight_decay p; b = momentum b + g; p -= lr b.
struct Sgd {
  double momentum = 0;
  double weight_decay = 0;
};

struct TrainingOptions {
  std::variant<AdamW, Sgd> optimizer = AdamW{};
  /// The output that is the loss, if there is a float scalar of that name. Otherwise a cross
  /// entropy over the last dimension of the first float output, with a Data input "labels" (i32).
  std::string loss = "loss";
  int64_t ignore_index = -100;  ///< the label of positions that do not count (attached loss)
  double clip_norm = 0;         ///< largest global gradient norm; 0: not clipped
};

/// One optimizer step as one graph with phases: forward, gradients, updates.
///
/// Inputs: those of `forward`; "labels" where the loss is attached; "learning_rate" f32[] and, for
/// AdamW, "step" i32[] (1 in the first step) as Data; then for each trained parameter P its
/// OptimizerState: "P.master" (f32 copy of a parameter narrower than 32 bits), "P.m" and "P.v"
/// (AdamW) or "P.momentum" (Sgd with momentum), f32 (f64 for f64 parameters).
/// Outputs: the loss; outputs of `forward` that an input donates its memory to; then for each
/// trained parameter the new value, named as the input and donated its memory, and likewise its
/// state.
///
/// Trained are the float parameters that are not frozen and that the loss depends on. Gradients
/// have the parameter's type; updates are computed in f32 (f64 for f64). The update is a function
/// shared by parameters of one type, called in Phase::Optimizer with the layer and scope of the
/// parameter's first use. Throws InputError as differentiate() does.
ir::Graph training_step(const ir::Graph& forward, const TrainingOptions& options = {});

}  // namespace wafer::autodiff
